import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { apiRuleViolations } from "../../../../test/support/api-rules.ts";
import { arbitraryEntries } from "../../../../test/support/arbitraries.ts";
import { ConversationBuilder, thinking, toolResult, toolUse } from "../../../../test/support/builders.ts";
import { deepFreeze } from "../../../../test/support/deep-freeze.ts";
import { flatten } from "../request/flatten/flatten.ts";
import type { Entry } from "./entry.ts";
import { contentWithoutThinking, withoutThinkingFrom } from "./without-thinking.ts";

describe("withoutThinkingFrom", () => {
  it("withoutThinkingFrom removes thinking from all entries from the given index on", () => {
    const c = new ConversationBuilder();
    const before = c.assistant([thinking("early"), { type: "text", text: "one" }]);
    const after = c.assistant([thinking("late"), toolUse("t", "Read", {}), thinking("later")]);
    const { entries, blocks } = withoutThinkingFrom(c.entries, 1);
    expect(blocks).toBe(2);
    expect(entries[0]).toBe(before);
    expect(entries[1]).toEqual({
      ...after,
      message: { ...after.message, content: [toolUse("t", "Read", {})] },
    });
  });

  it("removes redacted thinking too", () => {
    const c = new ConversationBuilder();
    c.assistant([
      { type: "redacted_thinking", data: "x" },
      { type: "text", text: "one" },
    ]);
    expect(JSON.stringify(withoutThinkingFrom(c.entries, 0))).not.toContain("redacted_thinking");
  });

  it("keeps an entry that contained only thinking as an empty entry, which is not sent", () => {
    const c = new ConversationBuilder();
    c.user("continue");
    c.assistant([thinking("all there is")], { id: "a" });
    c.assistant([{ type: "text", text: "done" }], { id: "a" });
    const { entries } = withoutThinkingFrom(c.entries, 1);
    expect(entries[1]).toMatchObject({ uuid: c.entries[1]?.uuid, message: { content: [] } });
    expect(flatten(entries)).toMatchObject([{ role: "user" }, { content: [{ text: "done" }] }]);
  });

  it("keeps the thinking of a response that began before the given index, also in later entries of the response", () => {
    const c = new ConversationBuilder();
    c.user("continue");
    c.assistant([thinking("first"), toolUse("t1", "Read", {})], { id: "a" });
    c.user([toolResult("t1", "one")]);
    c.assistant([thinking("of the same response"), toolUse("t2", "Read", {})], { id: "a" });
    c.user([toolResult("t2", "two")]);
    c.assistant([thinking("of the next"), { type: "text", text: "done" }], { id: "b" });
    const { entries, blocks } = withoutThinkingFrom(c.entries, 2);
    expect(blocks).toBe(1);
    expect(JSON.stringify(entries)).toContain("of the same response");
    expect(JSON.stringify(entries)).not.toContain("of the next");
  });

  it("a user message is never part of a response, even if it has the id of the response", () => {
    const c = new ConversationBuilder();
    const message = { role: "user" as const, content: "continue", id: "a" };
    c.push({ ...c.link(), type: "user", message });
    c.entries.push(null as unknown as Entry);
    c.assistant([thinking("first"), { type: "text", text: "done" }], { id: "a" });
    expect(withoutThinkingFrom(c.entries, 2).blocks).toBe(1);
  });

  it("removes thinking only from assistant entries, and skips invalid values", () => {
    const c = new ConversationBuilder();
    c.user([thinking("quoted"), { type: "text", text: "look" }]);
    const entries = [...c.entries, null, 7, { type: "assistant" }] as unknown as readonly Entry[];
    expect(withoutThinkingFrom(entries, 0)).toEqual({ entries, blocks: 0 });
    expect(withoutThinkingFrom(entries, 0).entries).toBe(entries);
  });

  it("removes thinking from all entries if the given index is negative or not a whole number", () => {
    const c = new ConversationBuilder();
    c.assistant([thinking("a"), { type: "text", text: "one" }]);
    for (const index of [-3, Number.NaN, 0.5]) expect(withoutThinkingFrom(c.entries, index).blocks).toBe(1);
    expect(withoutThinkingFrom(c.entries, Number.POSITIVE_INFINITY).entries).toBe(c.entries);
  });

  it("removing thinking keeps all other content, changes nothing the second time, and breaks no API rule", () => {
    fc.assert(
      fc.property(arbitraryEntries(), fc.nat(20), (entries, index) => {
        deepFreeze(entries);
        const left = withoutThinkingFrom(entries, index).entries;
        expect(left.length).toBe(entries.length);
        for (const [at, entry] of entries.entries()) {
          const isRemoved = at >= index && hasThinking(entry) && beginning(entries, at) >= index;
          if (isRemoved) expect(hasThinking(left[at])).toBe(false);
          else expect(left[at]).toBe(entry);
        }
        expect(withoutThinkingFrom(left, index)).toEqual({ entries: left, blocks: 0 });
        expect(withoutThinkingFrom(left, index).entries).toBe(left);
        expect(apiRuleViolations(flatten(left))).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  it("the sent messages contain all thinking before one position and no thinking after that position", () => {
    const seals = (entries: readonly Entry[]): readonly string[] =>
      [...JSON.stringify(flatten(entries)).matchAll(/"sig:[^"]*"/g)].map(([seal]) => seal);
    fc.assert(
      fc.property(arbitraryEntries({ damaged: false }), fc.nat(20), (entries, index) => {
        const kept = seals(withoutThinkingFrom(entries, index).entries);
        expect(kept).toEqual(seals(entries).slice(0, kept.length));
      }),
    );
  });
});

describe("contentWithoutThinking", () => {
  it("contentWithoutThinking returns the same content if it contains no thinking", () => {
    const content = [{ type: "text" as const, text: "a" }];
    expect(contentWithoutThinking(content)).toBe(content);
    expect(contentWithoutThinking("text")).toBe("text");
    expect(contentWithoutThinking([thinking("a"), ...content])).toEqual(content);
  });
});

const hasThinking = (entry: Entry | undefined): boolean =>
  entry?.type === "assistant" && JSON.stringify(entry).includes('"signature"');

/** Returns the index at which the response of this entry starts. */
function beginning(entries: readonly Entry[], at: number): number {
  const idOf = (entry: Entry | undefined): string | undefined =>
    entry?.type === "assistant" ? entry.message?.id : undefined;
  const id = idOf(entries[at]);
  return id === undefined ? at : entries.findIndex((entry) => idOf(entry) === id);
}
