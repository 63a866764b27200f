import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryEntries } from "../../../../test/support/arbitraries.ts";
import { ConversationBuilder, thinking, toolResult, toolUse } from "../../../../test/support/builders.ts";
import type { Entry } from "./entry.ts";
import { groupRounds } from "./pairs.ts";

const uuids = (entries: readonly Entry[]): (string | undefined)[] => entries.map((entry) => entry.uuid);

describe("groupRounds", () => {
  it("groups entries before the first response into a round without a response", () => {
    const talk = new ConversationBuilder();
    talk.user("hello");
    talk.user("are you there?");
    talk.assistant("yes", { id: "msg_a" });
    const [leading, first] = groupRounds(talk.entries);
    expect(leading).toMatchObject({ hasResponse: false, responseId: undefined });
    expect(uuids(leading?.entries ?? [])).toEqual(["e-1", "e-2"]);
    expect(first).toMatchObject({ hasResponse: true, responseId: "msg_a" });
  });

  it("groups a response and all its tool results into one round, also with parallel calls", () => {
    const talk = new ConversationBuilder();
    talk.user("go");
    talk.assistant([thinking("hm")], { id: "msg_a" });
    talk.tool("t1", "Read", {}, "one", { id: "msg_a" });
    talk.tool("t2", "Read", {}, "two", { id: "msg_a" });
    talk.tool("t3", "Read", {}, "three", { id: "msg_b" });
    expect(groupRounds(talk.entries).map((round) => round.entries.length)).toEqual([1, 5, 2]);
  });

  it("puts a late tool result into the round of its call, even after another response", () => {
    const talk = new ConversationBuilder();
    talk.assistant([toolUse("t1", "Task", {})], { id: "msg_a" });
    talk.assistant("meanwhile", { id: "msg_b" });
    talk.user([toolResult("t1", "done")]);
    expect(groupRounds(talk.entries).map((round) => uuids(round.entries))).toEqual([["e-1", "e-3"], ["e-2"]]);
  });

  it("a round starts with the prompt before its response", () => {
    const talk = new ConversationBuilder();
    talk.user("one");
    talk.assistant("first");
    talk.user("two");
    talk.attachment({ type: "todo_reminder", content: [] });
    talk.assistant("second");
    talk.user("three");
    const rounds = groupRounds(talk.entries);
    expect(rounds.map((round) => uuids(round.entries))).toEqual([
      ["e-1"],
      ["e-2"],
      ["e-3", "e-4", "e-5"],
      ["e-6"],
    ]);
    expect(rounds.map(({ hasResponse }) => hasResponse)).toEqual([false, true, true, false]);
  });

  it("keeps attachments, progress and API errors in the round of the entry before them", () => {
    const talk = new ConversationBuilder();
    talk.tool("t1", "Read", {}, "one", { id: "msg_a" });
    talk.attachment({ type: "nested_memory" });
    talk.assistant("API Error", { isApiErrorMessage: true });
    expect(groupRounds(talk.entries)).toHaveLength(1);
  });

  it("keeps orphan results and invalid entries in the round of the entry before them", () => {
    const talk = new ConversationBuilder();
    talk.assistant("said");
    talk.user([toolResult("gone", "nobody asked")]);
    talk.user([toolResult("gone", "nobody asked"), { type: "text", text: "and words" }]);
    const odd = [null, 7] as unknown as readonly Entry[];
    expect(groupRounds([...talk.entries, ...odd]).map((round) => round.entries.length)).toEqual([5]);
  });

  it("the boundary of a compaction starts a new round", () => {
    const talk = new ConversationBuilder();
    talk.assistant("old");
    const boundary = talk.boundary();
    talk.summary("so far");
    talk.assistant("new");
    expect(groupRounds(talk.entries)[1]?.entries[0]).toBe(boundary);
  });

  it("groupRounds puts every entry into exactly one round, in input order", () => {
    fc.assert(
      fc.property(arbitraryEntries(), (entries) => {
        const positions = new Map<unknown, number[]>();
        for (const [index, entry] of entries.entries()) {
          positions.set(entry, [...(positions.get(entry) ?? []), index]);
        }
        const rounds = groupRounds(entries);
        const all = rounds.flatMap((round) => round.entries);
        expect(all).toHaveLength(entries.length);
        expect(new Set(all)).toEqual(new Set(entries));
        for (const round of rounds) {
          const order = round.entries.filter((entry) => positions.get(entry)?.length === 1);
          const indices = order.map((entry) => positions.get(entry)?.[0] ?? 0);
          expect(indices).toEqual([...indices].sort((a, b) => a - b));
        }
      }),
    );
  });

  it("the concatenated rounds equal the input if no responses are interleaved", () => {
    fc.assert(
      fc.property(arbitraryEntries({ damaged: false }), (entries) => {
        expect(groupRounds(entries).flatMap((round) => round.entries)).toEqual(entries);
      }),
    );
  });
});
