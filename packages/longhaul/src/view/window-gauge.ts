import type { HeadroomOwner, Thresholds, WindowState } from "@longhaul/core/measure";
import type { Colors, Terminal } from "../terminal.ts";
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
/** Room for the numbers after the bar, and for labels under the end of the bar. */
const LABEL_ROOM = 14;

/** Draws the window as a bar and its thresholds below the bar. The color depends on the fill level. */
export function windowGauge(input: GaugeInput, terminal: Terminal): string {
  const { tokens, window, state } = input;
  const width = terminal.width - LABEL_ROOM - INDENT.length;
  const color = stateColor(state, terminal.colors);
  const marks = [
    { share: window.warning / window.size, label: "┴warn" },
    ...(window.autoCompact === null ? [] : [{ share: window.autoCompact / window.size, label: "┴auto" }]),
    { share: window.blocking / window.size, label: "┴stop" },
  ];
  const used = `${formatPercent(tokens / window.size)} of ${formatShort(window.size)}`;
  return [
    `${INDENT}${color(gauge(tokens / window.size, width))} ${used}`,
    `${INDENT}${terminal.colors.dim(scale(marks, width, LABEL_ROOM))}`,
    foldText(`${INDENT}${stateSentence(input)}`, terminal.width, INDENT),
    terminal.colors.dim(foldText(`${INDENT}A ${windowWords(window)}.`, terminal.width, INDENT)),
  ].join("\n");
}

/** Red means that the next call compacts, or that nothing more can be sent. */
export function stateColor(state: WindowState, colors: Colors): (text: string) => string {
  if (state.isAtBlockingLimit || state.isAboveAutoCompactThreshold) return colors.red;
  return state.isAboveWarningThreshold ? colors.yellow : colors.green;
}

function stateSentence({ tokens, window, state }: GaugeInput): string {
  const { autoCompact, effective, headroomBy } = window;
  if (state.isAtBlockingLimit) {
    return headroomBy === "nobody"
      ? `At the limit: no further call fits. ${HEADROOM.nobody}`
      : "At the limit: no further call fits. Compact the session.";
  }
  const isOver = autoCompact !== null && state.isAboveAutoCompactThreshold;
  if (isOver) return `Over the auto-compact threshold of ${formatCount(autoCompact)}. Compact the session.`;
  const end = autoCompact ?? effective;
  const left = `${state.percentLeft}% left: ${formatCount(Math.max(0, end - tokens))} tokens until`;
  return headroomBy === "auto-compact"
    ? `${left} auto-compact at ${formatCount(end)}.`
    : `${left} the window is full at ${formatCount(end)}. ${HEADROOM[headroomBy]}`;
}

/** Names of the mechanisms that keep headroom instead of auto-compact. */
const HEADROOM: Readonly<Record<Exclude<HeadroomOwner, "auto-compact">, string>> = {
  collapse: "Context collapse makes room before that.",
  overflow: "In reactive-only mode, nothing is compacted before a call fails.",
  manual: "Auto-compact is off (DISABLE_AUTO_COMPACT or autoCompactEnabled).",
  nobody: "Compaction is off (DISABLE_COMPACT or compactEnabled).",
};
