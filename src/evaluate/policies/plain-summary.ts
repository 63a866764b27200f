import { compact, rebuild } from "../../compaction/compact.ts";
import { planCompaction } from "../../compaction/plan/compaction-plan.ts";
import type { Entry } from "../../conversation/entry.ts";
import type { Policy, PolicyOptions } from "../policy.ts";
import { unlessNothingToDo } from "./longhaul.ts";
import { targetUnder } from "./oldest-rounds.ts";
import { isPersonsMessage } from "./persons-message.ts";
import { steadyPorts } from "./ports.ts";
import { summaryCall } from "./summary-call.ts";

/**
 * A summary in place of everything, and the person's last message, as goose, crush, Roo and the SDKs have it. It is the
 * summary of our built-in summariser, which knows how to carry an earlier one on: nobody looks whether it is complete.
 */
export function plainSummary({ countText, summaryTokens }: PolicyOptions): Policy {
  const portsFor = steadyPorts("plain");
  return {
    name: "plain-summary",
    description: "a summary that nobody checks, and the last request",
    hasRecall: false,
    shrink: (input) =>
      unlessNothingToDo(input, async () => {
        const { entries, thresholds } = input;
        const targetTokens = targetUnder(thresholds);
        const plan = planCompaction(
          { entries },
          { trigger: "auto", keepRecentTokens: 0, targetTokens, countText },
        );
        const compaction = await compact(plan, portsFor(entries), {
          targetTokens,
          // These programs do not ask whether it pays.
          leastSaving: "some",
          facts: "off",
          ...(summaryTokens === undefined ? {} : { summaryBudgetTokens: summaryTokens }),
        });
        return {
          entries: [...rebuild(compaction), ...lastRequest(entries)],
          calls: [summaryCall(plan, compaction, true)],
        };
      }),
  };
}

function lastRequest(entries: readonly Entry[]): readonly Entry[] {
  const last = entries.findLast(isPersonsMessage);
  return last === undefined ? [] : [last];
}
