import { computeThresholds, ESTIMATORS, findModel, measureEntries } from "@longhaul/core/measure";
import type { Entry } from "@longhaul/core/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { longSession, withoutUsage } from "../../../test/support/long-session.ts";
import { planChain, runChain } from "./compaction-chain.ts";
import { createPolicy } from "./policies.ts";
import type { Policy } from "./policy.ts";

const countText = ESTIMATORS.o200k;
const stream = (turns: number): readonly Entry[] => longSession(turns).entries.map(withoutUsage);
const thresholdsOf = (autoCompactWindow: number) =>
  computeThresholds(findModel(undefined), { autoCompactWindow });

describe("planChain", () => {
  it("plans as many compactions as requested, at most one per round, and always one after the last round", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 300, max: 30_000 }),
        (turns, compactions, window) => {
          const rounds = planChain(stream(turns), thresholdsOf(window), compactions, countText);
          const places = rounds.filter(({ isDue }) => isDue).length;
          expect(places).toBe(Math.min(compactions, rounds.length));
          expect(rounds.at(-1)?.isDue).toBe(true);
        },
      ),
      { numRuns: 100 },
    );
  });

  it("uses only the start of a long session, as much of it as the requested compactions need", () => {
    const entries = stream(200);
    const thresholds = thresholdsOf(10_000);
    const once = planChain(entries, thresholds, 1, countText).flatMap((round) => round.entries);
    const often = planChain(entries, thresholds, 5, countText).flatMap((round) => round.entries);
    expect(measureEntries(once, countText)).toBeGreaterThanOrEqual(thresholds.autoCompact);
    expect(measureEntries(once, countText)).toBeLessThan(thresholds.autoCompact * 1.2);
    expect(often.slice(0, once.length)).toEqual(once);
    expect(often.length).toBeLessThan(entries.length);
  });
});

describe("runChain", () => {
  const options = { thresholds: thresholdsOf(10_000), transcriptPath: "/sessions/one.jsonl", countText };
  const course = planChain(stream(200), options.thresholds, 5, countText);

  it("passes the policy its previous result and all later entries whenever a compaction is due", async () => {
    const asked: number[] = [];
    const keepsNewest: Policy = {
      name: "keeps-newest",
      description: "",
      hasRecall: false,
      shrink: async ({ entries }) => {
        asked.push(entries.length);
        return { entries: entries.slice(-1), calls: [] };
      },
    };
    const { entries, compactions } = await runChain(course, { ...options, policy: keepsNewest });
    expect(asked).toHaveLength(5);
    expect(compactions).toHaveLength(5);
    const said = course.flatMap((round) => round.entries);
    expect(asked.reduce((sum, count) => sum + count, 0)).toBe(said.length + 4);
    expect(entries).toEqual(said.slice(-1));
  });

  it("keeps all entries and counts no compaction for a policy that changes nothing", async () => {
    const lazy: Policy = {
      name: "lazy",
      description: "",
      hasRecall: false,
      shrink: async ({ entries }) => ({ entries: [...entries], calls: [] }),
    };
    const { entries, compactions } = await runChain(course, { ...options, policy: lazy });
    expect(compactions).toEqual([]);
    expect(entries).toEqual(course.flatMap((round) => round.entries));
  });

  it("counts all tokens after the first changed entry as rewritten in the prompt cache", async () => {
    const policy = createPolicy("drop-oldest", {});
    const { compactions } = await runChain(course, { ...options, policy });
    for (const { tokensBefore, tokensAfter, rewrittenTokens } of compactions) {
      expect(tokensAfter).toBeLessThan(tokensBefore);
      expect(rewrittenTokens).toBe(tokensAfter);
    }
  });
});
