import type { CompactionPlan } from "@longhaul/core/compaction";
import { compact } from "@longhaul/core/compaction";
import type { Entry } from "@longhaul/core/messages";
import { indexPairs } from "@longhaul/core/messages";
import { flatten } from "@longhaul/core/request";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { apiRuleViolations } from "../../../test/support/api-rules.ts";
import { arbitraryEntries } from "../../../test/support/arbitraries.ts";
import { deepFreeze } from "../../../test/support/deep-freeze.ts";
import { countingPorts, longSession, withoutUsage } from "../../../test/support/long-session.ts";
import { rebuild } from "../../core/src/compaction/compact.ts";
import { lastBoundaryIndex } from "../../core/src/compaction/plan/sized.ts";
import { isCompactBoundary, isEntry, isSummaryEntry } from "../../core/src/messages/entry.ts";
import { laterResponseEntries } from "../../core/src/messages/pairs.ts";
import { type NotesKeep, type NotesPlanRequest, notesSource, planFromNotes } from "./plan-from-notes.ts";

const NOTES = "# Current State\n_what goes on_\n\nThe harbour is being dredged.";

interface Case {
  readonly entries: readonly Entry[];
  readonly request: NotesPlanRequest;
}

const keeps: fc.Arbitrary<NotesKeep> = fc.record({
  leastTokens: fc.constantFrom(0, 300, 2_000),
  leastMessages: fc.nat(8),
  mostTokens: fc.constantFrom(500, 4_000, 40_000),
});

/**
 * Any conversation with notes. The newest noted message is in the conversation, is missing from it, or is not
 * stored.
 */
const cases: fc.Arbitrary<Case> = fc
  .record({
    generated: arbitraryEntries(),
    remembered: fc.oneof(fc.nat(400), fc.constantFrom("none" as const, "gone" as const)),
    thresholdTokens: fc.constantFrom(undefined, 500, 4_000, 24_000),
    keep: fc.option(keeps, { nil: undefined }),
  })
  .map(({ generated, remembered, thresholdTokens, keep }) => {
    const entries = [...longSession(12).entries, ...generated].map(withoutUsage);
    const uuids = entries.flatMap((entry) => (isEntry(entry) && entry.uuid ? [entry.uuid] : []));
    const picked = typeof remembered === "number" ? uuids[remembered % uuids.length] : remembered;
    const coveredUuid = picked === "none" ? undefined : picked;
    return { entries: deepFreeze(entries), request: { coveredUuid, text: NOTES, thresholdTokens, keep } };
  });

const REASONS = ["message-not-found", "nothing-new-noted", "above-threshold", "does-not-pay"];

function planned({ entries, request }: Case): CompactionPlan | undefined {
  const made = planFromNotes({ entries }, request);
  if ("plan" in made) return made.plan;
  expect(REASONS).toContain(made.declined);
  return undefined;
}

/** Number of runs per property. The first property also counts how many runs reach its assertions. */
const CASES = 150;

describe("planFromNotes, for any conversation and any noted message", () => {
  it("planFromNotes keeps or summarizes every message once, and summarizes only messages in the notes", () => {
    let plans = 0;
    fc.assert(
      fc.property(cases, ({ entries, request }) => {
        const plan = planned({ entries, request });
        if (plan === undefined) return;
        plans++;
        const fromBoundary = entries.slice(lastBoundaryIndex(entries)).filter(isEntry);
        expect([...plan.summarized, ...plan.kept]).toEqual(fromBoundary);
        expect(plan.kept.some((entry) => isCompactBoundary(entry) || isSummaryEntry(entry))).toBe(false);
        if (request.coveredUuid === undefined) return;
        const noted = fromBoundary.findIndex(({ uuid }) => uuid === request.coveredUuid) + 1;
        expect(plan.summarized.length).toBeLessThanOrEqual(noted);
      }),
      { numRuns: CASES },
    );
    expect(plans).toBeGreaterThan(CASES / 10);
  });

  it("planFromNotes never separates a tool call from its result, or the entries of one response", () => {
    fc.assert(
      fc.property(cases, (one) => {
        const plan = planned(one);
        if (plan === undefined) return;
        const cut = plan.summarized.length;
        for (const { use, results } of indexPairs(plan.entries).pairs.values()) {
          for (const { entryIndex } of results) expect(entryIndex < cut).toBe(use.entryIndex < cut);
        }
        for (const [first, later] of laterResponseEntries(plan.entries))
          expect(later < cut).toBe(first < cut);
      }),
      { numRuns: CASES },
    );
  });

  it("a compaction from notes is valid and below the threshold, and a second one with the same notes is declined", async () => {
    await fc.assert(
      fc.asyncProperty(cases, fc.boolean(), async ({ entries, request }, bindsThinking) => {
        const plan = planned({ entries, request });
        if (plan === undefined) return;
        const { thresholdTokens } = request;
        const target = thresholdTokens === undefined ? {} : { targetTokens: thresholdTokens };
        const how = { source: notesSource({ text: NOTES }), bindsThinking, ...target };
        const compaction = await compact(plan, countingPorts(), how);
        expect(compaction.written).toMatchObject({ source: "notes", text: NOTES });
        expect(compaction.tokensAfter).toBeLessThan(request.thresholdTokens ?? plan.tokensBefore);
        const after = deepFreeze(rebuild(compaction));
        expect(apiRuleViolations(flatten(after))).toEqual([]);
        expect(planned({ entries: after, request })).toBeUndefined();
      }),
      { numRuns: CASES },
    );
  });
});
