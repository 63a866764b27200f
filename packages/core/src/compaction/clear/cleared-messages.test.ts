import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryWork, indexOf, textOf, tokensOf, work } from "../../../../../test/clear/work.ts";
import { apiRuleViolations } from "../../../../../test/support/api-rules.ts";
import {
  ConversationBuilder,
  image,
  thinking,
  toolResult,
  toolUse,
} from "../../../../../test/support/builders.ts";
import { deepFreeze } from "../../../../../test/support/deep-freeze.ts";
import { ESTIMATORS } from "../../measure/tokens/estimators.ts";
import { measureEntries } from "../../measure/tokens/measure.ts";
import type { Entry } from "../../messages/entry.ts";
import { indexPairs } from "../../messages/pairs.ts";
import { CLEARED_RESULT_TEXT, withClearedResults } from "../../messages/stand-ins.ts";
import { flatten } from "../../request/flatten/flatten.ts";
import { recentlyReadPaths, visiblePaths } from "../restore/read-state.ts";
import type { Clearing } from "./stale-results.ts";
import { applyClearing, chooseBySize, chooseByTime, ELIGIBLE_TOOLS } from "./stale-results.ts";

const UNBOUND = { bindsThinking: false };
const BOUND = { bindsThinking: true };

const allButNewest = (entries: readonly Entry[], keepNewest: number): Clearing =>
  chooseByTime(indexOf(entries), { idleMs: Number.POSITIVE_INFINITY, keepNewest }) as Clearing;

describe("applyClearing", () => {
  it("applyClearing replaces only the content of a cleared tool result and keeps its other fields", () => {
    const talk = new ConversationBuilder();
    talk.assistant([toolUse("a", "Read", {}), toolUse("b", "Read", {})]);
    const mark = { cache_control: { type: "ephemeral" as const } };
    talk.user([
      { ...toolResult("a", [image(), { type: "text", text: "long" }], true), ...mark } as never,
      toolResult("b", textOf(100)),
      { type: "text", text: "go on" },
    ]);
    talk.assistant("going on");
    const { entries } = applyClearing(talk.entries, allButNewest(talk.entries, 1), UNBOUND);
    expect(entries[1]).toMatchObject({
      uuid: talk.entries[1]?.uuid,
      message: {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "a", is_error: true, content: CLEARED_RESULT_TEXT, ...mark },
          toolResult("b", textOf(100)),
          { type: "text", text: "go on" },
        ],
      },
    });
    expect(entries[0]).toBe(talk.entries[0]);
  });

  it("clears every copy of a tool result that occurs more than once", () => {
    const [prompt, use, result, ...rest] = work(100, 100) as [Entry, Entry, Entry, ...Entry[]];
    const entries = [prompt, use, result, result, ...rest];
    const cleared = applyClearing(entries, allButNewest(entries, 1), UNBOUND).entries;
    expect(cleared).toEqual(withClearedResults(entries, new Set(["t0"])));
    expect(cleared[3]).toMatchObject({ message: { content: [{ content: CLEARED_RESULT_TEXT }] } });
  });

  it("applyClearing changes nothing when the clearing is for another conversation or was already applied", () => {
    const entries = work(100, 100, 100);
    const clearing = allButNewest(entries, 1);
    expect(applyClearing([], clearing, BOUND).entries).toEqual([]);
    const others = work(100).slice(0, 1);
    expect(applyClearing(others, clearing, BOUND).entries).toBe(others);
    const cleared = applyClearing(entries, clearing, UNBOUND).entries;
    expect(applyClearing(cleared, clearing, UNBOUND).entries).toBe(cleared);
    const later = new ConversationBuilder("later");
    const since = [...cleared, later.assistant([thinking("since"), { type: "text", text: "on" }])];
    expect(applyClearing(since, clearing, BOUND)).toEqual({ entries: since, removedThinkingBlocks: 0 });
  });

  it("drops thinking after the first cleared tool result only if the model binds thinking to earlier messages", () => {
    const talk = new ConversationBuilder();
    talk.user("go on");
    for (const id of ["a", "b", "c"]) {
      talk.assistant([thinking(`before ${id}`)], { id: `r-${id}` });
      talk.assistant([toolUse(id, id === "a" ? "AskUserQuestion" : "Read", {})], { id: `r-${id}` });
      talk.user([toolResult(id, textOf(100))]);
    }
    const clearing = allButNewest(talk.entries, 1);
    expect(clearing.results.map(({ id }) => id)).toEqual(["b"]);
    const bound = applyClearing(talk.entries, clearing, BOUND);
    expect(bound.removedThinkingBlocks).toBe(1);
    expect(JSON.stringify(bound.entries)).toContain("before b");
    expect(JSON.stringify(bound.entries)).not.toContain("before c");
    const unbound = applyClearing(talk.entries, clearing, UNBOUND);
    expect(unbound.removedThinkingBlocks).toBe(0);
    expect(JSON.stringify(unbound.entries)).toContain("before c");
  });
});

describe("visible and recently read files after a clearing", () => {
  it("no longer counts a file as visible after the result of its read was cleared", () => {
    const entries = work(100, 100);
    const clearing = allButNewest(entries, 1);
    expect(clearing.paths).toEqual(["/project/0.ts"]);
    const cleared = applyClearing(entries, clearing, UNBOUND).entries;
    expect([...visiblePaths(entries)]).toEqual(["/project/0.ts", "/project/1.ts"]);
    expect([...visiblePaths(cleared)]).toEqual(["/project/1.ts"]);
    expect(recentlyReadPaths(cleared)).toEqual(["/project/1.ts", "/project/0.ts"]);
  });
});

const choices = fc.oneof(
  fc.record({
    form: fc.constant("size" as const),
    targetTokens: fc.nat(5_000),
    minimumSavingTokens: fc.nat(100),
    keepNewest: fc.nat(3),
  }),
  fc.record({ form: fc.constant("time" as const), keepNewest: fc.nat(4) }),
);
type Choice = typeof choices extends fc.Arbitrary<infer T> ? T : never;

function choose(index: ReturnType<typeof indexOf>, choice: Choice): Clearing | undefined {
  return choice.form === "size"
    ? chooseBySize(index, choice)
    : chooseByTime(index, { ...choice, idleMs: Number.POSITIVE_INFINITY });
}

describe("clearing any conversation", () => {
  it("clearing keeps any request valid, makes it smaller, and changes only chosen results and later thinking", () => {
    fc.assert(
      fc.property(arbitraryWork(), choices, fc.boolean(), (entries, choice, bindsThinking) => {
        deepFreeze(entries);
        const clearing = choose(indexOf(entries), choice);
        if (clearing === undefined) return;
        const { entries: after } = applyClearing(entries, clearing, { bindsThinking });
        expect(apiRuleViolations(flatten(after))).toEqual([]);
        expect(after.length).toBe(entries.length);
        const measured = (list: readonly Entry[]): number =>
          measureEntries(
            list.filter((entry) => typeof entry?.type === "string"),
            ESTIMATORS.classic,
          );
        expect(measured(after)).toBeLessThan(measured(entries));
        const chosen = new Set(clearing.results.map(({ id }) => id));
        const touched = [...entries.keys()].filter((at) => after[at] !== entries[at]);
        for (const at of touched) {
          const entry = entries[at] as Entry;
          if (entry.type === "assistant") expect(bindsThinking && at >= clearing.followedFrom).toBe(true);
          else expect(resultIds(entry).some((id) => chosen.has(id))).toBe(true);
        }
        if (!bindsThinking) expect(after).toEqual(withClearedResults(entries, chosen));
      }),
      { numRuns: 300 },
    );
  });

  it("clears only results of eligible tools and never the newest results", () => {
    fc.assert(
      fc.property(arbitraryWork(), choices, (entries, choice) => {
        const index = indexOf(entries);
        const clearing = choose(index, choice);
        const { pairs } = indexPairs(entries.filter((entry) => typeof entry?.type === "string"));
        const kept = Math.max(choice.form === "time" ? 1 : 0, choice.keepNewest);
        const newest = index.results().slice(-kept || index.activeCount);
        for (const { id, tool } of clearing?.results ?? []) {
          expect(ELIGIBLE_TOOLS).toContain(tool);
          expect(pairs.get(id)?.name).toBe(tool);
          expect(newest.map((result) => result.id)).not.toContain(id);
        }
      }),
      { numRuns: 300 },
    );
  });

  it("a second clearing run finds nothing to clear, with the updated index and with a newly built index", () => {
    fc.assert(
      fc.property(arbitraryWork(), choices, fc.boolean(), (entries, choice, bindsThinking) => {
        const index = indexOf(entries);
        const clearing = choose(index, choice);
        if (clearing === undefined) return;
        const { entries: after } = applyClearing(entries, clearing, { bindsThinking });
        index.applied(clearing);
        expect(choose(index, choice)).toBeUndefined();
        const rebuilt = indexOf(after);
        expect(choose(rebuilt, choice)).toBeUndefined();
        expect([index.activeCount, index.eligibleTokens]).toEqual([
          rebuilt.activeCount,
          rebuilt.eligibleTokens,
        ]);
        expect(index.describe("size", index.results())).toEqual(rebuilt.describe("size", rebuilt.results()));
      }),
      { numRuns: 300 },
    );
  });

  it("a model that binds thinking to earlier messages gets no thinking after the first cleared tool result", () => {
    fc.assert(
      fc.property(arbitraryWork(), choices, (entries, choice) => {
        const clearing = choose(indexOf(entries), choice);
        if (clearing === undefined) return;
        const before = JSON.stringify(flatten(entries));
        const after = JSON.stringify(flatten(applyClearing(entries, clearing, BOUND).entries));
        let same = 0;
        while (before[same] === after[same]) same++;
        expect(after.slice(same)).not.toContain('"signature"');
      }),
      { numRuns: 300 },
    );
  });
});

function resultIds(entry: Entry): readonly string[] {
  if (entry.type !== "user" || typeof entry.message.content === "string") return [];
  return entry.message.content.flatMap((block) => (block?.type === "tool_result" ? [block.tool_use_id] : []));
}

it("reports exactly the tokens that a clearing removes from the conversation", () => {
  const entries = work(1_000, 2_000, 3_000);
  const clearing = allButNewest(entries, 1);
  const { entries: after } = applyClearing(entries, clearing, UNBOUND);
  const tokens = (list: readonly Entry[]): number =>
    list.reduce(
      (sum, entry) => sum + resultBlocks(entry).reduce((inner, block) => inner + tokensOf(block), 0),
      0,
    );
  expect(tokens(entries) - tokens(after)).toBe(clearing.tokensBefore - clearing.tokensAfter);
});

function resultBlocks(entry: Entry): readonly Parameters<typeof tokensOf>[0][] {
  if (entry.type !== "user" || typeof entry.message.content === "string") return [];
  return entry.message.content.filter((block) => block.type === "tool_result");
}
