import type { Agent } from "@longhaul/agent";
import type { Colours } from "../terminal.ts";
import { gauge } from "../view/bar.ts";
import { formatDollars, formatPercent, formatShort, plural } from "../view/numbers.ts";
import { fitText, textWidth } from "../view/text-width.ts";
import { stateColour } from "../view/window-gauge.ts";

export interface Status extends Pick<Agent, "reading" | "isPlanMode" | "permissionMode"> {
  readonly model: string;
  /** Undefined where prices are not known. */
  readonly dollars: number | undefined;
  /** Prompts that wait. */
  readonly queued: number;
  /** In the background. */
  readonly agents: number;
}

export const statusOf = (agent: Agent, dollars: number | undefined, queued: number): Status => ({
  reading: agent.reading,
  model: agent.model.name,
  dollars,
  isPlanMode: agent.isPlanMode,
  permissionMode: agent.permissionMode,
  queued,
  agents: agent.agents.list().filter(({ status }) => status === "running").length,
});

const GAUGE_WIDTH = 10;
const BETWEEN = " · ";

interface Part {
  readonly text: string;
  readonly colour?: (text: string) => string;
  /** The highest stay longest where there is no room for all. */
  readonly rank: number;
}

/** How full the window is, and what else matters now, in one line; what does not fit is left out, the least first. */
export function statusLine(status: Status, width: number, colours: Colours): string {
  let parts = partsOf(status, colours);
  while (parts.length > 1 && lineWidth(parts) > width) {
    const least = Math.min(...parts.map(({ rank }) => rank));
    parts = parts.filter(({ rank }) => rank !== least);
  }
  return parts
    .map(({ text, colour }) => (colour ?? colours.dim)(fitText(text, width)))
    .join(colours.dim(BETWEEN));
}

const lineWidth = (parts: readonly Part[]): number =>
  parts.reduce((sum, { text }) => sum + textWidth(text), (parts.length - 1) * BETWEEN.length);

function partsOf(status: Status, colours: Colours): readonly Part[] {
  const { tokens, thresholds } = status.reading;
  const limit = thresholds.autoCompactEnabled ? thresholds.autoCompact : thresholds.effective;
  const share = limit === 0 ? 0 : tokens / limit;
  const colour = stateColour(status.reading.window, colours);
  const all: readonly (Part | false)[] = [
    { text: `${gauge(share, GAUGE_WIDTH)} ${formatPercent(share)}`, colour, rank: 7 },
    { text: `${formatShort(tokens)} of ${formatShort(limit)}`, rank: 3 },
    { text: status.model, rank: 1 },
    status.dollars !== undefined && { text: formatDollars(status.dollars), rank: 2 },
    status.permissionMode !== "default" && { text: status.permissionMode, colour: colours.yellow, rank: 6 },
    status.isPlanMode && { text: "plan mode", colour: colours.cyan, rank: 6 },
    status.queued > 0 && { text: `${status.queued} queued`, colour: colours.cyan, rank: 5 },
    status.agents > 0 && { text: plural(status.agents, "agent"), colour: colours.cyan, rank: 4 },
  ];
  return all.filter((part) => part !== false);
}
