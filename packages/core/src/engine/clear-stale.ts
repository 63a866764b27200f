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
import type { Needs } from "./parts.ts";
import {
  type ClearingSize,
  netSavingOf,
  paysToClearAtThreshold,
  paysToClearEarly,
  type Weighed,
  willClearAtThreshold,
} from "./pay-off.ts";
import { failureReason } from "./reporter.ts";
import { type ClearedMessages, gainOf, historyChanged, noteFindings, withCleared } from "./rewrite.ts";

type Measured = Needs<"thread" | "gauge" | "modules" | "options">;
type Cleared = Weighed & Needs<"transcript" | "turn" | "newLink">;

/**
 * Clears stale tool results on every turn, before the engine decides. Calls no model. The cheapest form depends on the
 * cache: once it has gone cold, a rewrite costs nothing; while it is warm, a module may have the provider leave results out of it; and
 * otherwise the messages are changed in one batch, when there would be a compaction otherwise or when carrying
 * the results along has become dearer than a rewrite.
 */
export async function clearStale(parts: Cleared, signal: AbortSignal | undefined): Promise<number> {
  const { pace, gauge, options, modules } = parts;
  pace.turn({ tokens: gauge.size().tokens, clearableTokens: expectedClearing(parts).tokensSaved });
  if (whyNotToClear(options) !== undefined || options.clearing.form === "off") return 0;
  const chosen = choose(parts);
  if (chosen !== undefined) {
    if (!(await isAllWritten(parts, signal))) return 0;
    const cleared = withCleared(parts, chosen);
    parts.transcript.add([cleared.mark]);
    goOnWith(parts, chosen, cleared);
    return chosen.results.length;
  }
  const tokensBefore = gauge.size().tokens;
  const hidden = modules.clear();
  // The messages stay as they are, and so does the prefix in the cache.
  if (hidden !== undefined) report(parts, hidden, { tokensBefore, unchangedTokens: tokensBefore });
  return hidden?.results.length ?? 0;
}

/** Stale tool results: clearing has a switch of its own, and the switch for everything stops it as well. */
export function whyNotToClear({
  settings,
}: {
  readonly settings: Pick<Settings, "compactEnabled" | "microcompactEnabled">;
}): "disabled" | "clearing-disabled" | undefined {
  if (!settings.compactEnabled) return "disabled";
  return settings.microcompactEnabled ? undefined : "clearing-disabled";
}

/** The transcript has it first: where that fails, nothing has changed. */
export async function clearAsOneStep(parts: Cleared, clearing: Clearing): Promise<void> {
  const cleared = withCleared(parts, clearing);
  await parts.transcript.commit([cleared.mark]);
  goOnWith(parts, clearing, cleared);
}

/** Tokens that clearing will free when the threshold comes, as far as can be told now. */
export function clearableTokens(parts: Weighed): number {
  const { options, modules } = parts;
  if (whyNotToClear(options) !== undefined || options.clearing.form !== "auto") return 0;
  const clearing = bySize(parts);
  if (clearing === undefined) return 0;
  const size = sizeOf(parts, clearing);
  return modules.isClearing || willClearAtThreshold(parts, size) ? size.tokensSaved : 0;
}

/** The transcript must have a result before its text leaves the messages: the text is nowhere else then. */
async function isAllWritten(
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

function choose(parts: Weighed): Clearing | undefined {
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

/** Every clearing of this form costs a rewrite of the cached prefix: before it must be, it has to pay clearly. */
function paysEarly(parts: Weighed): boolean {
  const expected = expectedClearing(parts);
  const least = scaled(parts, MINIMUM_SAVING_TOKENS) * parts.gauge.ratio;
  return expected.tokensSaved >= least && paysToClearEarly(parts, expected);
}

function atThreshold(parts: Weighed): Clearing | undefined {
  const clearing = bySize(parts);
  if (parts.modules.isClearing) return clearing;
  return paysToClearAtThreshold(parts, clearing && sizeOf(parts, clearing)) ? clearing : undefined;
}

/** About what {@link bySize} would clear, without looking for it. */
function expectedClearing(parts: Measured): ClearingSize {
  const { contents } = parts.thread;
  return {
    tokensSaved: savingBySize(contents.results, limits(parts)) * parts.gauge.ratio,
    tokensFromFirst: contents.tokensFromOldestResult * parts.gauge.ratio,
  };
}

function sizeOf({ thread, gauge }: Needs<"thread" | "gauge">, clearing: Clearing): ClearingSize {
  return {
    tokensSaved: gainOf(thread, clearing) * gauge.ratio,
    tokensFromFirst: thread.contents.tokensFromOldestResult * gauge.ratio,
  };
}

const bySize = (parts: Measured): Clearing | undefined =>
  chooseBySize(parts.thread.contents.results, limits(parts));

const limits = (parts: Measured): BySizeOptions => ({
  targetTokens: scaled(parts, parts.options.clearing.targetTokens),
  // To clear what the provider leaves out already saves nothing.
  minimumSavingTokens: scaled(parts, MINIMUM_SAVING_TOKENS) + parts.modules.leftOut().hiddenTokens,
});

/** In the estimate's own tokens, which is what the index of results counts. */
const scaled = ({ gauge }: Needs<"gauge">, tokens: number): number =>
  inProportion(gauge.thresholds, tokens) / gauge.ratio;

function goOnWith(parts: Cleared, clearing: Clearing, applied: ClearedMessages): void {
  const { entries, mark } = applied;
  const { gauge, thread, reporter } = parts;
  const tokensBefore = gauge.size().tokens;
  const { tokensFromFirst } = sizeOf(parts, clearing);
  noteFindings(parts, thread.rewrite([...entries, mark], { kind: "cleared", clearing, mark }));
  historyChanged(parts);
  if (applied.thinkingLeftOut > 0) {
    reporter.emit({ type: "thinking-left-out", blocks: applied.thinkingLeftOut, reason: "rewrite" });
  }
  report(parts, clearing, { tokensBefore, unchangedTokens: tokensBefore - tokensFromFirst });
}

function report(
  parts: Cleared,
  { form, results, tools, paths }: Clearing,
  before: { readonly tokensBefore: number; readonly unchangedTokens: number },
): void {
  const { modules, reporter, gauge } = parts;
  modules.changed({ kind: "cleared", paths });
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
