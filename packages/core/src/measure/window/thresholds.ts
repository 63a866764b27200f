import type { ModelFacts, WindowOrigin } from "./models.ts";

/** Maximum number of tokens to keep free for writing the summary. */
const SUMMARY_RESERVE_TOKENS = 20_000;
/** Auto-compact starts this far before the effective window, so that the current turn can still finish. */
const AUTO_COMPACT_BUFFER_TOKENS = 13_000;
/** The warning appears this many tokens before the auto-compact threshold or the effective window. */
const WARNING_BUFFER_TOKENS = 20_000;
/** The last tokens of the effective window are reserved for a manual compaction. */
const BLOCKING_BUFFER_TOKENS = 3_000;
/** In smaller windows the fixed buffers would use up everything, so they shrink in proportion. */
const FULL_BUFFERS_WINDOW_TOKENS = 100_000;

export interface WindowOptions {
  /** Default true. False also disables automatic compaction. */
  readonly compactEnabled?: boolean;
  /** Default true. If false, the warning threshold is computed from the effective window. */
  readonly autoCompactEnabled?: boolean;
  /** Default false. If true, context collapse frees tokens instead of auto-compact. */
  readonly collapseEnabled?: boolean;
  /** Compact at this percentage of the effective window, but never later than by default. */
  readonly autoCompactPercent?: number;
  /** Treat the window as no larger than this many tokens. */
  readonly autoCompactWindow?: number;
  readonly blockingLimit?: number;
}

/**
 * Window options with the engine's mode and the source of `autoCompactWindow`. The default source is an
 * option.
 */
export interface ResolvedWindowOptions extends WindowOptions {
  /** Default false. If true, compact only after an overflow. */
  readonly reactiveOnly?: boolean;
  readonly autoCompactWindowFrom?: "environment" | "option" | "setting";
}

/**
 * The mechanism that frees tokens before the window is full:
 * - `auto-compact`: a compaction at the auto-compact threshold.
 * - `collapse`: context collapse, span by span.
 * - `overflow`: reactive-only mode. Nothing happens before a call has failed.
 * - `manual`: auto-compact is switched off. Only the user can compact.
 * - `nobody`: compaction is switched off altogether.
 */
export type HeadroomOwner = "auto-compact" | "collapse" | "overflow" | "manual" | "nobody";

/**
 * Thresholds in tokens. Always 0 < warning < autoCompact < blocking < effective < size, unless
 * `blockingLimit` overrides blocking.
 */
export interface Thresholds {
  readonly size: number;
  /** The source of `size`. */
  readonly origin: WindowOrigin;
  readonly effective: number;
  readonly autoCompact: number;
  readonly warning: number;
  readonly error: number;
  readonly blocking: number;
  readonly headroomBy: HeadroomOwner;
  /**
   * True if a compaction starts at `autoCompact`. Otherwise `autoCompact` is only the target of a manual
   * compaction.
   */
  readonly autoCompactEnabled: boolean;
}

export interface WindowState {
  readonly percentLeft: number;
  readonly isAboveWarningThreshold: boolean;
  readonly isAboveErrorThreshold: boolean;
  readonly isAboveAutoCompactThreshold: boolean;
  readonly isAtBlockingLimit: boolean;
}

export function computeThresholds(model: ModelFacts, options: ResolvedWindowOptions = {}): Thresholds {
  const limit = options.autoCompactWindow ?? Number.POSITIVE_INFINITY;
  const size = Math.min(model.windowTokens, limit);
  const origin =
    limit <= model.windowTokens
      ? (options.autoCompactWindowFrom ?? "option")
      : (model.windowOrigin ?? "model-table");
  const scale = Math.min(1, size / FULL_BUFFERS_WINDOW_TOKENS);
  const shrunk = (buffer: number, least: number): number => Math.max(least, Math.floor(buffer * scale));

  const reserve = Math.max(1, Math.min(model.maxOutputTokens, shrunk(SUMMARY_RESERVE_TOKENS, 1)));
  const effective = size - reserve;
  const defaultAuto = effective - shrunk(AUTO_COMPACT_BUFFER_TOKENS, 2);
  const autoCompact = autoThreshold(effective, defaultAuto, options.autoCompactPercent);
  const headroomBy = headroomOwner(options);
  const autoCompactEnabled = headroomBy === "auto-compact";
  const threshold = autoCompactEnabled ? autoCompact : effective;
  // An early threshold (by percentage) must not push the warning below zero.
  const warning = threshold - Math.min(shrunk(WARNING_BUFFER_TOKENS, 1), Math.ceil(threshold / 2));
  const blocking = options.blockingLimit ?? effective - shrunk(BLOCKING_BUFFER_TOKENS, 1);
  const levels = { size, origin, effective, autoCompact, warning, error: warning, blocking };
  return { ...levels, headroomBy, autoCompactEnabled };
}

/** Checks the options in the same order as the guards before an automatic compaction. */
function headroomOwner(options: ResolvedWindowOptions): HeadroomOwner {
  if (options.compactEnabled === false) return "nobody";
  if (options.autoCompactEnabled === false) return "manual";
  if (options.reactiveOnly) return "overflow";
  return options.collapseEnabled ? "collapse" : "auto-compact";
}

function autoThreshold(effective: number, fallback: number, percent: number | undefined): number {
  if (percent === undefined) return fallback;
  return Math.min(fallback, Math.max(2, Math.floor((effective * percent) / 100)));
}

export function windowState(usedTokens: number, thresholds: Thresholds): WindowState {
  const threshold = thresholds.autoCompactEnabled ? thresholds.autoCompact : thresholds.effective;
  return {
    percentLeft: Math.max(0, Math.round(((threshold - usedTokens) / threshold) * 100)),
    isAboveWarningThreshold: usedTokens >= thresholds.warning,
    isAboveErrorThreshold: usedTokens >= thresholds.error,
    isAboveAutoCompactThreshold: thresholds.autoCompactEnabled && usedTokens >= thresholds.autoCompact,
    isAtBlockingLimit: usedTokens >= thresholds.blocking,
  };
}

/** Most constants are chosen for this window. Smaller windows scale them down. */
const USUAL_WINDOW_TOKENS = 200_000;

/** Scales a number of tokens from the usual window to the given window. */
export const inProportion = ({ size }: Pick<Thresholds, "size">, tokens: number): number =>
  Math.floor(tokens * Math.min(1, size / USUAL_WINDOW_TOKENS));
