import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { blockParts, isSameJson, partsKey, toolParts, withoutMarks } from "./block-equality.ts";
import { PrefixTree } from "./prefix-tree.ts";

const blockKey = (block: Record<string, unknown>): string => partsKey(blockParts(block));
const mark = { cache_control: { type: "ephemeral" } };

describe("equality of prompt blocks for the prompt cache", () => {
  it.each<readonly [string, Record<string, unknown>]>([
    ["a text", { type: "text", text: "a" }],
    ["a call", { type: "tool_use", id: "t", name: "Read", input: { a: 1 } }],
    ["a result", { type: "tool_result", tool_use_id: "t", content: "a" }],
    ["an image", { type: "image", source: { type: "base64", data: "AA" } }],
  ])("the comparison of prompt blocks ignores the cache mark on %s", (_, block) => {
    expect(blockKey({ ...block, ...mark })).toBe(blockKey(block));
    const { root } = new PrefixTree();
    expect(root.block(blockParts({ ...mark, ...block }))).toBe(root.block(blockParts(block)));
  });

  it("the comparison of prompt blocks ignores a cache mark inside a tool result", () => {
    const result = (extra: object): Record<string, unknown> => ({
      type: "tool_result",
      tool_use_id: "t",
      content: [{ type: "text", text: "a", ...extra }],
    });
    expect(blockKey(result(mark))).toBe(blockKey(result({})));
  });

  it.each<readonly [string, Record<string, unknown>, Record<string, unknown>]>([
    [
      "their ids",
      { type: "tool_use", id: "a", name: "n", input: {} },
      { type: "tool_use", id: "b", name: "n", input: {} },
    ],
    [
      "the key order of their inputs",
      { type: "tool_use", id: "a", name: "n", input: { x: 1, y: 2 } },
      { type: "tool_use", id: "a", name: "n", input: { y: 2, x: 1 } },
    ],
    [
      "an input field that is named like the cache mark",
      { type: "tool_use", id: "a", name: "n", input: { cache_control: 1 } },
      { type: "tool_use", id: "a", name: "n", input: { cache_control: 2 } },
    ],
    [
      "their error flags",
      { type: "tool_result", tool_use_id: "a", content: "x" },
      { type: "tool_result", tool_use_id: "a", content: "x", is_error: true },
    ],
    [
      "their citations",
      { type: "text", text: "x" },
      { type: "text", text: "x", citations: [{ type: "page" }] },
    ],
    [
      "their signatures",
      { type: "thinking", thinking: "x", signature: "1" },
      { type: "thinking", thinking: "x", signature: "2" },
    ],
  ])("two prompt blocks are not equal if they differ in %s", (_, one, other) => {
    expect(blockKey(one)).not.toBe(blockKey(other));
    const { root } = new PrefixTree();
    expect(root.block(blockParts(one))).not.toBe(root.block(blockParts(other)));
  });

  it("the comparison of tools ignores the cache mark of a tool, but not a cache_control field in its schema", () => {
    const tool = (type: string): Record<string, unknown> => ({
      name: "n",
      schema: { cache_control: { type } },
    });
    const { root } = new PrefixTree();
    expect(root.block(toolParts(tool("a")))).not.toBe(root.block(toolParts(tool("b"))));
    expect(root.block(toolParts({ ...tool("a"), ...mark }))).toBe(root.block(toolParts(tool("a"))));
  });

  it("isSameJson returns true exactly for values that serialize to the same JSON without cache marks", () => {
    const value = fc.jsonValue({ maxDepth: 3 });
    const marked = fc.dictionary(fc.constantFrom("a", "b", "cache_control"), value, { maxKeys: 3 });
    const either = fc.oneof(value, marked, fc.array(marked, { maxLength: 2 }));
    fc.assert(
      fc.property(either, either, fc.constantFrom("none", "top", "any"), (one, other, marks) => {
        const written = (json: unknown): string => JSON.stringify(withoutMarks(json, marks));
        const left: unknown = JSON.parse(JSON.stringify(one));
        const right: unknown = JSON.parse(JSON.stringify(other));
        expect(isSameJson(left, right, marks)).toBe(written(left) === written(right));
        expect(isSameJson(left, structuredClone(left), marks)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});
