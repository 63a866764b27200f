import { describe, expect, it } from "vitest";
import { ConversationBuilder, toolResult, toolUse, usage } from "../../test/support/builders.ts";
import { codeOf, longSession } from "../../test/support/long-session.ts";
import { indexPairs } from "../conversation/pairs.ts";
import { planCompaction } from "./plan.ts";

describe("a plan", () => {
  it("keeps about the asked tokens of the newest messages and summarises the rest", () => {
    const { entries } = longSession();
    const plan = planCompaction({ entries }, { keepRecentTokens: 5_000 });
    expect([...plan.summarised, ...plan.kept]).toEqual(entries);
    expect(plan.keptTokens).toBeGreaterThan(2_000);
    expect(plan.keptTokens).toBeLessThan(6_000);
  });

  it("never splits a pair or a message id, whatever is asked", () => {
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

  it("keeps less by default where the window is small", () => {
    const { entries } = longSession();
    expect(planCompaction({ entries }, { targetTokens: 20_000 }).keptTokens).toBeLessThanOrEqual(2_000);
  });

  it("keeps nothing when 0 tokens are to be kept", () => {
    expect(planCompaction({ entries: longSession().entries }, { keepRecentTokens: 0 }).kept).toEqual([]);
  });

  it("knows what the host sends besides messages from the difference to the reported usage", () => {
    const c = new ConversationBuilder();
    c.user("word ".repeat(100));
    c.assistant("done", { usage: usage(30_000, 10) });
    c.user("next");
    const plan = planCompaction({ entries: c.entries }, { keepRecentTokens: 0 });
    expect(plan.overheadTokens).toBeGreaterThan(29_000);
    expect(plan.overheadTokens).toBeLessThan(30_010);
  });

  it("fails with 'not enough messages' when there is nothing to summarise", async () => {
    expect(await codeOf(async () => planCompaction({ entries: [] }))).toBe("not-enough-messages");
    const c = new ConversationBuilder();
    c.boundary();
    c.summary("earlier work");
    expect(await codeOf(async () => planCompaction({ entries: c.entries }))).toBe("not-enough-messages");
  });
});
