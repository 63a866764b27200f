import { describe, expect, it } from "vitest";
import { ConversationBuilder, toolResult } from "../../../../../test/support/builders.ts";
import { codeOf, countingPorts } from "../../../../../test/support/long-session.ts";
import type { Entry } from "../../messages/entry.ts";
import { isSnipMarker } from "../../messages/stand-ins.ts";
import { type Snipped, type SnipSelection, snip } from "./snip.ts";

const snipped = (entries: readonly Entry[], selection: SnipSelection): Snipped =>
  snip(entries, selection, { ports: countingPorts(), tokensOf: () => 100 });

/** Builds turns of four entries: 0 user message, 1 call, 2 result, 3 answer. */
function talk(turns: number): ConversationBuilder {
  const c = new ConversationBuilder();
  for (let turn = 0; turn < turns; turn++) {
    c.user(`request ${turn}`);
    c.tool(`t${turn}`, "Read", {}, `result ${turn}`);
    c.assistant(`answer ${turn}`);
  }
  return c;
}

describe("figures that snip returns", () => {
  it("snip reports the removed, kept and added messages, the freed tokens and the ids of removed messages", () => {
    const { entries } = talk(3);
    const { removed, spared, added, tokensFreed, markers } = snipped(entries, { from: 0, to: 5 });
    expect({ removed, spared, added, tokensFreed }).toEqual({
      removed: 5,
      spared: 1,
      added: 0,
      tokensFreed: 400,
    });
    expect(markers.map((marker) => marker.snipped)).toEqual([
      { messages: 5, uuids: ["e-1", "e-2", "e-3", "e-4", "e-5"] },
    ]);
  });

  it("snip removes nothing when the only chosen message is a tool call whose result stays", () => {
    const { entries } = talk(1);
    expect(snipped(entries, { from: 1, to: 1 })).toStrictEqual({
      entries,
      removed: 0,
      messages: 0,
      added: 0,
      spared: 1,
      tokensFreed: 0,
      markers: [],
      thinkingBlocks: 0,
    });
  });

  it("snip counts removed attachments, and lists the ids of removed entries that have an id", () => {
    const c = talk(1);
    c.attachment({ type: "todo", content: [] });
    c.push({ type: "user", message: { role: "user", content: "without an id" } } as unknown as Entry);
    const { removed, markers } = snipped(c.entries, { from: 3, to: 5 });
    expect(removed).toBe(3);
    expect(markers[0]?.snipped).toEqual({ messages: 2, uuids: ["e-4", "e-5"] });
  });
});

describe("selection of snipped messages", () => {
  it("snip finds the chosen messages among malformed entries", () => {
    const c = talk(1);
    const entries = [null, 7, ...c.entries] as unknown as readonly Entry[];
    expect(snipped(entries, { ids: ["e-4"] }).removed).toBe(1);
    expect(snipped(entries, { keepLastTurns: 0 }).removed).toBe(4);
  });

  it("snip counts message indexes from the last compaction boundary, and rejects an index past the end", async () => {
    const c = talk(1);
    c.boundary();
    c.user("one");
    c.user("two");
    expect(snipped(c.entries, { from: 1, to: 2 }).removed).toBe(2);
    expect(await codeOf(() => snipped(c.entries, { from: 1, to: 3 }))).toBe("message-not-found");
  });

  it("a user message with a tool result and text does not start a turn", () => {
    const c = talk(1);
    c.assistant([{ type: "tool_use", id: "x", name: "Read", input: {} }]);
    c.user([toolResult("x", "result"), { type: "text", text: "and go on" }]);
    expect(snipped(c.entries, { keepLastTurns: 1 }).entries).toBe(c.entries);
  });

  it("snip merges two adjacent markers of earlier snips", () => {
    const [one, other] = ["a", "b"].map((prefix) => {
      const c = new ConversationBuilder(prefix);
      c.user("gone");
      return snipped(c.entries, { keepLastTurns: 0 }).entries[0] as Entry;
    }) as [Entry, Entry];
    const c = talk(2);
    const { entries, removed, markers } = snipped([one, other, ...c.entries], { ids: ["e-8"] });
    expect(removed).toBe(1);
    expect(markers).toHaveLength(2);
    expect(entries.filter(isSnipMarker)).toHaveLength(2);
    expect(entries[0]).toMatchObject({ snipped: { messages: 2 } });
    expect(entries.slice(1, -1)).toEqual(c.entries.slice(0, -1));
  });
});

describe("a snip with collapsed spans", () => {
  const withSpan = (): ConversationBuilder => {
    const c = new ConversationBuilder();
    c.user("before");
    c.user("the notes", {
      isMeta: true,
      collapsed: { spanId: "s", messages: 4, uuids: ["a", "b"] },
    } as object);
    c.user("after");
    return c;
  };

  it("snip removes a whole collapsed span when one of its messages is chosen, and counts all its messages", () => {
    const { entries } = withSpan();
    for (const ids of [["e-2"], ["b"], ["a", "b", "e-2"]]) {
      const { removed, markers, entries: left } = snipped(entries, { ids });
      expect(removed).toBe(1);
      expect(markers.map((marker) => marker.snipped)).toEqual([{ messages: 4, uuids: ["e-2"] }]);
      expect(left).toHaveLength(3);
    }
  });

  it("a merged snip marker does not list the message ids of a marker from before a compaction", () => {
    const c = new ConversationBuilder();
    c.user("[removed]", {
      isMeta: true,
      snipped: { messages: 2, uuids: ["old"], isSettled: true },
    } as object);
    c.user("next");
    c.user("last");
    const { markers } = snipped(c.entries, { ids: ["e-2"] });
    expect(markers.map((marker) => marker.snipped)).toEqual([{ messages: 3, uuids: ["e-1", "e-2"] }]);
  });
});
