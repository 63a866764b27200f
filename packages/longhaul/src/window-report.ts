import type { Thresholds, WindowOrigin } from "@longhaul/core/measure";
import { formatCount } from "./view/numbers.ts";

/** The window and its thresholds as `--json` prints them. */
export interface ReportWindow
  extends Pick<Thresholds, "size" | "origin" | "effective" | "warning" | "blocking"> {
  /**
   * Threshold of automatic compaction in tokens. Null if a switch or a mode prevents automatic compaction.
   */
  readonly autoCompact: number | null;
}

export function reportWindow(thresholds: Thresholds): ReportWindow {
  const { size, origin, effective, autoCompact, autoCompactEnabled, warning, blocking } = thresholds;
  return { size, origin, effective, autoCompact: autoCompactEnabled ? autoCompact : null, warning, blocking };
}

type Limits = Pick<ReportWindow, "autoCompact" | "blocking">;

/**
 * Returns the number of tokens at which the conversation counts as full. At that size, automatic compaction
 * starts. If it is off, no more calls should be made.
 */
export const fullAt = ({ autoCompact, blocking }: Limits): number => autoCompact ?? blocking;

/** Names the limit that is reached when no free tokens are left. */
export const fullWords = ({ autoCompact }: Limits): string =>
  autoCompact === null ? "the blocking limit" : "the next compaction";

const ORIGINS: Readonly<Record<WindowOrigin, string>> = {
  option: "set by an option",
  environment: "set by CLAUDE_CODE_AUTO_COMPACT_WINDOW",
  setting: "set by autoCompactWindow",
  "auto-compaction": "inferred from the session's last auto-compaction",
  "reported-usage": "inferred from the largest reported usage",
  "provider-limit": "from the provider's limit",
  "model-table": "from the model table",
  default: "default",
};

/** Describes the size of a window and the source of that figure. */
export const windowWords = ({ size, origin }: Pick<Thresholds, "size" | "origin">): string =>
  `window of ${formatCount(size)} tokens (${ORIGINS[origin]})`;
