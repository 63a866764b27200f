import { describe, expect, it } from "vitest";
import { ConversationBuilder, thinking } from "../../../../../test/support/builders.ts";
import { measureEntries } from "../../measure/tokens/measure.ts";
import type { Entry } from "../../messages/entry.ts";
import { type CompactionPlan, planCompaction } from "../plan/compaction-plan.ts";
import { type KeptMessages, keptMessages } from "./kept-messages.ts";

const BOUND = { bindsThinking: true, isSigned: false };
const SIGNED = { bindsThinking: true, isSigned: true };
const TITLE = { type: "summary", summary: "a title" } as unknown as Entry;

const upTo = (entries: readonly Entry[], at: number): CompactionPlan =>
  planCompaction({ entries }, { variant: "up-to", at });
const from = (entries: readonly Entry[], at: number): CompactionPlan =>
  planCompaction({ entries }, { variant: "from", at });
const thoughtsIn = ({ entries }: KeptMessages): number =>
  JSON.stringify(entries).split('"signature"').length - 1;

const entriesWithoutIds = (entries: readonly Entry[]): readonly Entry[] =>
  entries.map(({ uuid: _, ...entry }) => entry as Entry);

/** Even indexes are user messages, odd ones are replies with thinking. */
function talk(turns: number): ConversationBuilder {
  const c = new ConversationBuilder();
  for (let turn = 0; turn < turns; turn++) {
    c.user(`request ${turn}`);
    c.assistant([thinking(`thought ${turn}`), { type: "text", text: `answer ${turn}` }]);
  }
  return c;
}

describe("kept messages after their thinking was dropped", () => {
  it("counts the kept tokens without the dropped thinking, and records the id of the last kept message", () => {
    const c = talk(4);
    const plan = upTo([...c.entries, TITLE], 4);
    const kept = keptMessages(plan, BOUND);
    expect(thoughtsIn(kept)).toBe(0);
    expect(kept.withoutThinkingUpTo).toBe(c.entries.at(-1)?.uuid);
    const withoutIds = entriesWithoutIds(plan.kept);
    expect(keptMessages({ ...plan, kept: withoutIds }, BOUND).withoutThinkingUpTo).toBeUndefined();
    const difference =
      measureEntries(plan.kept, plan.countTokens) - measureEntries(kept.entries, plan.countTokens);
    expect(difference).toBeGreaterThan(0);
    expect(kept.tokens).toBe(plan.keptTokens - difference);
  });

  it("records no id up to which thinking was dropped when the kept messages had no thinking", () => {
    const c = new ConversationBuilder();
    for (let turn = 0; turn < 4; turn++) c.user(`request ${turn}`);
    const plan = upTo(c.entries, 2);
    expect(keptMessages(plan, BOUND)).toStrictEqual({
      entries: plan.kept,
      tokens: plan.keptTokens,
      pending: [],
      pendingTokens: 0,
      withoutThinkingUpTo: undefined,
    });
  });
});

describe("kept messages after a provider-signed summary", () => {
  const keepsThinking = (entries: readonly Entry[], at: number): boolean =>
    thoughtsIn(keptMessages(upTo(entries, at), SIGNED)) > 0;

  it("compares the roles of the messages next to a signed summary, and ignores entries that are no messages", () => {
    const { entries } = talk(4);
    const progress = { type: "progress", uuid: "p" } as unknown as Entry;
    expect(keepsThinking([...entries.slice(0, 4), progress, ...entries.slice(4)], 5)).toBe(true);
    expect(keepsThinking([...entries.slice(0, 4), progress, ...entries.slice(4)], 4)).toBe(true);
    expect(keepsThinking([...entries.slice(0, 3), progress, ...entries.slice(4)], 4)).toBe(false);
    expect(keepsThinking([...entries.slice(0, 3), progress, ...entries.slice(4)], 3)).toBe(false);
  });

  it("drops thinking when both neighbors of a signed summary are replies, or both are user content", () => {
    const { entries } = talk(4);
    expect(keepsThinking([...entries.slice(0, 4), ...entries.slice(5)], 4)).toBe(false);
    const attached = new ConversationBuilder("x").attachment({ type: "todo", content: [] });
    expect(keepsThinking([...entries.slice(0, 4), attached, ...entries.slice(4)], 5)).toBe(false);
    expect(keepsThinking([...entries.slice(0, 4), attached, ...entries.slice(4)], 4)).toBe(true);
  });

  it("keeps thinking when no message precedes or no message follows a signed summary", () => {
    const { entries } = talk(3);
    const plan = upTo(entries, 2);
    const silent = { ...plan, summarized: [TITLE] };
    expect(thoughtsIn(keptMessages(silent, SIGNED))).toBe(2);
    expect(keptMessages({ ...plan, kept: [TITLE] }, SIGNED).entries).toEqual([TITLE]);
  });
});

describe("thinking that an earlier compaction dropped", () => {
  const marked = (mark: string | undefined): ConversationBuilder => {
    const c = new ConversationBuilder();
    c.boundary(
      mark === undefined ? {} : { longhaul: { overheadTokens: 0, tokenRatio: 1, withoutThinkingUpTo: mark } },
    );
    for (let at = 1; at < 9; at++) c.user(`message ${at}`);
    return c;
  };
  const markAfter = (plan: CompactionPlan): string | undefined =>
    keptMessages(plan, { bindsThinking: false, isSigned: false }).withoutThinkingUpTo;

  it("keeps the recorded id up to which thinking was dropped while the message with this id is kept", () => {
    const { entries } = marked("e-6");
    expect(markAfter(upTo(entries, 3))).toBe("e-6");
    expect(markAfter(from(entries, 7))).toBe("e-6");
  });

  it("removes the recorded id up to which thinking was dropped once all messages up to this id are summarized", () => {
    expect(markAfter(upTo(marked("e-4").entries, 6))).toBeUndefined();
  });

  it("records the last kept message instead when the message up to which thinking was dropped is summarized", () => {
    const { entries } = marked("e-8");
    expect(markAfter(from(entries, 4))).toBe("e-4");
    const titled = [...entries.slice(0, 4), TITLE, ...entries.slice(4)];
    expect(markAfter(from(titled, 5))).toBe("e-4");
  });

  it("returns no id up to which thinking was dropped when no boundary records an id or its message is missing", () => {
    expect(markAfter(upTo(marked(undefined).entries, 3))).toBeUndefined();
    expect(markAfter(upTo(marked("elsewhere").entries, 3))).toBeUndefined();
    expect(markAfter(from(marked("elsewhere").entries, 3))).toBeUndefined();
    const { entries } = marked("e-6");
    expect(markAfter(upTo(entries.slice(1), 3))).toBeUndefined();
    const odd = [{ type: "system", subtype: "compact_boundary" } as unknown as Entry, ...entries.slice(1)];
    expect(markAfter(upTo(odd, 3))).toBeUndefined();
    expect(markAfter(from(entries, 1))).toBeUndefined();
    const unmarked = marked(undefined).entries;
    const withoutIds = [...unmarked.slice(0, 6), ...entriesWithoutIds(unmarked.slice(6))];
    expect(markAfter(from(withoutIds, 4))).toBeUndefined();
  });
});
