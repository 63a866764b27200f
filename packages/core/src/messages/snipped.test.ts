import { describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../../../test/support/builders.ts";
import type { Entry } from "./entry.ts";
import { isSnipMarker, snippedUuids, withStandInsApplied } from "./stand-ins.ts";

function withMarker(removed: readonly number[]): { entries: readonly Entry[]; marker: Entry } {
  const c = new ConversationBuilder();
  for (let at = 0; at < 6; at++) c.user(`message ${at}`);
  const uuids = removed.map((at) => c.entries[at]?.uuid ?? "");
  const marker = c.user("[removed]", { isMeta: true, snipped: { messages: uuids.length, uuids } } as object);
  c.user("after");
  return { entries: c.entries, marker };
}

const textsOf = (entries: readonly Entry[]): unknown[] =>
  entries.map((entry) => entry.type === "user" && entry.message.content);

describe("snip markers", () => {
  it("recognizes only a user entry with a number of removed messages as a snip marker", () => {
    const c = new ConversationBuilder();
    const snipped = { messages: 2, uuids: ["a", 7, "b", null] };
    const marker = c.user("[removed]", { snipped } as object);
    expect(isSnipMarker(marker)).toBe(true);
    expect(snippedUuids(marker)).toEqual(["a", "b"]);
    const others = [
      c.user("plain"),
      c.user("odd", { snipped: { uuids: ["a"] } } as object),
      { ...marker, type: "assistant" },
      null,
      7,
    ] as unknown as readonly Entry[];
    for (const other of others) {
      expect(isSnipMarker(other)).toBe(false);
      expect(snippedUuids(other)).toEqual([]);
    }
  });
});

describe("a transcript with snip markers", () => {
  it("shows a snip marker once, at the position of the first removed message", () => {
    const { entries } = withMarker([1, 2, 4]);
    expect(textsOf(withStandInsApplied(entries))).toEqual([
      "message 0",
      "[removed]",
      "message 3",
      "message 5",
      "after",
    ]);
  });

  it("keeps a snip marker that names no messages, and leaves a transcript without snip markers unchanged", () => {
    const { entries } = withMarker([]);
    expect(textsOf(withStandInsApplied(entries))).toHaveLength(8);
    const plain = entries.slice(0, 3);
    const twice = [...withMarker([1]).entries, null, plain[0], plain[0]] as readonly Entry[];
    expect(withStandInsApplied(twice)).toHaveLength(twice.length - 1);
    expect(withStandInsApplied(plain)).toBe(plain);
  });
});
