import type { HeadroomOwner, Thresholds, WindowState } from "@longhaul/core/measure";
import type { Colours, Terminal } from "../terminal.ts";
import { type ReportWindow, windowWords } from "../window-report.ts";
import { gauge, scale } from "./bar.ts";
import { formatCount, formatPercent, formatShort } from "./numbers.ts";
import { foldText } from "./text-width.ts";

interface GaugeInput {
  readonly tokens: number;
  readonly window: ReportWindow & Pick<Thresholds, "headroomBy">;
  readonly state: WindowState;
}

const INDENT = "  ";
/** For the numbers behind the bar, and for labels that belong under its end. */
const LABEL_ROOM = 14;

/** The window as a bar with its thresholds under it, coloured by how near the end is. */
export function windowGauge(input: GaugeInput, terminal: Terminal): string {
  const { tokens, window, state } = input;
  const width = terminal.width - LABEL_ROOM - INDENT.length;
  const colour = stateColour(state, terminal.colours);
  const marks = [
    { share: window.warning / window.size, label: "┴warn" },
    ...(window.autoCompact === null ? [] : [{ share: window.autoCompact / window.size, label: "┴auto" }]),
    { share: window.blocking / window.size, label: "┴stop" },
  ];
  const used = `${formatPercent(tokens / window.size)} of ${formatShort(window.size)}`;
  return [
    `${INDENT}${colour(gauge(tokens / window.size, width))} ${used}`,
    `${INDENT}${terminal.colours.dim(scale(marks, width, LABEL_ROOM))}`,
    foldText(`${INDENT}${stateSentence(input)}`, terminal.width, INDENT),
    terminal.colours.dim(foldText(`${INDENT}A ${windowWords(window)}.`, terminal.width, INDENT)),
  ].join("\n");
}

/** Red is for what will be compacted with the next call, or cannot be sent any more. */
export function stateColour(state: WindowState, colours: Colours): (text: string) => string {
  if (state.isAtBlockingLimit || state.isAboveAutoCompactThreshold) return colours.red;
  return state.isAboveWarningThreshold ? colours.yellow : colours.green;
}

function stateSentence({ tokens, window, state }: GaugeInput): string {
  const { autoCompact, effective, headroomBy } = window;
  if (state.isAtBlockingLimit) {
    return headroomBy === "nobody"
      ? `At the limit: no further call fits. ${HEADROOM.nobody}`
      : "At the limit: no further call fits, only a compaction is left.";
  }
  const isOver = autoCompact !== null && state.isAboveAutoCompactThreshold;
  if (isOver) return `Over the auto-compact threshold of ${formatCount(autoCompact)}: it is time to compact.`;
  const end = autoCompact ?? effective;
  const left = `${state.percentLeft}% left: ${formatCount(Math.max(0, end - tokens))} tokens until`;
  return headroomBy === "auto-compact"
    ? `${left} auto-compact at ${formatCount(end)}.`
    : `${left} the window is full at ${formatCount(end)}. ${HEADROOM[headroomBy]}`;
}

/** The mechanism that keeps headroom when auto-compact does not, in words. */
const HEADROOM: Readonly<Record<Exclude<HeadroomOwner, "auto-compact">, string>> = {
  collapse: "Context collapse makes room before that.",
  overflow: "In reactive-only mode, nothing is compacted before a call fails.",
  manual: "Automatic compaction is switched off (DISABLE_AUTO_COMPACT or autoCompactEnabled).",
  nobody: "Compaction is switched off (DISABLE_COMPACT or compactEnabled).",
};
