import { MINUTE_MS } from "../compaction/clear/clearing-limits.ts";
import {
  type BySizeOptions,
  type Clearing,
  chooseBySize,
  chooseByTime,
  MINIMUM_SAVING_TOKENS,
  savingBySize,
} from "../compaction/clear/stale-results.ts";
import type { Settings } from "../measure/window/settings.ts";
import { inProportion } from "../measure/window/thresholds.ts";
import { LonghaulError } from "../messages/errors.ts";
import { untilAborted } from "../models/abortable.ts";
import type { CostParts } from "./cost-situation.ts";
import type { Needs } from "./parts.ts";
import { failureReason } from "./reporter.ts";
import {
  type ClearedMessages,
  noteFindings,
  onHistoryChanged,
  tokensFreedBy,
  withCleared,
} from "./rewrite.ts";
import {
  type ClearingSize,
  netSavingOf,
  paysToClearAtThreshold,
  paysToClearEarly,
  willClearAtThreshold,
} from "./rewrite-decisions.ts";

type MeasureParts = Needs<"thread" | "gauge" | "modules" | "options">;
type ClearingParts = CostParts & Needs<"transcript" | "turn" | "newLink">;

/**
 * Clears stale tool results on every turn, before the engine decides whether to compact. Calls no model. The
 * cheapest method depends on the prompt cache:
 * - After the cache expires, rewriting messages costs nothing.
 * - While the cache is warm, a module may ask the provider to drop results from the cached prefix.
 * - Otherwise the engine rewrites the messages in one batch, but only if a compaction would be due or if
 *   keeping the results costs more than the rewrite.
 */
export async function clearStale(parts: ClearingParts, signal: AbortSignal | undefined): Promise<number> {
  const { pace, gauge, options, modules } = parts;
  pace.turn({ tokens: gauge.size().tokens, clearableTokens: expectedClearing(parts).tokensSaved });
  if (clearingDisabledReason(options) !== undefined || options.clearing.form === "off") return 0;
  const chosen = choose(parts);
  if (chosen !== undefined) {
    if (!(await tryFlush(parts, signal))) return 0;
    const cleared = withCleared(parts, chosen);
    parts.transcript.add([cleared.mark]);
    applyCleared(parts, chosen, cleared);
    return chosen.results.length;
  }
  const tokensBefore = gauge.size().tokens;
  const hidden = modules.clear();
  // The provider drops the results. The messages and the cached prefix do not change.
  if (hidden !== undefined) report(parts, hidden, { tokensBefore, unchangedTokens: tokensBefore });
  return hidden?.results.length ?? 0;
}

/**
 * Returns which setting forbids clearing: the setting for clearing only, or the setting for all compaction.
 */
export function clearingDisabledReason({
  settings,
}: {
  readonly settings: Pick<Settings, "compactEnabled" | "microcompactEnabled">;
}): "disabled" | "clearing-disabled" | undefined {
  if (!settings.compactEnabled) return "disabled";
  return settings.microcompactEnabled ? undefined : "clearing-disabled";
}

/**
 * Clears these results. Writes the mark of the clearing to the transcript first. If this write fails, nothing
 * changes.
 */
export async function clearAndCommit(parts: ClearingParts, clearing: Clearing): Promise<void> {
  const cleared = withCleared(parts, clearing);
  await parts.transcript.commit([cleared.mark]);
  applyCleared(parts, clearing, cleared);
}

/** Returns the tokens that clearing will probably free at the threshold. */
export function clearableTokens(parts: CostParts): number {
  const { options, modules } = parts;
  if (clearingDisabledReason(options) !== undefined || options.clearing.form !== "auto") return 0;
  const clearing = bySize(parts);
  if (clearing === undefined) return 0;
  const size = sizeOf(parts, clearing);
  return modules.isClearing || willClearAtThreshold(parts, size) ? size.tokensSaved : 0;
}

/**
 * Returns true if the transcript has stored everything. This must be true before a clearing, because
 * afterwards only the transcript has the text of the cleared results.
 */
async function tryFlush(
  { transcript }: Needs<"transcript">,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  try {
    await untilAborted(signal, transcript.flush());
    return true;
  } catch (error) {
    if (error instanceof LonghaulError && failureReason(error) !== "aborted") return false;
    throw error;
  }
}

function choose(parts: CostParts): Clearing | undefined {
  const { options, thread, cache, gauge, modules } = parts;
  const { form, idleMinutes } = options.clearing;
  if (form === "auto" || form === "time" || form === "cached") {
    const thresholdMs = idleMinutes * MINUTE_MS;
    const byTime = chooseByTime(thread.contents.results, { idleMs: cache.idleMs(), thresholdMs });
    if (byTime !== undefined) return byTime;
  }
  if (form === "size") return bySize(parts);
  if (form !== "auto") return undefined;
  if (gauge.size().paddedTokens >= gauge.thresholds.autoCompact) return atThreshold(parts);
  return !modules.isClearing && paysEarly(parts) ? bySize(parts) : undefined;
}

/** Returns true if clearing clearly pays before the threshold, although it rewrites the cached prefix. */
function paysEarly(parts: CostParts): boolean {
  const expected = expectedClearing(parts);
  const least = toEstimatedTokens(parts, MINIMUM_SAVING_TOKENS) * parts.gauge.ratio;
  return expected.tokensSaved >= least && paysToClearEarly(parts, expected);
}

function atThreshold(parts: CostParts): Clearing | undefined {
  const clearing = bySize(parts);
  if (parts.modules.isClearing) return clearing;
  return paysToClearAtThreshold(parts, clearing && sizeOf(parts, clearing)) ? clearing : undefined;
}

/** Estimates the result of {@link bySize} without selecting results. */
function expectedClearing(parts: MeasureParts): ClearingSize {
  const { contents } = parts.thread;
  return {
    tokensSaved: savingBySize(contents.results, limits(parts)) * parts.gauge.ratio,
    tokensFromFirst: contents.tokensFromOldestResult * parts.gauge.ratio,
  };
}

function sizeOf({ thread, gauge }: Needs<"thread" | "gauge">, clearing: Clearing): ClearingSize {
  return {
    tokensSaved: tokensFreedBy(thread, clearing) * gauge.ratio,
    tokensFromFirst: thread.contents.tokensFromOldestResult * gauge.ratio,
  };
}

const bySize = (parts: MeasureParts): Clearing | undefined =>
  chooseBySize(parts.thread.contents.results, limits(parts));

const limits = (parts: MeasureParts): BySizeOptions => ({
  targetTokens: toEstimatedTokens(parts, parts.options.clearing.targetTokens),
  // Adds the results that the provider already drops to the minimum, because clearing them saves nothing.
  minimumSavingTokens:
    toEstimatedTokens(parts, MINIMUM_SAVING_TOKENS) + parts.modules.omittedTokens().hiddenTokens,
});

/** Converts provider tokens to estimated tokens, the unit of the index of results. */
const toEstimatedTokens = ({ gauge }: Needs<"gauge">, tokens: number): number =>
  inProportion(gauge.thresholds, tokens) / gauge.ratio;

function applyCleared(parts: ClearingParts, clearing: Clearing, applied: ClearedMessages): void {
  const { entries, mark } = applied;
  const { gauge, thread, reporter } = parts;
  const tokensBefore = gauge.size().tokens;
  const { tokensFromFirst } = sizeOf(parts, clearing);
  noteFindings(parts, thread.rewrite([...entries, mark], { kind: "cleared", clearing, mark }));
  onHistoryChanged(parts);
  if (applied.removedThinkingBlocks > 0) {
    reporter.emit({ type: "thinking-left-out", blocks: applied.removedThinkingBlocks, reason: "rewrite" });
  }
  report(parts, clearing, { tokensBefore, unchangedTokens: tokensBefore - tokensFromFirst });
}

function report(
  parts: ClearingParts,
  { form, results, tools, paths }: Clearing,
  before: { readonly tokensBefore: number; readonly unchangedTokens: number },
): void {
  const { modules, reporter, gauge } = parts;
  modules.onChange({ kind: "cleared", paths });
  if (paths.length > 0) reporter.host.filesForgotten(paths);
  const tokensAfter = gauge.size().tokens;
  reporter.emit({
    type: "results-cleared",
    form,
    results: results.length,
    tools,
    tokensBefore: before.tokensBefore,
    tokensAfter,
    netSaving: netSavingOf(parts, { ...before, tokensAfter }),
  });
}
