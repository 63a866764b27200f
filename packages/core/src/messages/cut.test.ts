import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryEntries } from "../../../../test/support/arbitraries.ts";
import { ConversationBuilder, thinking, toolResult, toolUse } from "../../../../test/support/builders.ts";
import type { Entry } from "./entry.ts";
import { indexPairs, moveCutBack, soundCuts } from "./pairs.ts";

describe("moving a cut back", () => {
  it("never splits a tool use from its result", () => {
    const talk = new ConversationBuilder();
    talk.user("go");
    talk.tool("a", "Read", {}, "one");
    talk.user("next");
    expect(moveCutBack(talk.entries, 2)).toBe(1);
    expect(moveCutBack(talk.entries, 3)).toBe(3);
  });

  it("never parts a message's thinking from its siblings of the same message id", () => {
    const talk = new ConversationBuilder();
    talk.user("go");
    talk.assistant([thinking("hm")], { id: "m" });
    talk.assistant("said", { id: "m" });
    expect(moveCutBack(talk.entries, 2)).toBe(1);
  });

  it("moves on when the place it moved back to is inside another pair", () => {
    const talk = new ConversationBuilder();
    talk.user("go");
    talk.assistant([toolUse("a", "Task", {})], { id: "m" });
    talk.assistant([toolUse("b", "Task", {})], { id: "n" });
    talk.user([toolResult("a", "one")]);
    talk.user([toolResult("b", "two")]);
    expect(moveCutBack(talk.entries, 4)).toBe(1);
  });

  it("keeps an entry with all that it answers, not only with the last of it", () => {
    const talk = new ConversationBuilder();
    talk.user("go");
    talk.assistant([toolUse("a", "Read", {})]);
    talk.assistant([toolUse("b", "Read", {})]);
    talk.user([toolResult("b", "two"), toolResult("a", "one")]);
    talk.user("next");
    expect(soundCuts(talk.entries)).toEqual([true, true, false, false, true, true]);
    expect(soundCuts([])).toEqual([true]);
  });

  it("binds no message of the user's to a response, whatever id it has, and reads past what is no entry", () => {
    const talk = new ConversationBuilder();
    talk.assistant("said", { id: "m" });
    const message = { role: "user", id: "m", content: "go on" };
    const entries = [...talk.entries, { type: "user", message }, null, 7] as unknown as Entry[];
    expect(soundCuts(entries)).toEqual([true, true, true, true, true]);
  });

  it("takes any number as a place: before the start is the start, past the end is the end", () => {
    const talk = new ConversationBuilder();
    talk.user("go");
    expect([-3, 0, 1, 99, Number.NaN].map((at) => moveCutBack(talk.entries, at))).toEqual([0, 0, 1, 1, 0]);
  });

  it("gives the largest place at or before the wish that parts nothing, whatever the entries", () => {
    fc.assert(
      fc.property(arbitraryEntries(), fc.nat(40), (entries, wish) => {
        const wanted = Math.min(wish, entries.length);
        let expected = wanted;
        while (expected > 0 && partsSomething(entries, expected)) expected--;
        expect(moveCutBack(entries, wish)).toBe(expected);
      }),
      { numRuns: 500 },
    );
  });
});

function partsSomething(entries: readonly Entry[], cut: number): boolean {
  const isParted = (places: readonly number[]): boolean =>
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
  return groups.some(isParted);
}
