import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryEntries } from "../../../../../test/support/arbitraries.ts";
import { ConversationBuilder, thinking } from "../../../../../test/support/builders.ts";
import { deepFreeze } from "../../../../../test/support/deep-freeze.ts";
import { countingPorts, longSession } from "../../../../../test/support/long-session.ts";
import { ESTIMATORS } from "../../measure/tokens/estimators.ts";
import { measureEntry } from "../../measure/tokens/measure.ts";
import type { Entry } from "../../messages/entry.ts";
import { isEntry } from "../../messages/entry.ts";
import { CLEARED_RESULT_TEXT, isCollapsedSpan, isCollapseMark } from "../../messages/stand-ins.ts";
import { type CollapseOptions, commitSpans, linesOf, type StagedSpan } from "./commit.ts";
import { expandableSpans, expandSpans } from "./expand.ts";
import { planSpan } from "./plan-span.ts";
import { collapsedIn } from "./report.ts";

const options = (more: Partial<CollapseOptions> = {}): CollapseOptions => ({
  ports: countingPorts(),
  tokensOf: (entry) => measureEntry(entry, ESTIMATORS.o200k),
  ...more,
});

const stage = (entries: readonly Entry[], from: number, to: number, spanId = `s${from}`): StagedSpan => {
  const uuids = entries.slice(from, to).flatMap((entry) => entry.uuid ?? []);
  return {
    spanId,
    uuids,
    messages: uuids.length,
    text: `[These notes replace 2 earlier messages]\n\n## Errors\nnotes ${from}`,
  };
};

const uuidsOf = (entries: readonly Entry[]): unknown[] => entries.map((entry) => entry?.uuid);

describe("commitSpans", () => {
  const { entries } = longSession(6);
  deepFreeze(entries);

  it("commitSpans replaces the messages of each span with its summary and keeps all other entries", () => {
    const committed = commitSpans(entries, [stage(entries, 8, 12), stage(entries, 0, 4)], options());
    expect(uuidsOf(committed.entries)).toEqual([
      "s0",
      ...uuidsOf(entries.slice(4, 8)),
      "s8",
      ...uuidsOf(entries.slice(12)),
      "new-1",
    ]);
    expect(committed.entries[1]).toBe(entries[4]);
    expect(committed.stale).toBe(0);
    expect(committed.tokensBefore).toBeGreaterThan(committed.tokensAfter);
    expect(committed.mark).toMatchObject({
      subtype: "collapse_committed",
      collapse: { spanIds: ["s0", "s8"], tokensSaved: committed.tokensBefore - committed.tokensAfter },
    });
    expect(committed.gone).toEqual([entries.slice(0, 4), entries.slice(8, 12)]);
  });

  it("the lines of a commit form a chain after the newest transcript line, and the mark is the last line", () => {
    const lines = linesOf(commitSpans(entries, [stage(entries, 0, 4), stage(entries, 4, 8)], options()));
    expect(lines.map(({ uuid, parentUuid }) => [uuid, parentUuid])).toEqual([
      ["s0", entries.at(-1)?.uuid],
      ["s4", "s0"],
      ["new-1", "s4"],
    ]);
    expect(lines[0]).toMatchObject({ type: "user", isMeta: true, sessionId: "session-1", cwd: "/project" });
    const [elsewhere] = linesOf(commitSpans(entries, [stage(entries, 0, 4)], options({ leafUuid: null })));
    expect(elsewhere?.parentUuid).toBeNull();
  });

  it("commitSpans skips a span whose messages are no longer all present in the same order", () => {
    const whole = stage(entries, 0, 4);
    const swapped = [entries[1], entries[0], ...entries.slice(2)] as readonly Entry[];
    const without = entries.filter((_, at) => at !== 2);
    const between = [...entries.slice(0, 2), ...longSession(1, "x").entries, ...entries.slice(2)];
    for (const changed of [swapped, without, between, entries.slice(1), entries.slice(0, 3), []]) {
      const committed = commitSpans(changed, [whole], options());
      expect(committed.entries).toBe(changed);
      expect([committed.stale, committed.mark, linesOf(committed)]).toEqual([1, undefined, []]);
    }
    const overlapping = commitSpans(entries, [whole, stage(entries, 2, 6)], options());
    expect(overlapping.stale).toBe(1);
    expect(overlapping.spans).toHaveLength(1);
    expect(commitSpans(entries, [{ ...whole, uuids: [] }], options()).entries).toBe(entries);
  });

  it("leaves out thinking that is invalid after a committed span, and the new lines record the removal", () => {
    const c = new ConversationBuilder();
    for (let turn = 0; turn < 4; turn++) {
      c.user(`request ${turn}`);
      c.assistant([thinking(`thought ${turn}`), { type: "text", text: `answer ${turn}` }]);
    }
    const bound = commitSpans(c.entries, [stage(c.entries, 2, 4)], options({ bindsThinking: true }));
    expect(bound.thinkingBlocks).toBe(2);
    expect(JSON.stringify(bound.entries)).toContain("thought 0");
    expect(JSON.stringify(bound.entries)).not.toContain("thought 3");
    expect(bound.spans[0]?.collapsed.bindsThinking).toBe(true);
    expect(bound.mark?.collapse.bindsThinking).toBe(true);
    const free = commitSpans(c.entries, [stage(c.entries, 2, 4)], options());
    expect(free.thinkingBlocks).toBe(0);
    expect(JSON.stringify(free)).not.toContain("bindsThinking");
  });
});

describe("expandSpans", () => {
  it("expanding a collapsed span restores the conversation byte for byte", () => {
    fc.assert(
      fc.property(arbitraryEntries(), fc.nat(3_000), (generated, effectiveTokens) => {
        const entries = deepFreeze([...generated, ...longSession(3).entries]) as readonly Entry[];
        const next = planSpan({ entries }, { effectiveTokens, isUrgent: true });
        fc.pre(next !== undefined && entries.every(isEntry));
        if (next === undefined) return;
        const staged = { ...next, spanId: "span", text: "notes" };
        const committed = commitSpans(entries, [staged], options());
        const expanded = expandSpans(committed.entries, ["span"], committed.gone.flat(), options());
        expect(JSON.stringify(expanded.entries.filter((entry) => !isCollapseMark(entry)))).toBe(
          JSON.stringify(entries),
        );
        expect(expanded.messages).toBe(next.messages);
        expect(expanded.mark?.collapse.tokensSaved).toBe(-(committed.mark?.collapse.tokensSaved ?? 0));
        expect(expandSpans(expanded.entries, ["span"], entries, options()).entries).toBe(expanded.entries);
      }),
      { numRuns: 150 },
    );
  });

  const { entries } = longSession(3);
  const committed = commitSpans(entries, [stage(entries, 0, 4)], options());

  it("expandSpans changes nothing when a message of the span is missing or the span is unknown", () => {
    const known = committed.gone.flat();
    expect(expandSpans(committed.entries, ["other"], known, options()).entries).toBe(committed.entries);
    const partly = expandSpans(committed.entries, ["s0"], known.slice(1), options());
    expect(partly.entries).toBe(committed.entries);
    expect(partly.mark).toBeUndefined();
  });

  it("does not expand a collapsed span that a compaction has already summarized", () => {
    const settled = committed.entries.map((entry) =>
      isCollapsedSpan(entry) ? { ...entry, collapsed: { ...entry.collapsed, isSettled: true } } : entry,
    );
    expect(expandableSpans(committed.entries)).toHaveLength(1);
    expect(expandableSpans(settled)).toEqual([]);
    expect(expandSpans(settled, ["s0"], committed.gone.flat(), options()).entries).toBe(settled);
  });

  it("tool results that were cleared before the collapse are still cleared after the expansion", () => {
    const cleared = JSON.parse(
      JSON.stringify(entries).replaceAll(
        /"content":"line of part 0[^"]*"/g,
        `"content":"${CLEARED_RESULT_TEXT}"`,
      ),
    ) as readonly Entry[];
    const after = commitSpans(cleared, [stage(cleared, 0, 4)], options());
    expect(after.spans[0]?.collapsed.clearedToolUseIds).toEqual(["long-t0"]);
    const expanded = expandSpans(after.entries, ["s0"], entries, options());
    expect(expanded.entries.slice(0, 4)).toEqual(cleared.slice(0, 4));
  });

  it("an expanded span does not contain thinking that became invalid, whatever model is used now", () => {
    const c = new ConversationBuilder();
    c.user("request");
    c.assistant([thinking("old"), { type: "text", text: "answer" }]);
    c.user("again");
    const bound = commitSpans(c.entries, [stage(c.entries, 0, 2)], options({ bindsThinking: true }));
    const expanded = expandSpans(bound.entries, ["s0"], c.entries, options());
    expect(JSON.stringify(expanded.entries)).not.toContain("old");
    expect(expanded.thinkingBlocks).toBe(0);
  });
});

describe("collapsedIn", () => {
  it("collapsedIn lists collapsed spans with id, sizes and first line, and reads damaged sizes as 0", () => {
    const { entries } = longSession(3);
    const committed = commitSpans(entries, [stage(entries, 0, 4)], options());
    const [span] = committed.spans;
    expect(collapsedIn(committed.entries)).toEqual([
      {
        spanId: "s0",
        messages: 4,
        tokensBefore: span?.collapsed.tokensBefore,
        tokensAfter: span?.collapsed.tokensAfter,
        firstLine: "notes 0",
        canBeExpanded: true,
      },
    ]);
    const damaged = {
      ...span,
      collapsed: { spanId: "x", tokensBefore: "9", isSettled: true },
    } as unknown as Entry;
    expect(collapsedIn([damaged])).toMatchObject([
      { spanId: "x", messages: 1, tokensBefore: 0, tokensAfter: 0, canBeExpanded: false },
    ]);
    expect(collapsedIn(entries)).toEqual([]);
  });
});
