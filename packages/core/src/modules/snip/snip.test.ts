import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { apiRuleViolations } from "../../../../../test/support/api-rules.ts";
import { arbitraryEntries } from "../../../../../test/support/arbitraries.ts";
import { ConversationBuilder, thinking, toolResult, toolUse } from "../../../../../test/support/builders.ts";
import { deepFreeze } from "../../../../../test/support/deep-freeze.ts";
import { codeOf, countingPorts } from "../../../../../test/support/long-session.ts";
import { ESTIMATORS } from "../../measure/tokens/estimators.ts";
import { measureEntry } from "../../measure/tokens/measure.ts";
import type { Entry } from "../../messages/entry.ts";
import { isEntry } from "../../messages/entry.ts";
import { indexPairs } from "../../messages/pairs.ts";
import { isSnipMarker } from "../../messages/stand-ins.ts";
import { flatten } from "../../request/flatten/flatten.ts";
import { type SnipOptions, type Snipped, type SnipSelection, snip } from "./snip.ts";

const tokensOf = (entry: Entry): number => measureEntry(entry, ESTIMATORS.o200k);

function snipped(
  entries: readonly Entry[],
  selection: SnipSelection,
  options: Partial<SnipOptions> = {},
): Snipped {
  return snip(entries, selection, { ports: countingPorts(), tokensOf, ...options });
}

function talk(turns = 5): ConversationBuilder {
  const c = new ConversationBuilder();
  for (let turn = 0; turn < turns; turn++) {
    c.user(`request ${turn} ${"word ".repeat(50)}`);
    c.tool(`t${turn}`, "Read", { file_path: `/p/${turn}` }, `result ${turn} ${"word ".repeat(100)}`);
    c.assistant(`answer ${turn}`);
  }
  return c;
}

const textOf = (entry: Entry | undefined): string => JSON.stringify(entry);

describe("snip", () => {
  it("a snip marker records whether the thinking after the snip was removed too", () => {
    const record = (bindsThinking?: boolean): unknown =>
      snipped(talk().entries, { from: "e-1", to: "e-4" }, { bindsThinking }).markers[0]?.snipped
        .bindsThinking;
    expect([record(true), record(false), record()]).toEqual([true, undefined, undefined]);
  });

  it("snip replaces the chosen messages with a marker that names their number and the transcript", () => {
    const { entries } = talk();
    const {
      entries: left,
      removed,
      markers,
    } = snipped(
      entries,
      { from: "e-1", to: "e-4" },
      {
        transcriptPath: "/s/session.jsonl",
      },
    );
    expect(removed).toBe(4);
    expect(left.length).toBe(entries.length - 3);
    expect(left[0]).toBe(markers[0]);
    expect(textOf(left[0])).toMatch(/4 messages were removed here.*\/s\/session\.jsonl/);
    expect(left[0]).toMatchObject({ type: "user", isMeta: true });
    expect(left.slice(1)).toEqual(entries.slice(4));
  });

  it("a snip by id also removes the entries of the same response and their tool results", () => {
    const c = talk(1);
    c.assistant([toolUse("p1", "Read", {})], { id: "P" });
    c.user([toolResult("p1", "one")]);
    c.assistant([toolUse("p2", "Read", {})], { id: "P" });
    const last = c.user([toolResult("p2", "two")]);
    expect(snipped(c.entries, { ids: [last.uuid] })).toMatchObject({ removed: 0, spared: 1 });
    const reply = c.assistant("seen");
    const { entries, removed, added } = snipped(c.entries, { ids: [last.uuid] });
    expect({ removed, added }).toEqual({ removed: 4, added: 3 });
    expect(entries.slice(0, -2)).toEqual(c.entries.slice(0, 4));
    expect(entries.at(-1)).toBe(reply);
  });

  it("a snip by range keeps a tool call and result that the range would separate, and reports that", () => {
    const { entries } = talk();
    const { removed, spared, entries: left } = snipped(entries, { from: 0, to: 1 });
    expect({ removed, spared }).toEqual({ removed: 1, spared: 1 });
    expect(left.slice(1)).toEqual(entries.slice(1));
  });

  it("a snip accepts a range of message indexes in either order, counted from the last boundary", () => {
    const c = new ConversationBuilder();
    c.user("before");
    c.boundary();
    c.summary("earlier");
    c.user("one");
    c.assistant("two");
    c.user("three");
    const { entries } = snipped(c.entries, { from: 3, to: 2 });
    expect(entries.map((entry) => entry.uuid)).toEqual(["e-1", "e-2", "e-3", "new-1", "e-6"]);
  });

  it("keepLastTurns keeps the last N turns, and the whole conversation if it has at most N turns", () => {
    const { entries } = talk(5);
    const { entries: left, removed } = snipped(entries, { keepLastTurns: 2 });
    expect(removed).toBe(12);
    expect(left.slice(1)).toEqual(entries.slice(12));
    expect(snipped(entries, { keepLastTurns: 5 }).entries).toBe(entries);
    expect(snipped(entries, { keepLastTurns: 9 }).entries).toBe(entries);
    expect(snipped(entries, { keepLastTurns: 0 }).removed).toBe(20);
    for (const nonsense of [-1, Number.NaN]) {
      expect(snipped(entries, { keepLastTurns: nonsense }).entries).toBe(entries);
    }
  });

  it("keepLastTurns does not count a meta message of the host as a turn", () => {
    const c = talk(2);
    c.user("[the host says something]", { isMeta: true });
    const { entries } = snipped(c.entries, { keepLastTurns: 1 });
    expect(entries.slice(1)).toEqual(c.entries.slice(4));
  });

  it("a snip never removes a compaction boundary or a summary", () => {
    const c = new ConversationBuilder();
    const boundary = c.boundary();
    const summary = c.summary("all that is left");
    const said = c.user("gone");
    const { entries, removed } = snipped(c.entries, { ids: [boundary.uuid, summary.uuid, said.uuid] });
    expect(removed).toBe(1);
    expect(entries.slice(0, 2)).toEqual([boundary, summary]);
  });

  it("tokensFreed is the size of the removed messages minus the size of the marker", () => {
    const { entries } = talk();
    const { tokensFreed, markers } = snipped(entries, { from: 0, to: 3 });
    const gone = entries.slice(0, 4).reduce((sum, entry) => sum + tokensOf(entry), 0);
    expect(tokensFreed).toBe(gone - tokensOf(markers[0] as Entry));
    expect(snipped([new ConversationBuilder().user("x")], { keepLastTurns: 0 }).tokensFreed).toBe(0);
  });

  it("snip merges markers that become adjacent", () => {
    const { entries } = talk();
    const once = snipped(entries, { from: "e-1", to: "e-4" });
    const twice = snipped(once.entries, { from: "e-5", to: "e-8" });
    expect(twice.entries.filter(isSnipMarker)).toHaveLength(1);
    expect(textOf(twice.entries[0])).toContain("8 messages were removed");
    expect(twice.entries.slice(1)).toEqual(entries.slice(8));
    const apart = snipped(once.entries, { from: "e-13", to: "e-16" });
    expect(apart.entries.filter(isSnipMarker)).toHaveLength(2);
    expect(apart.entries[0]).toBe(once.entries[0]);
    const joined = snipped(apart.entries, { from: "e-5", to: "e-12" });
    expect(joined.entries.filter(isSnipMarker)).toHaveLength(1);
    expect(textOf(joined.entries[0])).toContain("16 messages were removed");
  });

  it("snip merges markers across entries that are never sent, but not across a summary", () => {
    const c = new ConversationBuilder();
    c.user("one");
    const progress = c.push({ ...c.link(), type: "progress", data: {} });
    c.user("two");
    const summary = c.summary("what followed");
    c.user("three");
    const { entries } = snipped(c.entries, { keepLastTurns: 0 });
    expect(entries.map(isSnipMarker)).toEqual([true, false, false, true]);
    expect(entries.slice(1, 3)).toEqual([progress, summary]);
    // No model response separates the two removed user entries, so they count as one message.
    expect(textOf(entries[0])).toContain("1 message was");
    expect(textOf(entries[3])).toContain("1 message was");
    expect(entries[0]?.parentUuid).toBe(c.entries.at(-1)?.uuid);
  });

  it("a snip removes thinking that is tied to the removed messages, and keeps earlier thinking", () => {
    const c = new ConversationBuilder();
    c.user("one");
    const early = c.assistant([thinking("early"), { type: "text", text: "first" }]);
    const gone = c.user("two");
    c.assistant([thinking("late"), { type: "text", text: "second" }]);
    const { entries, thinkingBlocks } = snipped(c.entries, { ids: [gone.uuid] }, { bindsThinking: true });
    expect(entries[1]).toBe(early);
    expect(thinkingBlocks).toBe(1);
    expect(JSON.stringify(entries)).not.toContain("late");
    expect(JSON.stringify(snipped(c.entries, { ids: [gone.uuid] }).entries)).toContain("late");
  });

  it("snip rejects a selection that names an unknown message", async () => {
    const { entries } = talk(1);
    const wrong: SnipSelection[] = [
      { ids: ["nowhere"] },
      { from: "e-1", to: "nowhere" },
      { from: 0, to: 99 },
    ];
    for (const selection of wrong) {
      expect(await codeOf(() => snipped(entries, selection))).toBe("message-not-found");
    }
  });
});

describe("snip with any selection", () => {
  /**
   * Generated selections. The test converts their numbers to uuids, because an index changes with each
   * removal.
   */
  const selections = fc.array(
    fc.oneof(
      fc.record({ ids: fc.array(fc.nat(60), { minLength: 1, maxLength: 4 }) }),
      fc.record({ from: fc.nat(60), to: fc.nat(60) }),
      fc.record({ keepLastTurns: fc.nat(6) }),
    ),
    { minLength: 1, maxLength: 3 },
  );

  const inConversation = (entries: readonly Entry[]): readonly Entry[] =>
    entries.slice(
      Math.max(
        0,
        entries.findLastIndex(
          (entry) => isEntry(entry) && entry.type === "system" && entry.subtype === "compact_boundary",
        ),
      ),
    );

  function named(entries: readonly Entry[], drawn: object): SnipSelection | undefined {
    const uuids = inConversation(entries).flatMap((entry) =>
      isEntry(entry) && entry.uuid ? [entry.uuid] : [],
    );
    const name = (index: number): string => uuids[index % uuids.length] ?? "";
    if (uuids.length === 0) return undefined;
    if ("ids" in drawn) return { ids: (drawn.ids as number[]).map(name) };
    if ("from" in drawn && "to" in drawn)
      return { from: name(drawn.from as number), to: name(drawn.to as number) };
    return drawn as SnipSelection;
  }

  it("any snip keeps the request valid and keeps calls with their results, and a repeated snip changes nothing", () => {
    fc.assert(
      fc.property(arbitraryEntries(), selections, fc.boolean(), (entries, drawn, bindsThinking) => {
        deepFreeze(entries);
        let current = entries;
        for (const selection of drawn) {
          const wanted = named(current, selection);
          if (wanted === undefined) return;
          const result = snipped(current, wanted, { bindsThinking });
          expect(apiRuleViolations(flatten(result.entries))).toEqual([]);
          const [after, before] = [result.entries, current].map((list) => indexPairs(inConversation(list)));
          expect(after?.unanswered.length).toBeLessThanOrEqual(before?.unanswered.length ?? 0);
          expect(after?.orphanResults.length).toBeLessThanOrEqual(before?.orphanResults.length ?? 0);
          const known = new Set(current);
          const fresh = result.entries.filter((entry) => !known.has(entry) && !isSnipMarker(entry));
          if (!bindsThinking) expect(fresh).toEqual([]);
          expect(snipped(result.entries, wanted, { bindsThinking }).entries).toBe(result.entries);
          const counted = (list: readonly Entry[]): number =>
            list.reduce((sum, entry) => sum + (isSnipMarker(entry) ? entry.snipped.messages : 0), 0);
          expect(counted(result.entries)).toBe(counted(current) + result.messages);
          current = result.entries;
        }
      }),
      { numRuns: 300 },
    );
  });
});
