import { describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../../../../test/support/builders.ts";
import { cutForRecent, cutFrom, cutUpTo, firstAfterSummary } from "./choose-cut.ts";

/** 0 said, 1 call, 2 its result, 3 said, 4 call, 5 its result. */
function talk(): ConversationBuilder {
  const c = new ConversationBuilder();
  c.user("one");
  c.tool("a", "Read", {}, "of a");
  c.user("two");
  c.tool("b", "Read", {}, "of b");
  return c;
}

describe("the cut before the newest messages", () => {
  const { entries } = talk();
  const cut = (tokens: readonly number[], keepTokens: number, mostTokens = 2 * keepTokens): number =>
    cutForRecent(entries, tokens, { keepTokens, mostTokens });

  it("keeps as many as fit into the wish, to the token", () => {
    expect(cut([10, 10, 10, 10, 10, 10], 30)).toBe(3);
    expect(cut([10, 10, 10, 10, 10, 10], 29)).toBe(4);
    expect(cut([10, 10, 10, 10, 10, 10], 60)).toBe(0);
    expect(cut([10, 10, 10, 10, 10, 10], 600)).toBe(0);
  });

  it("moves back to keep a call with its result, up to the most, to the token", () => {
    expect(cut([10, 10, 10, 10, 90, 10], 50, 100)).toBe(4);
    expect(cut([10, 10, 10, 10, 91, 10], 50, 100)).toBe(6);
    expect(cut([10, 10, 10, 10, 10, 90], 50, 100)).toBe(4);
    expect(cut([10, 10, 10, 10, 10, 91], 50, 100)).toBe(6);
  });

  it("falls back on what fits by itself where a pair before it is too much", () => {
    expect(cut([10, 500, 10, 10, 10, 10], 45, 100)).toBe(3);
  });

  it("keeps nothing where nothing is to be kept, not even what costs nothing", () => {
    const c = talk();
    c.push({ ...c.link(), type: "progress", data: {} });
    const tokens = [10, 10, 10, 10, 10, 10, 0];
    for (const keepTokens of [0, -5])
      expect(cutForRecent(c.entries, tokens, { keepTokens, mostTokens: 100 })).toBe(7);
    expect(cutForRecent([], [], { keepTokens: 10, mostTokens: 20 })).toBe(0);
  });

  it("keeps a single message that is larger than the wish, up to the most", () => {
    const c = new ConversationBuilder();
    c.user("one");
    c.user("two");
    const keep = (last: number): number =>
      cutForRecent(c.entries, [10, last], { keepTokens: 50, mostTokens: 100 });
    expect([keep(100), keep(101)]).toEqual([1, 2]);
  });

  it("comes after an earlier summary, and after a pair in whose middle that stands", () => {
    const c = new ConversationBuilder();
    c.assistant([{ type: "tool_use", id: "a", name: "Read", input: {} }]);
    c.summary("so far");
    c.user([{ type: "tool_result", tool_use_id: "a", content: "late" }]);
    c.user("two");
    expect(firstAfterSummary(c.entries)).toBe(2);
    const tokens = [10, 10, 10, 10];
    expect(cutForRecent(c.entries, tokens, { keepTokens: 100, mostTokens: 100 })).toBe(3);
    expect(cutUpTo(c.entries, 0)).toBe(0);
  });
});

describe("the cut at a message that was picked", () => {
  const { entries } = talk();

  it("is there, or before the call whose result was picked", () => {
    const picked = [0, 1, 2, 3, 4, 5];
    expect(picked.map((at) => cutFrom(entries, at))).toEqual([0, 1, 1, 3, 4, 4]);
    expect(picked.map((at) => cutUpTo(entries, at))).toEqual([0, 1, 1, 3, 4, 4]);
  });

  it("leaves an earlier summary before it only where what came before is kept", () => {
    const c = talk();
    c.boundary();
    c.summary("so far");
    c.user("three");
    expect(firstAfterSummary(c.entries)).toBe(8);
    expect(cutUpTo(c.entries, 3)).toBe(8);
    expect(cutFrom(c.entries, 3)).toBe(3);
    expect(firstAfterSummary(entries)).toBe(0);
  });

  it("keeps a summary that follows the picked message", () => {
    const c = new ConversationBuilder();
    c.boundary();
    c.summary("of the beginning");
    c.user("kept");
    c.assistant("kept too");
    c.user("picked");
    c.assistant("an answer");
    c.summary("of the end");
    c.user("newest");
    expect(cutUpTo(c.entries, 4)).toBe(4);
    expect(cutUpTo(c.entries, 1)).toBe(2);
  });
});
