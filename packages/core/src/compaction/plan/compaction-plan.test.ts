import { describe, expect, it } from "vitest";
import { ConversationBuilder, toolResult, toolUse, usage } from "../../../../../test/support/builders.ts";
import { codeOf, longSession } from "../../../../../test/support/long-session.ts";
import { indexPairs } from "../../messages/pairs.ts";
import { planCompaction } from "./compaction-plan.ts";

describe("planCompaction", () => {
  it("keeps about the requested tokens of the newest messages and summarizes the rest", () => {
    const { entries } = longSession();
    const plan = planCompaction({ entries }, { keepRecentTokens: 5_000 });
    expect([...plan.summarized, ...plan.kept]).toEqual(entries);
    expect(plan.keptTokens).toBeGreaterThan(2_000);
    expect(plan.keptTokens).toBeLessThan(6_000);
  });

  it("never separates a tool call from its result, and never splits a response, for any number of tokens to keep", () => {
    const c = longSession(30);
    c.assistant([toolUse("p1", "Read", {})], { id: "P" });
    c.user([toolResult("p1", "x".repeat(9_000))]);
    c.assistant([toolUse("p2", "Read", {})], { id: "P" });
    c.user([toolResult("p2", "y".repeat(100))]);
    for (const keepRecentTokens of [1, 60, 500, 2_500, 8_000]) {
      const { kept } = planCompaction({ entries: c.entries }, { keepRecentTokens });
      expect(indexPairs(kept).orphanResults).toEqual([]);
      const ids = kept.filter((entry) => entry.type === "assistant" && entry.message.id === "P");
      expect([0, 2]).toContain(ids.length);
    }
  });

  it("keeps fewer tokens of recent messages by default when the token target is small", () => {
    const { entries } = longSession();
    expect(planCompaction({ entries }, { targetTokens: 20_000 }).keptTokens).toBeLessThanOrEqual(2_000);
  });

  it("keeps at most a quarter of a short conversation by default, and more if the caller requests more", () => {
    const { entries } = longSession(12);
    const plan = planCompaction({ entries });
    const messageTokens = plan.summarizedTokens + plan.keptTokens;
    expect(messageTokens).toBeLessThan(20_000);
    expect(plan.keptTokens).toBeGreaterThan(0);
    expect(plan.keptTokens).toBeLessThanOrEqual(messageTokens / 4);
    const usual = planCompaction({ entries }, { usualKeepRecentTokens: 50_000 });
    expect(usual.keptTokens).toBe(plan.keptTokens);
    const requested = planCompaction({ entries }, { keepRecentTokens: Math.floor(messageTokens * 0.6) });
    expect(requested.keptTokens).toBeGreaterThan(messageTokens / 2);
  });

  it("a forced plan summarizes anything, even an earlier summary alone", async () => {
    const c = new ConversationBuilder();
    c.boundary();
    const summary = c.summary("what was said ".repeat(100));
    const onlySummary = (): unknown => planCompaction({ entries: c.entries });
    expect(await codeOf(onlySummary)).toBe("not-enough-messages");
    expect(planCompaction({ entries: c.entries }, { force: true }).summarized).toContain(summary);
    c.user("and now?");
    expect(planCompaction({ entries: c.entries }, { force: true }).summarized).toContain(summary);
    const empty = (): unknown => planCompaction({ entries: [] }, { force: true });
    expect(await codeOf(empty)).toBe("not-enough-messages");
  });

  it("keeps no messages when 0 tokens are to be kept", () => {
    expect(planCompaction({ entries: longSession().entries }, { keepRecentTokens: 0 }).kept).toEqual([]);
  });

  it("counts reported tokens that the messages do not explain as tokens of system prompt and tools", () => {
    const c = new ConversationBuilder();
    c.user("word ".repeat(100));
    c.assistant("done", { usage: usage(30_000, 10) });
    c.user("next");
    const plan = planCompaction({ entries: c.entries }, { keepRecentTokens: 0 });
    expect(plan.overheadTokens).toBeGreaterThan(29_000);
    expect(plan.overheadTokens).toBeLessThan(30_010);
  });

  it("fails with 'not-enough-messages' when there is nothing to summarize", async () => {
    expect(await codeOf(async () => planCompaction({ entries: [] }))).toBe("not-enough-messages");
    const c = new ConversationBuilder();
    c.boundary();
    c.summary("earlier work");
    expect(await codeOf(async () => planCompaction({ entries: c.entries }))).toBe("not-enough-messages");
  });
});

describe("planCompaction at a picked message", () => {
  const { entries } = longSession(10);
  const uuidAt = (index: number): string => entries[index]?.uuid ?? "";

  it("the variant 'from' summarizes the picked message and later ones, and keeps earlier ones unchanged", () => {
    const plan = planCompaction({ entries }, { variant: "from", at: uuidAt(20) });
    expect(plan.kept).toEqual(entries.slice(0, 20));
    expect(plan.summarized).toEqual(entries.slice(20));
    expect(plan).toMatchObject({ variant: "from", keptPlace: "before" });
    for (const [index, entry] of plan.kept.entries()) expect(entry).toBe(entries[index]);
  });

  it("the variant 'up-to' summarizes the messages before the picked one and keeps all others", () => {
    const plan = planCompaction({ entries }, { variant: "up-to", at: uuidAt(20) });
    expect(plan.summarized).toEqual(entries.slice(0, 20));
    expect(plan.kept).toEqual(entries.slice(20));
    expect(plan).toMatchObject({ variant: "up-to", keptPlace: "after" });
    expect(plan.keptTokens + plan.summarizedTokens + plan.overheadTokens).toBeCloseTo(plan.tokensBefore, -1);
  });

  it("accepts the picked message as an index that counts from the last boundary", () => {
    const c = new ConversationBuilder();
    c.user("long gone");
    c.boundary();
    c.summary("earlier work");
    for (let turn = 0; turn < 4; turn++) {
      c.user(`later request ${turn}`);
      c.assistant(`later answer ${turn}`);
    }
    const plan = planCompaction({ entries: c.entries }, { variant: "up-to", at: 4 });
    expect(plan.kept[0]).toBe(c.entries[5]);
  });

  it("never separates a tool call from its result at the picked message", () => {
    const result = entries.findIndex((entry) => JSON.stringify(entry).includes('"tool_result"'));
    for (const variant of ["from", "up-to"] as const) {
      const at = uuidAt(result + 4);
      const { kept, summarized } = planCompaction({ entries }, { variant, at });
      expect(indexPairs(kept).orphanResults).toEqual([]);
      expect(indexPairs(summarized).orphanResults).toEqual([]);
      expect(indexPairs(kept).unanswered).toEqual([]);
    }
  });

  it("fails with 'message-not-found' when the picked message does not exist", async () => {
    for (const at of ["nowhere", 400, -1, 1.5, Number.NaN, undefined]) {
      for (const variant of ["from", "up-to"] as const) {
        expect(await codeOf(() => planCompaction({ entries }, { variant, at }))).toBe("message-not-found");
      }
    }
  });

  it("fails with 'not-enough-messages' when no message precedes the one picked for the variant 'up-to'", async () => {
    const plan = { variant: "up-to", at: 0 } as const;
    expect(await codeOf(() => planCompaction({ entries }, plan))).toBe("not-enough-messages");
  });

  it("keeps the leading summary only in the variant 'from', and keeps a boundary in no variant", () => {
    const c = new ConversationBuilder();
    c.boundary();
    const summary = c.summary("earlier work");
    for (let turn = 0; turn < 6; turn++) {
      c.user(`request ${turn}`);
      c.assistant(`answer ${turn}`);
    }
    const from = planCompaction({ entries: c.entries }, { variant: "from", at: 6 });
    expect(from.kept[0]).toBe(summary);
    const upTo = planCompaction({ entries: c.entries }, { variant: "up-to", at: 6 });
    expect(upTo.summarized).toContain(summary);
    expect([...from.kept, ...upTo.kept].some((entry) => entry.type === "system")).toBe(false);
    const pickedSummary = planCompaction({ entries: c.entries }, { variant: "from", at: 1 });
    expect(pickedSummary.kept).toEqual([]);
  });

  it("summarizes an earlier summary and all messages before it, however many tokens may be kept", () => {
    const c = new ConversationBuilder();
    c.user("kept question");
    c.assistant("kept answer");
    c.summary("what followed them");
    const later = c.user("later");
    const plan = planCompaction({ entries: c.entries }, { keepRecentTokens: 1_000_000 });
    expect(plan.kept).toEqual([later]);
  });

  it("the variant 'up-to' keeps everything from the picked message on, including a later summary", () => {
    const c = new ConversationBuilder();
    c.user("old question");
    const answer = c.assistant("kept answer");
    c.summary("what followed them");
    c.user("later");
    c.assistant("later answer");
    const plan = planCompaction({ entries: c.entries }, { variant: "up-to", at: 1 });
    expect(plan.kept[0]).toBe(answer);
    expect(plan.kept).toHaveLength(4);
  });
});

describe("token counts of a plan", () => {
  it("uses token counts that the caller passes and counts no text again", () => {
    const { entries } = longSession(20);
    const countText = (): number => {
      throw new Error("measured again");
    };
    const context = {
      tokens: 40_000,
      source: "usage",
      reportedTokens: 39_000,
      estimatedTokens: 1_000,
      paddedTokens: 41_000,
    } as const;
    const measured = { tokensOf: () => 100, context, ratio: 1.5 };
    const plan = planCompaction({ entries }, { countText, measured, keepRecentTokens: 600 });
    expect(plan.tokensBefore).toBe(40_000);
    expect(plan.kept).toEqual(entries.slice(-4));
    expect(plan).toMatchObject({ keptTokens: 600, summarizedTokens: 76 * 150, tokenRatio: 1.5 });
    expect(plan.overheadTokens).toBe(40_000 - 80 * 150);
  });

  it("a plan keeps cleared tool results as requests contain them, without their old content", () => {
    const c = longSession(10);
    const ids = new Set(c.entries.flatMap((entry) => [...indexPairs([entry]).pairs.keys()]));
    const plan = planCompaction({ entries: c.entries, clearedToolUseIds: ids }, { keepRecentTokens: 300 });
    expect(plan.isKeptRewritten).toBe(true);
    expect(JSON.stringify(plan.kept)).not.toContain("line of part");
    expect(planCompaction({ entries: c.entries }, { keepRecentTokens: 300 }).isKeptRewritten).toBe(false);
  });

  it("keeps all parts of a response up to twice the requested tokens, and summarizes a larger response", () => {
    const last = (words: number): ConversationBuilder => {
      const c = new ConversationBuilder();
      for (let turn = 0; turn < 9; turn++) c.user("word ".repeat(2_100));
      c.assistant("one part", { id: "big" });
      c.assistant("word ".repeat(words), { id: "big" });
      return c;
    };
    const keep = (words: number, targetTokens?: number): number =>
      planCompaction({ entries: last(words).entries }, { keepRecentTokens: 1_000, targetTokens }).kept.length;
    expect(keep(900)).toBe(2);
    expect(keep(1_300)).toBe(2);
    expect(keep(4_000)).toBe(0);
    // If the target has no room for more, the requested tokens are the limit.
    expect(keep(1_300, 2_000)).toBe(0);
    expect(keep(900, 2_000)).toBe(2);
  });
});
