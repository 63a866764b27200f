import { computeThresholds, ESTIMATORS, findModel, measureEntries } from "@longhaul/core/measure";
import type { Entry } from "@longhaul/core/messages";
import { flattenChecked } from "@longhaul/core/request";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { apiRuleViolations } from "../../../test/support/api-rules.ts";
import { arbitraryEntries } from "../../../test/support/arbitraries.ts";
import { deepFreeze } from "../../../test/support/deep-freeze.ts";
import { withoutUsage } from "../../../test/support/long-session.ts";
import { createPolicy } from "./policies.ts";
import { POLICY_NAMES } from "./policy.ts";

/** Window sizes that are so small that even short conversations fill the window. */
const smallWindow = fc.integer({ min: 40, max: 4_000 });

/**
 * Counts calls without a result and results without a call. The conversion to API messages has to repair
 * both.
 */
function tornPairs(entries: readonly Entry[]): number {
  const { findings } = flattenChecked(entries);
  return findings.filter(({ rule }) => rule === "tool-use-unanswered" || rule === "tool-result-orphan")
    .length;
}

describe.each(POLICY_NAMES)("policy %s", (name) => {
  it("a policy returns valid API messages with no more tokens than its input, and does not modify its input", async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryEntries({ damaged: false }), smallWindow, async (given, size) => {
        const entries = deepFreeze(given.map(withoutUsage));
        const thresholds = computeThresholds(findModel("claude-sonnet-4-5"), { autoCompactWindow: size });
        const policy = createPolicy(name, { model: "claude-sonnet-4-5" });
        const outcome = await policy.shrink({ entries, thresholds, transcriptPath: "/sessions/one.jsonl" });
        expect(apiRuleViolations(flattenChecked(outcome.entries).messages)).toEqual([]);
        expect(tornPairs(outcome.entries)).toBeLessThanOrEqual(tornPairs(entries));
        const count = ESTIMATORS.o200k;
        expect(measureEntries(outcome.entries, count)).toBeLessThanOrEqual(measureEntries(entries, count));
      }),
      { numRuns: 40 },
    );
  });

  it("a policy turns damaged entries into messages that the API accepts", async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryEntries(), smallWindow, async (entries, size) => {
        const thresholds = computeThresholds(findModel(undefined), { autoCompactWindow: size });
        const outcome = await createPolicy(name).shrink({
          entries,
          thresholds,
          transcriptPath: "/one.jsonl",
        });
        expect(apiRuleViolations(flattenChecked(outcome.entries).messages)).toEqual([]);
      }),
      { numRuns: 40 },
    );
  });
});
