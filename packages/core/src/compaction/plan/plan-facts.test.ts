import { describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../../../../test/support/builders.ts";
import { longSession } from "../../../../../test/support/long-session.ts";
import type { Entry } from "../../messages/entry.ts";
import { type PlanOptions, planCompaction } from "./compaction-plan.ts";
import { planReactive } from "./reactive.ts";

const context = {
  tokens: 10_000,
  source: "usage",
  reportedTokens: 10_000,
  estimatedTokens: 0,
  paddedTokens: 10_000,
} as const;

/** Ten messages of 100 tokens each by our estimate, and of 200 by the provider's count. */
const ten = new ConversationBuilder();
for (let at = 0; at < 10; at++) ten.user(`message ${at}`);
const measured = { tokensOf: () => 100, context, ratio: 2 };
const { entries } = ten;

describe("planCompaction", () => {
  it("plans a manual compaction by default, and scales token counts of texts to the provider's counts", () => {
    const countText = (text: string): number => text.length;
    const plan = planCompaction({ entries }, { measured, countText, keepRecentTokens: 400 });
    expect(plan).toMatchObject({ trigger: "manual", variant: "whole", keptTokens: 400, source: "usage" });
    expect(plan.countTokens("12345")).toBe(10);
  });

  it("keeps more messages than requested only if they, system prompt and tools together fit into the target", () => {
    const c = new ConversationBuilder();
    for (let at = 0; at < 8; at++) c.user(`message ${at}`);
    c.assistant("one part", { id: "response" });
    c.assistant("the other", { id: "response" });
    const kept = (overheadTokens: number): number =>
      planCompaction(
        { entries: c.entries },
        { measured: { ...measured, overheadTokens }, keepRecentTokens: 250, targetTokens: 4_000 },
      ).kept.length;
    expect(kept(3_200)).toBe(2);
    expect(kept(3_201)).toBe(0);
  });

  it("summarizes a conversation that has only replies, and skips values that are not entries", () => {
    const c = new ConversationBuilder();
    c.assistant("an answer");
    const list = [null, 7, ...c.entries, "text"] as unknown as readonly Entry[];
    const plan = planCompaction({ entries: list }, { keepRecentTokens: 0 });
    expect(plan.summarized).toEqual(c.entries);
    expect(plan.entries).toEqual(c.entries);
  });

  it("the error of an impossible plan says why it is impossible and what to do instead", () => {
    const failure = (list: readonly Entry[], options: PlanOptions): unknown => {
      try {
        return planCompaction({ entries: list }, options);
      } catch (error) {
        return error;
      }
    };
    const refused = (remedy: string, count: number): object => ({
      code: "not-enough-messages",
      message: expect.stringContaining("not enough messages"),
      remedy: expect.stringContaining(remedy),
      facts: { entries: count },
    });
    expect(failure([], {})).toMatchObject(refused("Use the session first", 0));
    const keepAll = { keepRecentTokens: 1_000_000 };
    expect(failure(entries, keepAll)).toMatchObject(refused("Keep fewer recent tokens", 10));
    expect(failure(entries, { variant: "up-to", at: 0 })).toMatchObject(
      refused("Choose a later message", 10),
    );
    const c = new ConversationBuilder();
    c.user("hi");
    c.summary("so far");
    expect(failure(c.entries, { variant: "from", at: 1 })).toMatchObject(
      refused("Choose an earlier message", 2),
    );
  });
});

describe("planReactive after a request that was too long", () => {
  const replanned = (failure: Parameters<typeof planReactive>[1]["failure"], targetTokens = 4_000) =>
    planReactive(
      { entries },
      { measured: { ...measured, ratio: 1, overheadTokens: 500 }, failure, targetTokens },
    );

  it("scales the tokens of system prompt and tools by the ratio of the size in the error to our count", () => {
    const plan = replanned({ kind: "too-long", tokens: 20_000, limit: 15_000 }, 12_000);
    expect(plan).toMatchObject({ tokensBefore: 20_000, tokenRatio: 2, variant: "whole" });
    expect(plan.overheadTokens).toBe(18_000);
    const smaller = planReactive(
      { entries },
      {
        measured: { ...measured, context: { ...context, tokens: 1_500 }, ratio: 1, overheadTokens: 700 },
        failure: { kind: "too-long", tokens: 3_000 },
        targetTokens: 9_000,
      },
    );
    expect(smaller.overheadTokens).toBe(1_400);
  });

  it("ignores a size or limit of zero or less in the error of a request", () => {
    const blind = replanned({ kind: "too-long" });
    for (const nothing of [0, -5]) {
      expect(replanned({ kind: "too-long", tokens: nothing, limit: nothing }).tokensBefore).toBe(
        blind.tokensBefore,
      );
    }
    expect(blind.tokensBefore).toBe(12_500);
    expect(replanned({ kind: "too-long", tokens: 0, limit: 30_000 }).tokensBefore).toBe(30_001);
  });

  it("after an overflow, kept messages get half of this amount: 80% of the limit minus the summary", () => {
    const own = { ...measured, context: { ...context, tokens: 1_000 }, ratio: 1, overheadTokens: 0 };
    const kept = (limit: number | undefined, targetTokens: number): number => {
      const failure = { kind: "too-long" as const, tokens: 1_000, ...(limit === undefined ? {} : { limit }) };
      return planReactive({ entries }, { measured: own, failure, targetTokens }).keptTokens;
    };
    expect(kept(2_000, 9_000)).toBe(400);
    expect(kept(undefined, 2_000)).toBe(500);
    expect(kept(3_000, 2_000)).toBe(500);
    // The plan never keeps the whole conversation again.
    expect(kept(900_000, 900_000)).toBe(800);
  });
});

describe("newest round of messages that is too long for a request", () => {
  const failure = { kind: "too-long", tokens: 240_000, limit: 200_000 } as const;
  const LONG = `first ${"word ".repeat(200_000)} last`;

  it("keeps a tool call together with its result when the result is cut to fit", () => {
    const c = longSession(10);
    c.tool("log", "Bash", { command: "cat log" }, LONG);
    c.push({ ...c.link(), type: "progress", data: {} });
    const plan = planReactive({ entries: c.entries }, { failure, targetTokens: 40_000 });
    expect(plan).toMatchObject({ trigger: "auto", variant: "whole", isKeptRewritten: true });
    expect(plan.kept.map(({ type }) => type)).toEqual(["assistant", "user", "progress"]);
    expect(plan.kept[0]).toBe(c.entries[40]);
    expect(plan.summarized).toEqual(c.entries.slice(0, 40));
  });

  it("summarizes an oversized newest message when there is nothing else to summarize", () => {
    const c = new ConversationBuilder();
    c.user(LONG);
    const plan = planReactive({ entries: c.entries }, { failure, targetTokens: 40_000 });
    expect([plan.summarized.length, plan.kept.length]).toEqual([1, 0]);
    const later = new ConversationBuilder();
    later.boundary();
    later.summary("so far");
    later.user(LONG);
    const again = planReactive({ entries: later.entries }, { failure, targetTokens: 40_000 });
    expect([again.summarized.length, again.kept.length]).toEqual([3, 0]);
  });

  it("summarizes an oversized tool result when an earlier summary separates it from its call", () => {
    const c = longSession(10);
    c.assistant([{ type: "tool_use", id: "log", name: "Bash", input: {} }]);
    c.summary("so far");
    c.user([{ type: "tool_result", tool_use_id: "log", content: LONG }]);
    const plan = planReactive({ entries: c.entries }, { failure, targetTokens: 40_000 });
    expect(plan.kept).toEqual([]);
  });

  it("cuts an oversized message to fit and keeps it when it directly follows an earlier summary", () => {
    const c = longSession(10);
    c.summary("so far");
    c.user(LONG);
    const plan = planReactive({ entries: c.entries }, { failure, targetTokens: 40_000 });
    expect(plan.kept).toHaveLength(1);
    expect(JSON.stringify(plan.kept)).toContain("left out: see the transcript");
  });

  it("keeps the images of the newest message when the request had too many tokens, not too many bytes", () => {
    const c = longSession(10);
    c.user([
      { type: "image", source: { type: "base64", media_type: "image/png", data: "A".repeat(6_000_000) } },
    ]);
    const plan = planReactive(
      { entries: c.entries },
      { failure: { kind: "too-long" }, targetTokens: 40_000 },
    );
    expect(plan.kept.at(-1)).toBe(c.entries.at(-1));
  });

  it("does not rewrite a newest message that already fits", () => {
    const c = longSession(10);
    c.user("short");
    const plan = planReactive({ entries: c.entries }, { failure, targetTokens: 40_000 });
    expect(plan.isKeptRewritten).toBe(false);
  });
});
