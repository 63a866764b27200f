import { describe, expect, it } from "vitest";
import { ConversationBuilder, toolResult, toolUse } from "../../../../test/support/builders.ts";
import type { Entry } from "./entry.ts";
import { indexPairs } from "./pairs.ts";

describe("indexPairs", () => {
  it("indexPairs finds the name and the result of each tool call, also of parallel calls", () => {
    const talk = new ConversationBuilder();
    talk.assistant([toolUse("a", "Read", { file_path: "/x" })], { id: "m" });
    talk.assistant([toolUse("b", "Grep", {})], { id: "m" });
    talk.user([toolResult("b", "two")]);
    talk.user([toolResult("a", "one")]);
    talk.tool("c", "Bash", {}, "three", { id: "n" });
    const index = indexPairs(talk.entries);
    expect([...index.pairs.keys()]).toEqual(["a", "b", "c"]);
    expect(index.pairs.get("a")).toMatchObject({ name: "Read", use: { entryIndex: 0 } });
    expect(index.pairs.get("a")?.results).toMatchObject([{ entryIndex: 3, block: { content: "one" } }]);
    expect(index).toMatchObject({ unanswered: [], orphanResults: [], secondResults: [], repeatedUses: [] });
  });

  it("lists calls without a result, results without a call, second results and repeated ids", () => {
    const talk = new ConversationBuilder();
    talk.tool("open", "Bash", {});
    talk.user([toolResult("gone", "nobody asked")]);
    talk.tool("twice", "Bash", {}, "first");
    talk.user([toolResult("twice", "second")]);
    talk.tool("twice", "Bash", {});
    const index = indexPairs(talk.entries);
    expect(index.unanswered.map((pair) => pair.id)).toEqual(["open"]);
    expect(index.orphanResults.map((result) => result.block.tool_use_id)).toEqual(["gone"]);
    expect(index.secondResults.map((result) => result.block.content)).toEqual(["second"]);
    expect(index.repeatedUses.map((use) => use.entryIndex)).toEqual([5]);
  });

  it("pairs a tool result with its call even if the result comes first", () => {
    const talk = new ConversationBuilder();
    talk.user([toolResult("a", "early")]);
    talk.assistant([toolUse("a", "Read", {})]);
    expect(indexPairs(talk.entries).pairs.get("a")?.results).toHaveLength(1);
  });

  it("accepts tool calls only in assistant entries and tool results only in user entries", () => {
    const talk = new ConversationBuilder();
    talk.user([toolUse("a", "Read", {}), { ...toolUse("x", "Read", {}), tool_use_id: "b" } as never]);
    talk.assistant([{ ...toolUse("b", "web_search", {}), type: "server_tool_use" } as never]);
    talk.assistant([toolResult("a", "one")]);
    const system = { type: "system", message: { content: [toolResult("a", "two")] } } as unknown as Entry;
    const index = indexPairs([...talk.entries, system]);
    expect([index.pairs.size, index.orphanResults.length]).toEqual([0, 0]);
  });

  it("uses an empty name for a tool call without a valid name", () => {
    const talk = new ConversationBuilder();
    talk.assistant([{ type: "tool_use", id: "a", name: 7, input: {} } as never]);
    expect(indexPairs(talk.entries).pairs.get("a")?.name).toBe("");
  });

  it("indexPairs skips damaged entries", () => {
    const damaged = [
      null,
      3,
      { type: "user" },
      { type: "assistant", message: { content: [null, { type: "tool_use" }] } },
    ];
    expect(indexPairs(damaged as unknown as Entry[]).pairs.size).toBe(0);
  });
});
