import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { apiRuleViolations } from "../../../../../test/support/api-rules.ts";
import { arbitraryEntries } from "../../../../../test/support/arbitraries.ts";
import { ConversationBuilder, image } from "../../../../../test/support/builders.ts";
import { deepFreeze } from "../../../../../test/support/deep-freeze.ts";
import {
  codeOf,
  countingPorts,
  longSession,
  withoutUsage,
} from "../../../../../test/support/long-session.ts";
import { ESTIMATORS } from "../../measure/tokens/estimators.ts";
import { measureEntry } from "../../measure/tokens/measure.ts";
import type { Entry } from "../../messages/entry.ts";
import { LonghaulError } from "../../messages/errors.ts";
import { indexPairs } from "../../messages/pairs.ts";
import type { ModelFailure } from "../../models/model-error.ts";
import { flatten } from "../../request/flatten/flatten.ts";
import { compact, rebuild } from "../compact.ts";
import type { CompactionPlan } from "./compaction-plan.ts";
import { planReactive } from "./reactive.ts";

const TARGET = 40_000;
const TOO_LONG: ModelFailure = { kind: "too-long" };
const { entries } = longSession(60);

const reactive = (
  failure: ModelFailure,
  list: readonly Entry[] = entries,
  targetTokens = TARGET,
): CompactionPlan => planReactive({ entries: list }, { failure, targetTokens });

/** Returns the size of the result in the provider's tokens, before content is restored. */
async function sizeAfter(plan: CompactionPlan): Promise<number> {
  return (await compact(plan, countingPorts(), { leastSaving: "some" })).tokensAfter;
}

describe("planReactive after a request that was too long", () => {
  it("summarizes the oldest messages and keeps the newest verbatim, so that the size is below the target", async () => {
    const plan = reactive({ kind: "too-long", tokens: 80_020, limit: 64_000 });
    expect([...plan.summarized, ...plan.kept]).toEqual(entries);
    expect(plan.kept.length).toBeGreaterThan(8);
    expect(plan.trigger).toBe("auto");
    expect(await sizeAfter(plan)).toBeLessThan(TARGET);
  });

  it("uses the size that the error states as the size before the compaction", async () => {
    const as = (tokens: number): CompactionPlan => reactive({ kind: "too-long", tokens, limit: 64_000 });
    expect(as(160_040).tokensBefore).toBe(160_040);
    expect(as(160_040).tokenRatio / as(80_020).tokenRatio).toBeCloseTo(2);
    expect(as(160_040).kept.length).toBeLessThan(as(80_020).kept.length);
    expect(await sizeAfter(as(100_000))).toBeLessThan(TARGET);
  });

  it("stays below the limit that the error states when the target is above that limit", async () => {
    const plan = reactive({ kind: "too-long", tokens: 80_020, limit: 36_000 }, entries, 60_000);
    expect(await sizeAfter(plan)).toBeLessThan(36_000);
  });

  it("does not count the requested output as prompt, and reserves tokens for the output", async () => {
    const failure: ModelFailure = { kind: "too-long", tokens: 96_020, outputTokens: 16_000, limit: 64_000 };
    expect(reactive(failure).tokensBefore).toBe(80_020);
    const plan = reactive({ ...failure, tokens: 104_020, outputTokens: 24_000 }, entries, 60_000);
    expect(await sizeAfter(plan)).toBeLessThan(40_000);
  });

  it("uses the larger of our count and the stated size when the error states only a lower bound", () => {
    const bound = { kind: "too-long", limit: 64_000, outputTokens: 16_000, isLowerBound: true } as const;
    expect(reactive({ ...bound, tokens: 64_001 }).tokensBefore).toBe(80_020);
  });

  it("assumes that a fifth of the prompt is too much when the error states no figures", () => {
    expect(reactive(TOO_LONG).tokensBefore).toBe(Math.round(80_020 / 0.8));
    expect(reactive({ kind: "too-long", limit: 100_000 }).tokensBefore).toBe(100_001);
  });

  it("scales message tokens at most by four, and counts further tokens as system prompt and tools", () => {
    const plan = reactive({ kind: "too-long", tokens: 8_000_000, limit: 64_000 });
    expect(plan.tokenRatio / reactive({ kind: "too-long", tokens: 80_020 }).tokenRatio).toBeCloseTo(4);
    expect(plan.overheadTokens).toBeGreaterThan(7_000_000);
    expect(plan.kept).toEqual([]);
  });

  it("never scales message tokens far below our estimate, because a proxy may state too few tokens", () => {
    const estimated = planReactive({ entries }, { failure: { kind: "too-large" }, targetTokens: TARGET });
    const plan = reactive({ kind: "too-long", tokens: 20_000, limit: 16_000 });
    expect(plan.tokensBefore).toBe(20_000);
    expect(plan.tokenRatio).toBeGreaterThanOrEqual(Math.min(1, estimated.tokenRatio));
  });

  it("scales message tokens to the size in the error even if reported usage had made the ratio too high", () => {
    const tokensOf = (entry: Entry): number => measureEntry(entry, ESTIMATORS.o200k);
    const estimate = entries.reduce((sum, entry) => sum + tokensOf(entry), 0);
    const tokens = Math.round(estimate);
    const figures = { reportedTokens: tokens, estimatedTokens: 0, paddedTokens: tokens };
    const context = { tokens, source: "usage", ...figures } as const;
    const measured = { tokensOf, tokensOfBlock: () => 1, context, ratio: 4, overheadTokens: 0 };
    const failure: ModelFailure = { kind: "too-long", tokens: Math.round(estimate * 1.2), limit: 64_000 };
    const planFor = (usualRatio?: number): CompactionPlan =>
      planReactive({ entries }, { failure, targetTokens: TARGET, measured, usualRatio });
    expect(planFor().tokenRatio).toBeCloseTo(1.2);
    expect(planFor().summarizedTokens + planFor().keptTokens).toBeLessThan(estimate * 1.21);
    // Images may have fewer tokens than estimated, so texts never count for less than usual.
    expect(planFor(1.35).tokenRatio).toBeCloseTo(1.35);
  });

  it.each([
    ["the whole prompt", 1],
    ["a prompt without these messages", 0.5],
  ])(
    "assumes that the size in the error excludes messages that the provider left out (last usage: %s)",
    (_, share) => {
      const tokensOf = (entry: Entry): number => measureEntry(entry, ESTIMATORS.o200k);
      const estimate = entries.reduce((sum, entry) => sum + tokensOf(entry), 0);
      const tokens = Math.round(estimate * share);
      const figures = { reportedTokens: tokens, estimatedTokens: 0, paddedTokens: tokens };
      const context = { tokens, source: "usage", ...figures } as const;
      const measured = { tokensOf, tokensOfBlock: () => 1, context, ratio: 1, overheadTokens: 0 };
      const failure: ModelFailure = { kind: "too-long", tokens: Math.round(estimate * 0.6), limit: 30_000 };
      const leftOutTokens = estimate / 2;
      const plan = planReactive({ entries }, { failure, targetTokens: TARGET, measured, leftOutTokens });
      expect(plan.tokenRatio).toBeCloseTo(1.2);
      expect(plan.tokensBefore / estimate).toBeCloseTo(1.2);
    },
  );

  it.each([
    ["as large as our count", 1, 1],
    ["larger than our count", 1.1, 1.1],
    ["smaller than our count", 0.8, 1],
  ])(
    "assumes that the provider left out no messages when the size in the error is %s",
    (_, stated, ratio) => {
      const tokensOf = (entry: Entry): number => measureEntry(entry, ESTIMATORS.o200k);
      const tokens = Math.round(entries.reduce((sum, entry) => sum + tokensOf(entry), 0));
      const figures = { reportedTokens: tokens, estimatedTokens: 0, paddedTokens: tokens };
      const context = { tokens, source: "usage", ...figures } as const;
      const measured = { tokensOf, tokensOfBlock: () => 1, context, ratio: 1, overheadTokens: 0 };
      const failure: ModelFailure = { kind: "too-long", tokens: Math.round(tokens * stated), limit: 30_000 };
      const options = { failure, targetTokens: TARGET, measured, leftOutTokens: tokens * 0.7 };
      const plan = planReactive({ entries }, options);
      expect(plan.tokenRatio).toBeCloseTo(ratio);
      expect(plan.tokensBefore / tokens).toBeCloseTo(ratio);
    },
  );

  it("assumes that the provider left out results even when wrong usage reports made our count too low", () => {
    const tokensOf = (entry: Entry): number => measureEntry(entry, ESTIMATORS.o200k);
    const estimate = entries.reduce((sum, entry) => sum + tokensOf(entry), 0);
    const ratio = 0.5;
    const tokens = Math.round(estimate * ratio);
    const figures = { reportedTokens: tokens, estimatedTokens: 0, paddedTokens: tokens };
    const context = { tokens, source: "usage", ...figures } as const;
    const measured = { tokensOf, tokensOfBlock: () => 1, context, ratio, overheadTokens: 0 };
    // The provider counts half of the messages, with 1.4 tokens for each token of our estimate.
    const failure: ModelFailure = { kind: "too-long", tokens: Math.round(estimate * 0.7), limit: 30_000 };
    const options = { failure, targetTokens: TARGET, measured, leftOutTokens: tokens / 2 };
    expect(planReactive({ entries }, { ...options, usualRatio: 1.35 }).tokenRatio).toBeCloseTo(1.4);
  });

  it("after an overflow, keeps no more tokens of recent messages than the caller allows", () => {
    const failure: ModelFailure = { kind: "too-long", tokens: 80_020, limit: 64_000 };
    const plan = planReactive({ entries }, { failure, targetTokens: TARGET, keepRecentTokens: 1_500 });
    expect(plan.keptTokens).toBeLessThanOrEqual(1_500);
    expect(plan.kept.length).toBeGreaterThan(0);
  });

  it("never keeps all messages after an overflow, however small they seem by our count", () => {
    const plan = reactive(TOO_LONG, entries, 10_000_000);
    expect(plan.summarized.length).toBeGreaterThan(entries.length / 6);
  });

  it("fails with 'not-enough-messages' when an overflow happens in a conversation without messages", async () => {
    expect(await codeOf(() => reactive(TOO_LONG, []))).toBe("not-enough-messages");
  });
});

describe("earlier summary that is too long", () => {
  it("summarizes an oversized earlier summary again even when only recent messages follow it", async () => {
    const c = new ConversationBuilder("long-summary");
    const earlier = [c.boundary(), c.summary(`The work so far: ${"word ".repeat(70_000)}`)];
    c.tool("read", "Read", { file_path: "/project/a.ts" }, "line\n".repeat(2_000));
    c.user("Go on.");
    const plan = reactive({ kind: "too-long", tokens: 80_000, limit: 64_000 }, c.entries);
    expect(plan.summarized.map(({ uuid }) => uuid)).toEqual(earlier.map(({ uuid }) => uuid));
    expect(plan.kept).toEqual(c.entries.slice(earlier.length));
    expect(await sizeAfter(plan)).toBeLessThan(TARGET);
  });
});

describe("newest round of messages that alone is too long for a request", () => {
  const giant = (words: number): ConversationBuilder => {
    const c = longSession(10);
    c.user("read the log");
    c.tool("log", "Bash", { command: "cat log" }, `first line ${"word ".repeat(words)} last line`);
    return c;
  };

  it("keeps the newest tool call, cuts its long result to head and tail, and notes the cut", async () => {
    const c = giant(200_000);
    const plan = reactive({ kind: "too-long", tokens: 240_000, limit: 200_000 }, c.entries);
    const kept = JSON.stringify(plan.kept);
    expect(kept).toMatch(
      /first line.*characters of this result are left out .* Recall it with the id log.*last line/,
    );
    expect(indexPairs(plan.kept).unanswered).toEqual([]);
    expect(plan.isKeptRewritten).toBe(true);
    expect(plan.keptTokens).toBeLessThan(TARGET);
    const compaction = await compact(plan, countingPorts());
    expect(compaction.tokensAfter).toBeLessThan(TARGET);
    expect(apiRuleViolations(flatten(rebuild(compaction)))).toEqual([]);
    expect(JSON.stringify(c.entries.at(-1)).length).toBeGreaterThan(1_000_000);
  });

  it("cuts a long user message to its head and tail after an overflow", () => {
    const c = longSession(10);
    c.user(`look at this ${"word ".repeat(100_000)} what is wrong?`);
    const plan = reactive({ kind: "too-long", tokens: 140_000, limit: 100_000 }, c.entries);
    expect(JSON.stringify(plan.kept)).toMatch(/look at this.*left out: see the transcript.*what is wrong/);
  });

  it("keeps as much head and tail of a long tool result as a small token target allows", async () => {
    const plan = reactive(
      { kind: "too-long", tokens: 240_000, limit: 200_000 },
      giant(200_000).entries,
      20_500,
    );
    expect(plan.kept).toHaveLength(2);
    expect(20_500 - plan.overheadTokens).toBeLessThan(2_500);
    expect(plan.keptTokens).toBeLessThan(2_000);
    expect(JSON.stringify(plan.kept)).toMatch(/first line.*last line/);
    expect(plan.summarized.length).toBe(41);
  });

  it("summarizes an oversized user message when its head and tail would not fit", () => {
    const c = longSession(10);
    c.user(`look at this ${"word ".repeat(200_000)}`);
    const plan = reactive({ kind: "too-long", tokens: 240_000, limit: 200_000 }, c.entries, 200);
    expect(plan.kept).toEqual([]);
  });

  it("removes the agent's own copy of a tool result that was cut", () => {
    const c = giant(200_000);
    const last = c.entries.length - 1;
    c.entries[last] = { ...c.entries[last], toolUseResult: { stdout: "word ".repeat(9_000) } } as Entry;
    const plan = reactive({ kind: "too-long", tokens: 240_000, limit: 200_000 }, c.entries);
    expect(plan.kept.at(-1)).not.toHaveProperty("toolUseResult");
  });
});

describe("planReactive after a request that had too many bytes", () => {
  it("keeps the newest images and replaces older images in kept messages with the text [image]", () => {
    const c = longSession(20);
    c.attachment({ type: "queued_command", prompt: [image("A".repeat(1_000_000))] });
    for (const name of ["old", "new"]) {
      c.user([image("A".repeat(3_000_000)), { type: "text", text: `the ${name} picture` }]);
      c.assistant(`the ${name} one is fine`);
    }
    const plan = reactive({ kind: "too-large" }, c.entries, 100_000);
    const sizes = plan.kept.slice(-5).map((entry) => Math.round(JSON.stringify(entry).length / 1_000_000));
    expect(sizes).toEqual([0, 0, 0, 3, 0]);
    expect(JSON.stringify(plan.kept.slice(-5, -3))).toMatch(/\[image\].*\[image\].*the old picture/);
    expect(plan.isKeptRewritten).toBe(true);
  });

  it("leaves kept messages unchanged when their images are small", () => {
    const c = longSession(20);
    c.user([image(), { type: "text", text: "a small picture" }]);
    const plan = reactive({ kind: "too-large" }, c.entries, 100_000);
    expect(plan.kept.at(-1)).toBe(c.entries.at(-1));
    expect(plan.isKeptRewritten).toBe(false);
  });
});

describe("planReactive for any conversation and error", () => {
  it("any overflow plan accounts for every entry, limits the kept tokens and yields a valid request", async () => {
    const failure = fc.oneof(
      fc.constant<ModelFailure>({ kind: "too-large" }),
      fc.record({
        kind: fc.constant("too-long" as const),
        tokens: fc.integer({ min: 1, max: 400_000 }),
        limit: fc.integer({ min: 1, max: 300_000 }),
      }),
      fc.constant<ModelFailure>(TOO_LONG),
    );
    const target = fc.integer({ min: 3_000, max: 120_000 });
    await fc.assert(
      fc.asyncProperty(arbitraryEntries(), failure, target, async (generated, failed, targetTokens) => {
        fc.pre(!generated.some((entry) => entry?.type === "system" && entry.subtype === "compact_boundary"));
        const list = deepFreeze([...longSession(25).entries, ...generated.map(withoutUsage)]);
        const plan = planReactive({ entries: list }, { failure: failed, targetTokens });
        expect(plan.summarized.length + plan.kept.length).toBe(plan.entries.length);
        expect(indexPairs(plan.kept).orphanResults.length).toBeLessThanOrEqual(
          indexPairs(list).orphanResults.length,
        );
        const room = targetTokens - plan.overheadTokens;
        // An unseen result may use all available tokens, and its call is never left out.
        if (plan.unseen === undefined) expect(plan.keptTokens).toBeLessThanOrEqual(Math.max(0, room / 2) + 1);
        const compaction = await compact(plan, countingPorts(), { targetTokens, leastSaving: "some" }).catch(
          (error: unknown) => error,
        );
        if (compaction instanceof LonghaulError) expect(compaction.code).toBe("compaction-ineffective");
        else
          expect(
            apiRuleViolations(flatten(rebuild(compaction as Awaited<ReturnType<typeof compact>>))),
          ).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });
});
