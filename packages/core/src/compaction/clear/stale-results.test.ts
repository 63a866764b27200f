import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryWork, indexOf, textOf, tokensOf, work } from "../../../../../test/clear/work.ts";
import { ConversationBuilder, image, toolResult, toolUse } from "../../../../../test/support/builders.ts";
import { deepFreeze } from "../../../../../test/support/deep-freeze.ts";
import { MEDIA_TOKENS } from "../../measure/tokens/measure.ts";
import type { Entry } from "../../messages/entry.ts";
import type { ContentBlock } from "../../messages/message.ts";
import { CLEARED_RESULT_TEXT } from "../../messages/stand-ins.ts";
import { ResultIndex } from "./stale-results.ts";

const PLACEHOLDER_TOKENS = tokensOf({ type: "tool_result", tool_use_id: "x", content: CLEARED_RESULT_TEXT });

const idsOf = (index: ResultIndex): readonly string[] => index.results().map(({ id }) => id);
const totals = (index: ResultIndex): readonly number[] => [index.activeCount, index.eligibleTokens];

describe("ResultIndex", () => {
  it("ResultIndex lists existing results of eligible tools, oldest first, with their token counts", () => {
    const talk = new ConversationBuilder();
    talk.tool("a", "Read", {}, textOf(100));
    talk.tool("b", "AskUserQuestion", {}, textOf(100));
    talk.tool("c", "Bash", {}, textOf(50));
    talk.tool("d", "Grep", {});
    const index = indexOf(talk.entries);
    expect(idsOf(index)).toEqual(["a", "c"]);
    expect(totals(index)).toEqual([2, 150]);
    expect(index.placeholderTokens).toBe(PLACEHOLDER_TOKENS);
  });

  it("matches names of eligible tools exactly, and uses the caller's list instead of the default list", () => {
    const talk = new ConversationBuilder();
    talk.tool("a", "READ", {}, textOf(100));
    talk.tool("b", "my_tool", {}, textOf(100));
    talk.tool("c", "Read", {}, textOf(100));
    expect(idsOf(indexOf(talk.entries))).toEqual(["c"]);
    expect(idsOf(indexOf(talk.entries, { tools: ["my_tool"] }))).toEqual(["b"]);
    expect(idsOf(indexOf(talk.entries, { tools: undefined }))).toEqual(["c"]);
  });

  it("ignores tool results that are already cleared or at most as long as the placeholder", () => {
    const talk = new ConversationBuilder();
    talk.tool("a", "Read", {}, CLEARED_RESULT_TEXT);
    talk.tool("b", "Read", {}, [{ type: "text", text: CLEARED_RESULT_TEXT }]);
    talk.tool("c", "Read", {}, textOf(PLACEHOLDER_TOKENS));
    talk.tool("d", "Read", {}, textOf(PLACEHOLDER_TOKENS + 1));
    talk.tool("e", "Read", {}, "");
    expect(idsOf(indexOf(talk.entries))).toEqual(["d"]);
  });

  it("counts tool results that are errors or contain media like other tool results", () => {
    const talk = new ConversationBuilder();
    talk.assistant([toolUse("a", "Read", {}), toolUse("b", "Read", {})]);
    talk.user([toolResult("a", textOf(100), true), toolResult("b", [image()])]);
    expect(totals(indexOf(talk.entries))).toEqual([2, 100 + MEDIA_TOKENS]);
  });

  it("indexes a tool result that precedes its call at the position of the result", () => {
    const [, firstUse, firstResult, ...rest] = work(100, 200);
    const index = indexOf([firstResult, ...rest, firstUse] as readonly Entry[]);
    expect(idsOf(index)).toEqual(["t0", "t1"]);
    const growing = new ResultIndex();
    for (const [at, entry] of ([firstResult, ...rest, firstUse] as readonly Entry[]).entries()) {
      growing.add(entry, at, tokensOf);
      growing.results();
    }
    expect(idsOf(growing)).toEqual(["t0", "t1"]);
  });

  it("counts a repeated tool result once, at the position of its last copy", () => {
    const entries = work(100, 200, 300);
    const index = indexOf([...entries, entries[2] as Entry]);
    expect(idsOf(index)).toEqual(["t1", "t2", "t0"]);
    expect(totals(index)).toEqual([3, 600]);
    expect(index.describe("size", index.results().slice(2)).results).toMatchObject([
      { id: "t0", entryIndex: 2, repeatedAt: [7] },
    ]);
  });

  it("counts the longest of several tool results with the same id", () => {
    const talk = new ConversationBuilder();
    talk.tool("a", "Read", {}, textOf(100));
    talk.user([toolResult("a", textOf(300)), toolResult("a", textOf(200))]);
    talk.user([toolResult("a", textOf(100)), toolResult("a", textOf(100))]);
    const index = indexOf(talk.entries);
    expect(totals(index)).toEqual([1, 300]);
    expect(index.describe("size", index.results()).results).toEqual([
      { id: "a", tool: "Read", tokens: 300, entryIndex: 1, repeatedAt: [2, 3] },
    ]);
  });

  it("ignores a repeated tool result when the placeholders for all copies would be longer than the copies", () => {
    const talk = new ConversationBuilder();
    talk.tool("a", "Read", {}, textOf(PLACEHOLDER_TOKENS + 1));
    talk.user([toolResult("a", "x")]);
    expect(totals(indexOf(talk.entries))).toEqual([0, 0]);
  });

  it("ignores tool results whose call id is also the id of a call of an ineligible tool", () => {
    const talk = new ConversationBuilder();
    talk.tool("a", "Read", {}, textOf(100));
    expect(indexOf(talk.entries).activeCount).toBe(1);
    talk.tool("a", "AskUserQuestion", {}, textOf(100));
    expect(totals(indexOf(talk.entries))).toEqual([0, 0]);
    talk.tool("a", "Read", {}, textOf(100));
    expect(totals(indexOf(talk.entries))).toEqual([0, 0]);
  });

  it("ignores tool calls that were never sent to a model", () => {
    const talk = new ConversationBuilder();
    talk.tool("a", "Read", {}, textOf(100), { isApiErrorMessage: true });
    expect(indexOf(talk.entries).activeCount).toBe(0);
  });

  it("finds the path of a file read in every input field that file tools use for a path", () => {
    const talk = new ConversationBuilder();
    talk.tool("a", "Read", { file_path: "/a" }, textOf(100));
    talk.tool("b", "read_file", { path: "/b" }, textOf(100));
    talk.tool("c", "Edit", { file_path: "/c" }, textOf(100));
    talk.tool("d", "Read", { file_path: 7 }, textOf(100));
    talk.tool("e", "Read", { file_path: "/a", offset: 9 }, textOf(100));
    const index = indexOf(talk.entries);
    const { paths, results, tools } = index.describe("size", index.results());
    expect(paths).toEqual(["/a", "/b"]);
    expect(results.map(({ path }) => path)).toEqual(["/a", "/b", undefined, undefined, "/a"]);
    expect(tools).toEqual(["Edit", "Read", "read_file"]);
  });

  it("finds the path in an editor tool's view command and in the caller's own file tools", () => {
    const talk = new ConversationBuilder();
    talk.tool("a", "str_replace_editor", { command: "view", path: "/a" }, textOf(100));
    talk.tool("b", "str_replace_editor", { command: "insert", path: "/b" }, textOf(100));
    talk.tool("c", "slurp", { filename: "/c" }, textOf(100));
    const usual = indexOf(talk.entries);
    expect(usual.describe("size", usual.results()).paths).toEqual(["/a"]);
    const own = indexOf(talk.entries, { tools: ["slurp"], fileTools: new Map([["slurp", "read"]]) });
    expect(own.describe("size", own.results()).paths).toEqual(["/c"]);
  });

  it("ResultIndex forgets a cleared tool result, and counts it again when the result is added again", () => {
    const entries = work(100, 200, 300);
    const index = indexOf(entries);
    index.applied(index.describe("size", index.results().slice(0, 2)));
    expect(idsOf(index)).toEqual(["t2"]);
    expect(totals(index)).toEqual([1, 300]);
    index.add(entries[2] as Entry, 7, tokensOf);
    expect(idsOf(index)).toEqual(["t2", "t0"]);
    expect(index.describe("size", index.results()).results[1]).toMatchObject({ entryIndex: 7 });
  });

  it("omits path and repetitions from the description of a tool result that has neither", () => {
    const talk = new ConversationBuilder();
    talk.tool("a", "Bash", {}, textOf(100));
    const index = indexOf(talk.entries);
    expect(index.describe("size", index.results()).results).toStrictEqual([
      { id: "a", tool: "Bash", tokens: 100, entryIndex: 1 },
    ]);
  });

  it("indexes only tool_use blocks of the assistant and tool_result blocks of the user", () => {
    const talk = new ConversationBuilder();
    const long = textOf(100);
    talk.user([toolUse("a", "Read", {}), toolResult("a", long)]);
    talk.assistant([toolUse("b", "Read", {}), toolResult("b", long)]);
    talk.assistant([{ ...toolUse("c", "Read", {}), type: "server_tool_use" } as unknown as ContentBlock]);
    talk.assistant([toolUse("d", "Read", {})]);
    talk.user([
      toolResult("c", long),
      { ...toolResult("d", long), type: "other_result" } as unknown as ContentBlock,
    ]);
    expect(totals(indexOf(talk.entries))).toEqual([0, 0]);
  });

  it("counts the uncleared copy of a tool result whose other copy is cleared", () => {
    const talk = new ConversationBuilder();
    talk.tool("a", "Read", {}, CLEARED_RESULT_TEXT);
    talk.user([toolResult("a", textOf(100))]);
    const index = indexOf(talk.entries);
    expect(index.describe("size", index.results()).results).toMatchObject([{ entryIndex: 2 }]);
    expect(index.describe("size", index.results()).results[0]).not.toHaveProperty("repeatedAt");
  });

  it("ResultIndex ignores tool results of another conversation", () => {
    const index = indexOf(work(100));
    const other = indexOf([...work(100, 100), ...work(100, 100, 100)].slice(3));
    const foreign = other.describe("size", other.results());
    index.applied({ ...foreign, results: foreign.results.filter(({ id }) => id !== "t0") });
    expect(totals(index)).toEqual([1, 100]);
    expect(index.describe("size", other.results()).results.map(({ id }) => id)).toEqual(["t0"]);
  });

  it("does not describe tool results that were cleared in the meantime or that have no call", () => {
    const index = indexOf(work(100, 100));
    const chosen = index.results();
    index.applied(index.describe("size", chosen.slice(0, 1)));
    expect(index.describe("size", chosen)).toMatchObject({ results: [{ id: "t1" }], tokensBefore: 100 });
    const withoutCalls = indexOf(work(100, 100).filter(({ type }) => type !== "assistant"));
    expect(withoutCalls.describe("size", chosen).results).toEqual([]);
  });

  it("does not sort tool results again while new ones arrive in order", () => {
    const entries = work(100, 100, 100);
    const index = indexOf(entries.slice(0, 3));
    index.add(entries[2] as Entry, 2, tokensOf);
    for (const at of [3, 4]) index.add(entries[at] as Entry, at, tokensOf);
    const before = index.results();
    for (const [at, entry] of entries.slice(5).entries()) index.add(entry, 5 + at, tokensOf);
    expect(index.results()).toBe(before);
    expect(idsOf(index)).toEqual(["t0", "t1", "t2"]);
  });

  it("reports from which index on assistant entries may have been written after a cleared tool result", () => {
    const talk = new ConversationBuilder();
    talk.user("go on");
    talk.assistant("first", { id: "r" });
    talk.assistant([toolUse("a", "Read", {})], { id: "r" });
    talk.user([toolResult("a", textOf(100))]);
    talk.tool("b", "Read", {}, textOf(100));
    const index = indexOf(talk.entries);
    const from = (at: number): number =>
      index.describe("size", index.results().slice(at, at + 1)).followedFrom;
    expect([from(0), from(1)]).toEqual([2, 5]);
    expect(index.describe("size", index.results()).followedFrom).toBe(2);
    talk.tool("a", "Read", {}, textOf(100));
    const repeated = indexOf(talk.entries);
    expect(repeated.describe("size", repeated.results().slice(1)).followedFrom).toBe(2);
  });

  it("ignores a tool result whose token count is negative, infinite or not a number", () => {
    const [prompt, use, result, ...rest] = work(100, 200) as [Entry, Entry, Entry, ...Entry[]];
    for (const odd of [Number.NaN, -5, Number.POSITIVE_INFINITY]) {
      const index = indexOf([prompt, use]);
      index.add(result, 2, () => odd);
      for (const [at, entry] of rest.entries()) index.add(entry, 3 + at, tokensOf);
      expect(totals(index)).toEqual([1, 200]);
    }
  });

  it("ResultIndex never throws on malformed entries", () => {
    const odd = [
      null,
      7,
      { type: "user", message: { content: [{ type: "tool_result", tool_use_id: 7, content: "x" }] } },
      { type: "user", message: { content: [{ type: "tool_result" }, null, "text"] } },
      {
        type: "assistant",
        message: {
          content: [
            { type: "tool_use", id: 7 },
            { type: "tool_use", id: "a" },
          ],
        },
      },
      { type: "assistant", message: { content: [{ type: "tool_use", id: "b", name: 7, input: 3 }] } },
      { type: "assistant" },
    ] as unknown as Entry[];
    expect(totals(indexOf(odd))).toEqual([0, 0]);
  });

  it("a result index built entry by entry equals an index built at once, and no entry changes", () => {
    const summary = (index: ResultIndex): unknown => index.describe("size", index.results());
    fc.assert(
      fc.property(arbitraryWork(), (entries) => {
        deepFreeze(entries);
        const growing = new ResultIndex();
        for (const [at, entry] of entries.entries()) {
          growing.add(entry, at, tokensOf);
          growing.results();
        }
        const atOnce = indexOf(entries);
        expect(summary(growing)).toEqual(summary(atOnce));
        expect(totals(growing)).toEqual(totals(atOnce));
        const results = atOnce.results();
        expect(totals(atOnce)).toEqual([
          results.length,
          results.reduce((sum, { tokens }) => sum + tokens, 0),
        ]);
        const sequences = results.map(({ sequence }) => sequence);
        expect(sequences).toEqual([...new Set(sequences)].sort((a, b) => a - b));
      }),
    );
  });

  it("counts the tokens of each eligible tool result once, and counts no tokens of any other block", () => {
    const talk = new ConversationBuilder();
    talk.tool("a", "Read", {}, textOf(100));
    talk.tool("b", "AskUserQuestion", {}, textOf(100));
    talk.user([{ type: "text", text: "so" }]);
    const counted: unknown[] = [];
    const index = new ResultIndex();
    for (const [at, entry] of talk.entries.entries()) {
      index.add(entry, at, (block) => {
        if (block.type === "tool_result" && block.content !== CLEARED_RESULT_TEXT)
          counted.push(block.tool_use_id);
        return tokensOf(block);
      });
    }
    index.results();
    expect(counted).toEqual(["a"]);
  });
});
