import { chooseByHand } from "../compaction/clear/stale-results.ts";
import { planCompaction } from "../compaction/plan/compaction-plan.ts";
import { isForced } from "../compaction/worthwhile.ts";
import { LonghaulError } from "../messages/errors.ts";
import { turnResult } from "./before.ts";
import { clearAsOneStep } from "./clear-stale.ts";
import { compactionDisabled } from "./health.ts";
import type { ClearOptions, ManualOptions, Message, Turn } from "./options.ts";
import type { EngineParts } from "./parts.ts";
import { measuredBy, snapshotOf } from "./planning.ts";
import { takeIn } from "./rewrite.ts";
import { runCompaction } from "./run-compaction.ts";

/** The user asked: no threshold and no breaker, and the user sees what goes wrong. */
export async function compactByHand<T extends Message>(
  parts: EngineParts,
  messages: readonly T[],
  options: ManualOptions,
): Promise<Turn<T>> {
  const { gauge, thread, modules } = parts;
  if (!parts.options.settings.compactEnabled) throw compactionDisabled();
  takeIn(parts, messages);
  const { from, upTo, instructions, signal } = options;
  const force = isForced(options);
  const offered = await modules.offerPlan({ trigger: "manual", wishes: options, signal });
  if (offered !== undefined) {
    const compaction = await runCompaction(parts, { trigger: "manual", ...offered, force, signal });
    return turnResult<T>(parts, { compaction });
  }
  const picked = from ?? upTo;
  const targetTokens = gauge.thresholds.autoCompact;
  const plan = planCompaction(snapshotOf(parts), {
    trigger: "manual",
    variant: from !== undefined ? "from" : upTo !== undefined ? "up-to" : "whole",
    at: picked === undefined ? undefined : thread.referTo(picked, messages),
    keepRecentTokens: options.keepRecentTokens,
    usualKeepRecentTokens: parts.options.compaction.keepRecentTokens,
    force,
    targetTokens,
    limitTokens: gauge.limitTokens,
    measured: measuredBy(parts),
  });
  const request = { trigger: "manual", plan, instructions, force, targetTokens, signal } as const;
  return turnResult<T>(parts, { compaction: await runCompaction(parts, request) });
}

/** The user asked: no saving is too small, and only the switch for everything stops it. */
export async function clearByHand<T extends Message>(
  parts: EngineParts,
  messages: readonly T[],
  { keep }: ClearOptions,
): Promise<Turn<T>> {
  if (!parts.options.settings.compactEnabled) throw compactionDisabled();
  takeIn(parts, messages);
  const { results } = parts.thread.contents;
  const clearing = chooseByHand(results, { keep, leftOut: parts.modules.hiddenToolUseIds() });
  if (clearing === undefined) throw nothingToClear(results.activeCount);
  await clearAsOneStep(parts, clearing);
  return turnResult<T>(parts, { cleared: clearing.results.length });
}

function nothingToClear(results: number): LonghaulError {
  const [message, remedy] =
    results === 0
      ? [
          "No result of a tool that can be run again is left in the conversation.",
          "Compact the conversation to make more room.",
        ]
      : [
          "Only the newest results of tools are left in the conversation, and they stay.",
          "Keep fewer of them, or compact the conversation.",
        ];
  return new LonghaulError("nothing-to-clear", message, { remedy, facts: { results } });
}
