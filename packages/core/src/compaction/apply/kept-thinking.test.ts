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

/** 0 said, 1 answered, and so on; answers are thought about. */
function talk(turns: number): ConversationBuilder {
  const c = new ConversationBuilder();
  for (let turn = 0; turn < turns; turn++) {
    c.user(`request ${turn}`);
    c.assistant([thinking(`thought ${turn}`), { type: "text", text: `answer ${turn}` }]);
  }
  return c;
}

describe("kept messages of which thinking is left out", () => {
  it("count what is left of them, and are marked by the last that has an id", () => {
    const c = talk(4);
    const plan = upTo([...c.entries, TITLE], 4);
    const kept = keptMessages(plan, BOUND);
    expect(thoughtsIn(kept)).toBe(0);
    expect(kept.withoutThinkingUpTo).toBe(c.entries.at(-1)?.uuid);
    const nameless = entriesWithoutIds(plan.kept);
    expect(keptMessages({ ...plan, kept: nameless }, BOUND).withoutThinkingUpTo).toBeUndefined();
    const difference =
      measureEntries(plan.kept, plan.countTokens) - measureEntries(kept.entries, plan.countTokens);
    expect(difference).toBeGreaterThan(0);
    expect(kept.tokens).toBe(plan.keptTokens - difference);
  });

  it("have no mark where there was none to leave out", () => {
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

describe("kept messages after a summary that the provider signed", () => {
  const keepsThinking = (entries: readonly Entry[], at: number): boolean =>
    thoughtsIn(keptMessages(upTo(entries, at), SIGNED)) > 0;

  it("are judged by who speaks before and after it, whatever stands between that nobody said", () => {
    const { entries } = talk(4);
    const progress = { type: "progress", uuid: "p" } as unknown as Entry;
    expect(keepsThinking([...entries.slice(0, 4), progress, ...entries.slice(4)], 5)).toBe(true);
    expect(keepsThinking([...entries.slice(0, 4), progress, ...entries.slice(4)], 4)).toBe(true);
    expect(keepsThinking([...entries.slice(0, 3), progress, ...entries.slice(4)], 4)).toBe(false);
    expect(keepsThinking([...entries.slice(0, 3), progress, ...entries.slice(4)], 3)).toBe(false);
  });

  it("lose it where two answers meet, and where an attachment meets what the user said", () => {
    const { entries } = talk(4);
    expect(keepsThinking([...entries.slice(0, 4), ...entries.slice(5)], 4)).toBe(false);
    const attached = new ConversationBuilder("x").attachment({ type: "todo", content: [] });
    expect(keepsThinking([...entries.slice(0, 4), attached, ...entries.slice(4)], 5)).toBe(false);
    expect(keepsThinking([...entries.slice(0, 4), attached, ...entries.slice(4)], 4)).toBe(true);
  });

  it("keep it where nobody has spoken on one side", () => {
    const { entries } = talk(3);
    const plan = upTo(entries, 2);
    const silent = { ...plan, summarized: [TITLE] };
    expect(thoughtsIn(keptMessages(silent, SIGNED))).toBe(2);
    expect(keptMessages({ ...plan, kept: [TITLE] }, SIGNED).entries).toEqual([TITLE]);
  });
});

describe("what an earlier compaction left out", () => {
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

  it("stays out of what is kept of it", () => {
    const { entries } = marked("e-6");
    expect(markAfter(upTo(entries, 3))).toBe("e-6");
    expect(markAfter(from(entries, 7))).toBe("e-6");
  });

  it("is of no more concern once all of it is summarized", () => {
    expect(markAfter(upTo(marked("e-4").entries, 6))).toBeUndefined();
  });

  it("stays out of all that is kept where that came before the marked one", () => {
    const { entries } = marked("e-8");
    expect(markAfter(from(entries, 4))).toBe("e-4");
    const titled = [...entries.slice(0, 4), TITLE, ...entries.slice(4)];
    expect(markAfter(from(titled, 5))).toBe("e-4");
  });

  it("is nothing where no boundary says so, or the marked message is not there", () => {
    expect(markAfter(upTo(marked(undefined).entries, 3))).toBeUndefined();
    expect(markAfter(upTo(marked("elsewhere").entries, 3))).toBeUndefined();
    expect(markAfter(from(marked("elsewhere").entries, 3))).toBeUndefined();
    const { entries } = marked("e-6");
    expect(markAfter(upTo(entries.slice(1), 3))).toBeUndefined();
    const odd = [{ type: "system", subtype: "compact_boundary" } as unknown as Entry, ...entries.slice(1)];
    expect(markAfter(upTo(odd, 3))).toBeUndefined();
    expect(markAfter(from(entries, 1))).toBeUndefined();
    const unmarked = marked(undefined).entries;
    const nameless = [...unmarked.slice(0, 6), ...entriesWithoutIds(unmarked.slice(6))];
    expect(markAfter(from(nameless, 4))).toBeUndefined();
  });
});
