import { describe, expect, it } from "vitest";
import { ConversationBuilder, thinking, toolResult, toolUse } from "../../../../test/support/builders.ts";
import type { Entry } from "./entry.ts";
import { withoutRefusedThinking } from "./without-thinking.ts";

const thoughtsIn = (entries: readonly Entry[]): readonly string[] => [
  ...new Set(JSON.stringify(entries).match(/thought-\d/g)),
];

/** Creates three responses, each with thinking, a tool call and its result. */
function talk(): ConversationBuilder {
  const c = new ConversationBuilder();
  for (const at of [1, 2, 3]) {
    c.assistant([thinking(`thought-${at}`), toolUse(`t${at}`, "Read", {})]);
    c.user([toolResult(`t${at}`, "text")]);
  }
  return c;
}

const clearedMark = (c: ConversationBuilder, compactedToolIds: unknown, longhaul?: unknown): Entry =>
  c.push({
    ...c.link(),
    type: "system",
    subtype: "microcompact_boundary",
    microcompactMetadata: { compactedToolIds, longhaul },
  } as unknown as Entry);

const BINDS = { bindsThinking: true };

describe("withoutRefusedThinking", () => {
  it("removes thinking between a cleared result and the mark of its clearing if the mark says that thinking is bound", () => {
    const c = talk();
    clearedMark(c, ["t2"], BINDS);
    c.assistant([thinking("thought-4"), { type: "text", text: "done" }]);
    expect(thoughtsIn(withoutRefusedThinking(c.entries, undefined))).toEqual([
      "thought-1",
      "thought-2",
      "thought-4",
    ]);
  });

  it("removes no thinking if the mark of a clearing does not say that the model binds thinking", () => {
    for (const longhaul of [undefined, null, {}, { bindsThinking: "yes" }]) {
      const c = talk();
      clearedMark(c, ["t1"], longhaul);
      clearedMark(c, "nonsense", BINDS);
      expect(withoutRefusedThinking(c.entries, undefined)).toBe(c.entries);
    }
  });

  it("removes all thinking before a mark if the messages that were cleared or removed are unknown", () => {
    const c = talk();
    clearedMark(c, ["gone", "t3"], BINDS);
    expect(thoughtsIn(withoutRefusedThinking(c.entries, undefined))).toEqual([]);
    const d = talk();
    d.user("[1 message was removed]", { snipped: { messages: 1, uuids: ["gone"], ...BINDS } } as object);
    d.assistant([thinking("thought-4")]);
    expect(thoughtsIn(withoutRefusedThinking(d.entries, undefined))).toEqual(["thought-4"]);
  });

  it("removes thinking between the position of removed messages and their marker", () => {
    const c = talk();
    c.user("[2 messages were removed]", {
      snipped: { messages: 2, uuids: ["e-4", "e-3"], ...BINDS },
    } as object);
    expect(thoughtsIn(withoutRefusedThinking(c.entries, undefined))).toEqual(["thought-1"]);
  });

  it("the position of a response's first entry decides whether the thinking of the response is removed", () => {
    const c = new ConversationBuilder();
    c.assistant([toolUse("a1", "Read", {})], { id: "A" });
    c.assistant([thinking("thought-1"), toolUse("b", "Read", {})], { id: "B" });
    c.assistant([thinking("thought-2"), toolUse("a2", "Read", {})], { id: "A" });
    c.user([toolResult("a1", "x"), toolResult("a2", "x"), toolResult("b", "x")]);
    for (const id of ["a1", "a2"]) {
      const d = new ConversationBuilder("d");
      for (const entry of c.entries) d.push(entry);
      clearedMark(d, [id], BINDS);
      expect(thoughtsIn(withoutRefusedThinking(d.entries, undefined))).toEqual(["thought-2"]);
    }
  });

  it("skips values that are not entries when it removes thinking", () => {
    const garbage = [null, 3, { type: "assistant" }, { type: "system" }] as unknown as Entry[];
    const c = new ConversationBuilder();
    clearedMark(c, [7, "t1"], BINDS);
    expect(withoutRefusedThinking([...garbage, ...c.entries], undefined)).toEqual([...garbage, ...c.entries]);
  });
});
