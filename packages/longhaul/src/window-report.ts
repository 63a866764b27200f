import type { Thresholds, WindowOrigin } from "@longhaul/core/measure";
import { formatCount } from "./view/numbers.ts";

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

const ORIGINS: Readonly<Record<WindowOrigin, string>> = {
  option: "from an option",
  environment: "from the variable CLAUDE_CODE_AUTO_COMPACT_WINDOW",
  setting: "from the setting autoCompactWindow",
  "auto-compaction": "from the session's newest automatic compaction",
  "reported-usage": "from the largest reported usage",
  "provider-limit": "from the provider's limit",
  "model-table": "from the table of models",
  default: "by default",
};

/** The size of a window and the source of that figure. */
export const windowWords = ({ size, origin }: Pick<Thresholds, "size" | "origin">): string =>
  `window of ${formatCount(size)} tokens, ${ORIGINS[origin]}`;
