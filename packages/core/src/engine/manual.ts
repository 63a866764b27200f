import { chooseManually } from "../compaction/clear/stale-results.ts";
import { planCompaction } from "../compaction/plan/compaction-plan.ts";
import { isForced } from "../compaction/worthwhile.ts";
import { LonghaulError } from "../messages/errors.ts";
import { turnResult } from "./before.ts";
import { clearAndCommit } from "./clear-stale.ts";
import { compactionDisabled } from "./health.ts";
import type { ClearOptions, ManualOptions, Message, Turn } from "./options.ts";
import type { EngineParts } from "./parts.ts";
import { cachedMeasures, snapshotOf } from "./planning.ts";
import { ingest } from "./rewrite.ts";
import { runCompaction } from "./run-compaction.ts";

/** Compacts on the user's request: ignores thresholds and the breaker, and throws on failure. */
export async function compactManually<T extends Message>(
  parts: EngineParts,
  messages: readonly T[],
  options: ManualOptions,
): Promise<Turn<T>> {
  const { gauge, thread, modules } = parts;
  if (!parts.options.settings.compactEnabled) throw compactionDisabled();
  ingest(parts, messages);
  const { from, upTo, instructions, signal } = options;
  const force = isForced(options);
  const offered = await modules.offerPlan({ trigger: "manual", manualOptions: options, signal });
  if (offered !== undefined) {
    const compaction = await runCompaction(parts, { trigger: "manual", ...offered, force, signal });
    return turnResult<T>(parts, { compaction });
  }
  const picked = from ?? upTo;
  const targetTokens = gauge.thresholds.autoCompact;
  const plan = planCompaction(snapshotOf(parts), {
    trigger: "manual",
    variant: from !== undefined ? "from" : upTo !== undefined ? "up-to" : "whole",
    at: picked === undefined ? undefined : thread.resolveReference(picked, messages),
    keepRecentTokens: options.keepRecentTokens,
    usualKeepRecentTokens: parts.options.compaction.keepRecentTokens,
    force,
    targetTokens,
    limitTokens: gauge.limitTokens,
    measured: cachedMeasures(parts),
  });
  const request = { trigger: "manual", plan, instructions, force, targetTokens, signal } as const;
  return turnResult<T>(parts, { compaction: await runCompaction(parts, request) });
}

/** Clears results on the user's request, even if that saves little. Only `compactEnabled` can forbid this. */
export async function clearManually<T extends Message>(
  parts: EngineParts,
  messages: readonly T[],
  { keep }: ClearOptions,
): Promise<Turn<T>> {
  if (!parts.options.settings.compactEnabled) throw compactionDisabled();
  ingest(parts, messages);
  const { results } = parts.thread.contents;
  const clearing = chooseManually(results, { keep, leftOut: parts.modules.hiddenToolUseIds() });
  if (clearing === undefined) throw nothingToClearError(results.activeCount);
  await clearAndCommit(parts, clearing);
  return turnResult<T>(parts, { cleared: clearing.results.length });
}

function nothingToClearError(results: number): LonghaulError {
  const [why, remedy] =
    results === 0
      ? [
          "the conversation has no tool results that can be cleared",
          "Compact the conversation to free more tokens.",
        ]
      : [
          "all remaining tool results are among the newest, which stay",
          "Keep fewer of them, or compact the conversation.",
        ];
  return new LonghaulError("nothing-to-clear", `Nothing to clear: ${why}.`, { remedy, facts: { results } });
}
