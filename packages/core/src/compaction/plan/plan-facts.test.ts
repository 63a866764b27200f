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

/** Ten messages of 100 of our tokens each, of which the provider makes 200. */
const ten = new ConversationBuilder();
for (let at = 0; at < 10; at++) ten.user(`message ${at}`);
const measured = { tokensOf: () => 100, context, ratio: 2 };
const { entries } = ten;

describe("a plan", () => {
  it("is manual unless it says otherwise, and counts texts as the provider does", () => {
    const countText = (text: string): number => text.length;
    const plan = planCompaction({ entries }, { measured, countText, keepRecentTokens: 400 });
    expect(plan).toMatchObject({ trigger: "manual", variant: "whole", keptTokens: 400, source: "usage" });
    expect(plan.countTokens("12345")).toBe(10);
  });

  it("passes the wish only where the target leaves the room for it, less what goes with every call", () => {
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

  it("summarizes answers alone too, and reads past what is no entry", () => {
    const c = new ConversationBuilder();
    c.assistant("an answer");
    const list = [null, 7, ...c.entries, "text"] as unknown as readonly Entry[];
    const plan = planCompaction({ entries: list }, { keepRecentTokens: 0 });
    expect(plan.summarized).toEqual(c.entries);
    expect(plan.entries).toEqual(c.entries);
  });

  it("that is impossible says why, and what to do instead", () => {
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
    expect(failure([], {})).toMatchObject(refused("Nothing has been said", 0));
    const wholly = { keepRecentTokens: 1_000_000 };
    expect(failure(entries, wholly)).toMatchObject(refused("Keep fewer recent tokens", 10));
    expect(failure(entries, { variant: "up-to", at: 0 })).toMatchObject(refused("Choose a later one", 10));
    const c = new ConversationBuilder();
    c.user("hi");
    c.summary("so far");
    expect(failure(c.entries, { variant: "from", at: 1 })).toMatchObject(refused("Choose an earlier one", 2));
  });
});

describe("a plan after a call that was too long", () => {
  const replanned = (failure: Parameters<typeof planReactive>[1]["failure"], targetTokens = 4_000) =>
    planReactive(
      { entries },
      { measured: { ...measured, ratio: 1, overheadTokens: 500 }, failure, targetTokens },
    );

  it("takes what goes with every call for as much larger as the error says that all is", () => {
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

  it("believes in no size or limit of nothing", () => {
    const blind = replanned({ kind: "too-long" });
    for (const nothing of [0, -5]) {
      expect(replanned({ kind: "too-long", tokens: nothing, limit: nothing }).tokensBefore).toBe(
        blind.tokensBefore,
      );
    }
    expect(blind.tokensBefore).toBe(12_500);
    expect(replanned({ kind: "too-long", tokens: 0, limit: 30_000 }).tokensBefore).toBe(30_001);
  });

  it("keeps half of what the summary leaves of the room below four fifths of the limit", () => {
    const own = { ...measured, context: { ...context, tokens: 1_000 }, ratio: 1, overheadTokens: 0 };
    const kept = (limit: number | undefined, targetTokens: number): number => {
      const failure = { kind: "too-long" as const, tokens: 1_000, ...(limit === undefined ? {} : { limit }) };
      return planReactive({ entries }, { measured: own, failure, targetTokens }).keptTokens;
    };
    expect(kept(2_000, 9_000)).toBe(400);
    expect(kept(undefined, 2_000)).toBe(500);
    expect(kept(3_000, 2_000)).toBe(500);
    // Never all of it again.
    expect(kept(900_000, 900_000)).toBe(800);
  });
});

describe("a newest round that is too long", () => {
  const failure = { kind: "too-long", tokens: 240_000, limit: 200_000 } as const;
  const LONG = `first ${"word ".repeat(200_000)} last`;

  it("is kept whole: a call with the result that is cut", () => {
    const c = longSession(10);
    c.tool("log", "Bash", { command: "cat log" }, LONG);
    c.push({ ...c.link(), type: "progress", data: {} });
    const plan = planReactive({ entries: c.entries }, { failure, targetTokens: 40_000 });
    expect(plan).toMatchObject({ trigger: "auto", variant: "whole", isKeptRewritten: true });
    expect(plan.kept.map(({ type }) => type)).toEqual(["assistant", "user", "progress"]);
    expect(plan.kept[0]).toBe(c.entries[40]);
    expect(plan.summarized).toEqual(c.entries.slice(0, 40));
  });

  it("is summarized where nothing else is there to summarize", () => {
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

  it("is summarized with an earlier summary that stands inside it", () => {
    const c = longSession(10);
    c.assistant([{ type: "tool_use", id: "log", name: "Bash", input: {} }]);
    c.summary("so far");
    c.user([{ type: "tool_result", tool_use_id: "log", content: LONG }]);
    const plan = planReactive({ entries: c.entries }, { failure, targetTokens: 40_000 });
    expect(plan.kept).toEqual([]);
  });

  it("may follow a summary directly", () => {
    const c = longSession(10);
    c.summary("so far");
    c.user(LONG);
    const plan = planReactive({ entries: c.entries }, { failure, targetTokens: 40_000 });
    expect(plan.kept).toHaveLength(1);
    expect(JSON.stringify(plan.kept)).toContain("left out here");
  });

  it("keeps its pictures where it was not their bytes that were too many", () => {
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

  it("is not rewritten where cutting it down was not needed", () => {
    const c = longSession(10);
    c.user("short");
    const plan = planReactive({ entries: c.entries }, { failure, targetTokens: 40_000 });
    expect(plan.isKeptRewritten).toBe(false);
  });
});
