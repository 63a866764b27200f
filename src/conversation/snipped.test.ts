import { describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../test/support/builders.ts";
import type { Entry } from "./entry.ts";
import { withSnipsApplied } from "./snipped.ts";

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

describe("a transcript in which messages were removed", () => {
  it("reads as the conversation was: the marker where the first of them stood, and once", () => {
    const { entries } = withMarker([1, 2, 4]);
    expect(textsOf(withSnipsApplied(entries))).toEqual([
      "message 0",
      "[removed]",
      "message 3",
      "message 5",
      "after",
    ]);
  });

  it("keeps a marker whose messages are not there, and changes nothing without one", () => {
    const { entries } = withMarker([]);
    expect(textsOf(withSnipsApplied(entries))).toHaveLength(8);
    const plain = entries.slice(0, 3);
    expect(withSnipsApplied(plain)).toBe(plain);
  });
});
