import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryEntries } from "../../../../test/support/arbitraries.ts";
import { ConversationBuilder, thinking, toolResult, toolUse } from "../../../../test/support/builders.ts";
import type { Entry } from "./entry.ts";
import { indexPairs, moveCutBack, soundCuts } from "./pairs.ts";

describe("moveCutBack and soundCuts", () => {
  it("moveCutBack never separates a tool call from its result", () => {
    const talk = new ConversationBuilder();
    talk.user("go");
    talk.tool("a", "Read", {}, "one");
    talk.user("next");
    expect(moveCutBack(talk.entries, 2)).toBe(1);
    expect(moveCutBack(talk.entries, 3)).toBe(3);
  });

  it("moveCutBack never separates the thinking of a response from the other entries of that response", () => {
    const talk = new ConversationBuilder();
    talk.user("go");
    talk.assistant([thinking("hm")], { id: "m" });
    talk.assistant("said", { id: "m" });
    expect(moveCutBack(talk.entries, 2)).toBe(1);
  });

  it("moves a cut back until it separates no tool call from its result, even if several pairs overlap", () => {
    const talk = new ConversationBuilder();
    talk.user("go");
    talk.assistant([toolUse("a", "Task", {})], { id: "m" });
    talk.assistant([toolUse("b", "Task", {})], { id: "n" });
    talk.user([toolResult("a", "one")]);
    talk.user([toolResult("b", "two")]);
    expect(moveCutBack(talk.entries, 4)).toBe(1);
  });

  it("soundCuts allows no cut between an entry with tool results and any of their tool calls", () => {
    const talk = new ConversationBuilder();
    talk.user("go");
    talk.assistant([toolUse("a", "Read", {})]);
    talk.assistant([toolUse("b", "Read", {})]);
    talk.user([toolResult("b", "two"), toolResult("a", "one")]);
    talk.user("next");
    expect(soundCuts(talk.entries)).toEqual([true, true, false, false, true, true]);
    expect(soundCuts([])).toEqual([true]);
  });

  it("soundCuts allows cuts next to invalid entries, and between a response and a user message with the same id", () => {
    const talk = new ConversationBuilder();
    talk.assistant("said", { id: "m" });
    const message = { role: "user", id: "m", content: "continue" };
    const entries = [...talk.entries, { type: "user", message }, null, 7] as unknown as Entry[];
    expect(soundCuts(entries)).toEqual([true, true, true, true, true]);
  });

  it("moveCutBack limits any position to the range from 0 to the number of entries", () => {
    const talk = new ConversationBuilder();
    talk.user("go");
    expect([-3, 0, 1, 99, Number.NaN].map((at) => moveCutBack(talk.entries, at))).toEqual([0, 0, 1, 1, 0]);
  });

  it("moveCutBack returns the last position, at or before the requested position, where a cut separates nothing", () => {
    fc.assert(
      fc.property(arbitraryEntries(), fc.nat(40), (entries, wish) => {
        const wanted = Math.min(wish, entries.length);
        let expected = wanted;
        while (expected > 0 && splitsGroup(entries, expected)) expected--;
        expect(moveCutBack(entries, wish)).toBe(expected);
      }),
      { numRuns: 500 },
    );
  });
});

function splitsGroup(entries: readonly Entry[], cut: number): boolean {
  const isSplit = (places: readonly number[]): boolean =>
    places.some((place) => place < cut) && places.some((place) => place >= cut);
  const groups: number[][] = [];
  const { pairs, repeatedUses } = indexPairs(entries);
  for (const { id, use, results } of pairs.values()) {
    const repeats = repeatedUses.filter((repeated) => repeated.block.id === id);
    groups.push([use, ...results, ...repeats].map((place) => place.entryIndex));
  }
  const ids = entries.map((entry) => (entry?.type === "assistant" ? entry.message?.id : undefined));
  for (const id of new Set(ids)) {
    if (id) groups.push([...ids.entries()].filter(([, other]) => other === id).map(([index]) => index));
  }
  return groups.some(isSplit);
}
