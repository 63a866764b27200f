import type { Thresholds } from "../window/thresholds.ts";

/** The window and its thresholds as `--json` prints them. */
export interface ReportWindow
  extends Pick<Thresholds, "size" | "origin" | "effective" | "warning" | "blocking"> {
  /** Null: nothing is compacted at this size, because a switch or a mode forbids it. */
  readonly autoCompact: number | null;
}

export function reportWindow(thresholds: Thresholds): ReportWindow {
  const { size, origin, effective, autoCompact, autoCompactEnabled, warning, blocking } = thresholds;
  return { size, origin, effective, autoCompact: autoCompactEnabled ? autoCompact : null, warning, blocking };
}

type Limits = Pick<ReportWindow, "autoCompact" | "blocking">;

/** The tokens at which the conversation counts as full: it is compacted there, or no further call should be made. */
export const fullAt = ({ autoCompact, blocking }: Limits): number => autoCompact ?? blocking;

/** The event that ends the room which is left, in words. */
export const fullWords = ({ autoCompact }: Limits): string =>
  autoCompact === null ? "the blocking limit" : "the next compaction";
