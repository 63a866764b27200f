import type { WindowState } from "../../window/thresholds.ts";
import type { Colours, Terminal } from "../terminal.ts";
import { gauge, scale } from "./bar.ts";
import { formatCount, formatPercent, formatShort } from "./numbers.ts";
import { foldText } from "./text-width.ts";

export interface GaugeInput {
  readonly tokens: number;
  readonly window: {
    readonly size: number;
    readonly warning: number;
    readonly autoCompact: number;
    readonly blocking: number;
  };
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
    { share: window.autoCompact / window.size, label: "┴auto" },
    { share: window.blocking / window.size, label: "┴stop" },
  ];
  const used = `${formatPercent(tokens / window.size)} of ${formatShort(window.size)}`;
  return [
    `${INDENT}${colour(gauge(tokens / window.size, width))} ${used}`,
    `${INDENT}${terminal.colours.dim(scale(marks, width, LABEL_ROOM))}`,
    foldText(`${INDENT}${stateSentence(input)}`, terminal.width, INDENT),
  ].join("\n");
}

function stateColour(state: WindowState, colours: Colours): (text: string) => string {
  if (state.isAtBlockingLimit || state.isAboveAutoCompactThreshold) return colours.red;
  return state.isAboveWarningThreshold ? colours.yellow : colours.green;
}

function stateSentence({ tokens, window, state }: GaugeInput): string {
  if (state.isAtBlockingLimit) return "At the limit: no further call fits, only a compaction is left.";
  if (state.isAboveAutoCompactThreshold) {
    return `Over the auto-compact threshold of ${formatCount(window.autoCompact)}: it is time to compact.`;
  }
  const left = Math.max(0, window.autoCompact - tokens);
  return `${state.percentLeft}% left: ${formatCount(left)} tokens until auto-compact at ${formatCount(window.autoCompact)}.`;
}
