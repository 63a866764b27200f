import type { Clearing } from "./clearing.ts";
import type { ResultIndex } from "./result-index.ts";

export const MINUTE_MS = 60_000;

/** The longest that a provider keeps a cached prompt; after it, rewriting history costs nothing extra. */
export const IDLE_THRESHOLD_MS: number = 60 * MINUTE_MS;
/** Enough to go on with what was being done when the pause began. */
const KEPT_NEWEST_BY_TIME = 5;

export interface ByTimeOptions {
  /** Since the last assistant message; undefined where there is none. */
  readonly idleMs: number | undefined;
  readonly thresholdMs?: number | undefined;
  readonly keepNewest?: number | undefined;
}

/** All results but the newest, once the provider's cache has gone cold. */
export function chooseByTime(index: ResultIndex, options: ByTimeOptions): Clearing | undefined {
  const { idleMs, thresholdMs = IDLE_THRESHOLD_MS, keepNewest = KEPT_NEWEST_BY_TIME } = options;
  if (!isIdle(idleMs, thresholdMs)) return undefined;
  const clearable = index.activeCount - index.keptCount(Math.max(1, Math.trunc(keepNewest) || 1));
  return clearable > 0 ? index.describe("time", index.results().slice(0, clearable)) : undefined;
}

/** A clock that jumped back gives a negative pause: that is no idle hour. */
export function isIdle(idleMs: number | undefined, thresholdMs: number = IDLE_THRESHOLD_MS): boolean {
  return idleMs !== undefined && idleMs > thresholdMs;
}
