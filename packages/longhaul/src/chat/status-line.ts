import type { Agent } from "@longhaul/agent";
import type { Colors } from "../terminal.ts";
import { gauge } from "../view/bar.ts";
import { formatDollars, formatPercent, formatShort, plural } from "../view/numbers.ts";
import { fitText, textWidth } from "../view/text-width.ts";
import { stateColor } from "../view/window-gauge.ts";

export interface Status extends Pick<Agent, "reading" | "isPlanMode" | "permissionMode"> {
  readonly model: string;
  /** Cost of the chat so far. Undefined if prices are unknown. */
  readonly dollars: number | undefined;
  /** Number of waiting prompts. */
  readonly queued: number;
  /** Number of background agents. */
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
  readonly color?: (text: string) => string;
  /** Parts with the lowest rank are omitted first if there is no room. */
  readonly rank: number;
}

/**
 * Shows one line with the fill level of the window and other current facts. Omits the least important parts
 * that do not fit.
 */
export function statusLine(status: Status, width: number, colors: Colors): string {
  let parts = partsOf(status, colors);
  while (parts.length > 1 && lineWidth(parts) > width) {
    const least = Math.min(...parts.map(({ rank }) => rank));
    parts = parts.filter(({ rank }) => rank !== least);
  }
  return parts
    .map(({ text, color }) => (color ?? colors.dim)(fitText(text, width)))
    .join(colors.dim(BETWEEN));
}

const lineWidth = (parts: readonly Part[]): number =>
  parts.reduce((sum, { text }) => sum + textWidth(text), (parts.length - 1) * BETWEEN.length);

function partsOf(status: Status, colors: Colors): readonly Part[] {
  const { tokens, thresholds } = status.reading;
  const limit = thresholds.autoCompactEnabled ? thresholds.autoCompact : thresholds.effective;
  const share = limit === 0 ? 0 : tokens / limit;
  const color = stateColor(status.reading.window, colors);
  const all: readonly (Part | false)[] = [
    { text: `${gauge(share, GAUGE_WIDTH)} ${formatPercent(share)}`, color, rank: 7 },
    { text: `${formatShort(tokens)} of ${formatShort(limit)}`, rank: 3 },
    { text: status.model, rank: 1 },
    status.dollars !== undefined && { text: formatDollars(status.dollars), rank: 2 },
    status.permissionMode !== "default" && { text: status.permissionMode, color: colors.yellow, rank: 6 },
    status.isPlanMode && { text: "plan mode", color: colors.cyan, rank: 6 },
    status.queued > 0 && { text: `${status.queued} queued`, color: colors.cyan, rank: 5 },
    status.agents > 0 && { text: plural(status.agents, "agent"), color: colors.cyan, rank: 4 },
  ];
  return all.filter((part) => part !== false);
}
