import { describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../../../../test/support/builders.ts";
import { cutForRecent, cutFrom, cutUpTo, firstAfterSummary } from "./choose-cut.ts";

/** Entries: 0 message, 1 call, 2 result, 3 message, 4 call, 5 result. */
function talk(): ConversationBuilder {
  const c = new ConversationBuilder();
  c.user("one");
  c.tool("a", "Read", {}, "of a");
  c.user("two");
  c.tool("b", "Read", {}, "of b");
  return c;
}

describe("cutForRecent", () => {
  const { entries } = talk();
  const cut = (tokens: readonly number[], keepTokens: number, mostTokens = 2 * keepTokens): number =>
    cutForRecent(entries, tokens, { keepTokens, mostTokens });

  it("keeps exactly as many recent messages as fit into the requested tokens", () => {
    expect(cut([10, 10, 10, 10, 10, 10], 30)).toBe(3);
    expect(cut([10, 10, 10, 10, 10, 10], 29)).toBe(4);
    expect(cut([10, 10, 10, 10, 10, 10], 60)).toBe(0);
    expect(cut([10, 10, 10, 10, 10, 10], 600)).toBe(0);
  });

  it("keeps a tool call with its result even above the requested tokens, up to the maximum tokens", () => {
    expect(cut([10, 10, 10, 10, 90, 10], 50, 100)).toBe(4);
    expect(cut([10, 10, 10, 10, 91, 10], 50, 100)).toBe(6);
    expect(cut([10, 10, 10, 10, 10, 90], 50, 100)).toBe(4);
    expect(cut([10, 10, 10, 10, 10, 91], 50, 100)).toBe(6);
  });

  it("keeps only the messages that fit when the tool call and result before them are too large", () => {
    expect(cut([10, 500, 10, 10, 10, 10], 45, 100)).toBe(3);
  });

  it("keeps no entries when zero or fewer tokens are requested, not even entries without tokens", () => {
    const c = talk();
    c.push({ ...c.link(), type: "progress", data: {} });
    const tokens = [10, 10, 10, 10, 10, 10, 0];
    for (const keepTokens of [0, -5])
      expect(cutForRecent(c.entries, tokens, { keepTokens, mostTokens: 100 })).toBe(7);
    expect(cutForRecent([], [], { keepTokens: 10, mostTokens: 20 })).toBe(0);
  });

  it("keeps a newest message that is larger than the requested tokens, up to the maximum tokens", () => {
    const c = new ConversationBuilder();
    c.user("one");
    c.user("two");
    const keep = (last: number): number =>
      cutForRecent(c.entries, [10, last], { keepTokens: 50, mostTokens: 100 });
    expect([keep(100), keep(101)]).toEqual([1, 2]);
  });

  it("keeps only messages after an earlier summary, and no tool result whose call precedes that summary", () => {
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

describe("cutUpTo and cutFrom", () => {
  const { entries } = talk();

  it("divides the conversation at the picked message, or before the call when a tool result was picked", () => {
    const picked = [0, 1, 2, 3, 4, 5];
    expect(picked.map((at) => cutFrom(entries, at))).toEqual([0, 1, 1, 3, 4, 4]);
    expect(picked.map((at) => cutUpTo(entries, at))).toEqual([0, 1, 1, 3, 4, 4]);
  });

  it("cutUpTo never cuts before the summary that follows a boundary, but cutFrom does", () => {
    const c = talk();
    c.boundary();
    c.summary("so far");
    c.user("three");
    expect(firstAfterSummary(c.entries)).toBe(8);
    expect(cutUpTo(c.entries, 3)).toBe(8);
    expect(cutFrom(c.entries, 3)).toBe(3);
    expect(firstAfterSummary(entries)).toBe(0);
  });

  it("cutUpTo keeps a summary that follows the picked message", () => {
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
