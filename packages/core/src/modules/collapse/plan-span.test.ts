import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { apiRuleViolations } from "../../../../../test/support/api-rules.ts";
import { arbitraryEntries } from "../../../../../test/support/arbitraries.ts";
import { ConversationBuilder } from "../../../../../test/support/builders.ts";
import { deepFreeze } from "../../../../../test/support/deep-freeze.ts";
import { countingPorts, longSession, withoutUsage } from "../../../../../test/support/long-session.ts";
import { ESTIMATORS } from "../../measure/tokens/estimators.ts";
import { measureEntries, measureEntry } from "../../measure/tokens/measure.ts";
import { type Entry, isCompactBoundary, isEntry, isSummaryEntry } from "../../messages/entry.ts";
import { indexPairs } from "../../messages/pairs.ts";
import { isCollapsedSpan } from "../../messages/stand-ins.ts";
import { flatten } from "../../request/flatten/flatten.ts";
import { commitSpans } from "./commit.ts";
import { planSpan, type SpanPlan } from "./plan-span.ts";

const EFFECTIVE = 40_000;
const tokensIn = (entries: readonly Entry[]): number => measureEntries(entries, ESTIMATORS.o200k);

const plan = (entries: readonly Entry[], more: object = {}): SpanPlan | undefined =>
  planSpan({ entries }, { effectiveTokens: EFFECTIVE, ...more });

/**
 * Collapses one span after another. Stops when nothing is left to collapse, or after the maximum number of
 * times.
 */
function collapseRepeatedly(
  entries: readonly Entry[],
  times: number,
  isUrgent = false,
  ports = countingPorts(),
): readonly Entry[] {
  let now = entries;
  for (let time = 0; time < times; time++) {
    const next = plan(now, { isUrgent });
    if (next === undefined) return now;
    const text = `notes ${time} `.repeat(next.budgetTokens / 8);
    const staged = { spanId: ports.newUuid(), uuids: next.uuids, messages: next.messages, text };
    const tokensOf = (entry: Entry): number => measureEntry(entry, ESTIMATORS.o200k);
    const { entries: after, stale } = commitSpans(now, [staged], { ports, tokensOf });
    expect(stale).toBe(0);
    now = after;
  }
  return now;
}

const session = (turns = 80): readonly Entry[] => deepFreeze(longSession(turns).entries.map(withoutUsage));

describe("planSpan", () => {
  it("plans a span of the oldest messages: a tenth of the window, and a summary of at most a third of the span", () => {
    const entries = session();
    const next = plan(entries);
    expect(next?.uuids[0]).toBe(entries[0]?.uuid);
    expect(next?.tokens).toBeGreaterThan(EFFECTIVE * 0.08);
    expect(next?.tokens).toBeLessThan(EFFECTIVE * 0.15);
    expect(next?.budgetTokens).toBe(Math.floor((next?.tokens ?? 0) / 3));
  });

  it("a planned span never contains a compaction boundary, its summary or anything before them", () => {
    const c = longSession(30, "old");
    c.boundary();
    c.summary("what was");
    const { entries } = longSession(60, "new");
    const next = plan([...c.entries, ...entries].map(withoutUsage));
    expect(next?.uuids[0]).toBe(entries[0]?.uuid);
  });

  it("keeps the newest messages out of spans: at least a tenth of a small window and at least five messages", () => {
    const entries = session(12);
    expect(plan(entries, { effectiveTokens: 1_000_000, isUrgent: true })).toBeUndefined();
    const left = collapseRepeatedly(entries, 50, true).filter((entry) => !isCollapsedSpan(entry));
    expect(tokensIn(left)).toBeGreaterThanOrEqual(EFFECTIVE * 0.1);

    const huge = new ConversationBuilder();
    for (let at = 0; at < 6; at++) huge.user(`${"word ".repeat(20_000)}${at}`);
    expect(plan(huge.entries)?.uuids).toEqual([huge.entries[0]?.uuid]);
    expect(plan(huge.entries.slice(0, 5))).toBeUndefined();
  });

  it("planSpan plans a small span only when room is needed now", () => {
    const entries = session(16);
    const few = entries.slice(0, 36);
    expect(plan(few)).toBeUndefined();
    expect(plan(few, { isUrgent: true })?.tokens).toBeGreaterThan(EFFECTIVE * 0.025);
  });

  it("planSpan plans the next span after the messages of a span that is already prepared", () => {
    const entries = session();
    const first = plan(entries);
    const second = plan(entries, { taken: new Set(first?.uuids) });
    expect(second?.uuids[0]).toBe(entries[first?.uuids.length ?? 0]?.uuid);
  });

  it("keeps a tool call and its result in one span, however large the result is", () => {
    const c = longSession(8);
    c.tool("big", "Bash", { command: "make" }, "line of output\n".repeat(20_000));
    const { entries } = longSession(40, "later");
    const all = [...c.entries, ...entries].map(withoutUsage);
    const first = plan(all);
    expect(first?.tokens).toBeLessThan(EFFECTIVE * 0.15);
    const rest = plan(all, { taken: new Set(first?.uuids) });
    expect(JSON.stringify(rest?.entries.slice(-2))).toContain('"tool_use_id":"big"');
    expect(rest?.tokens).toBeGreaterThan(EFFECTIVE);
    expect(rest?.budgetTokens).toBe(8_000);
  });

  it("planSpan merges earlier spans into one when all old messages are already collapsed", () => {
    let now: readonly Entry[] = [];
    const sizes: number[] = [];
    const ports = countingPorts();
    for (let day = 0; day < 30; day++) {
      now = collapseRepeatedly(
        [...now, ...longSession(20, `day${day}`).entries.map(withoutUsage)],
        50,
        true,
        ports,
      );
      sizes.push(tokensIn(now));
    }
    expect(now.filter(isCollapsedSpan).some(({ collapsed }) => collapsed.messages > 300)).toBe(true);
    expect(Math.max(...sizes)).toBeLessThan(EFFECTIVE * 0.6);
    expect(Math.max(...sizes.slice(15))).toBeLessThan(Math.max(...sizes.slice(0, 15)) * 1.3);
  });

  it("a planned span contains only messages that occur once, can be removed safely and are not the newest", () => {
    fc.assert(
      fc.property(arbitraryEntries(), fc.boolean(), fc.nat(4_000), (generated, isUrgent, effectiveTokens) => {
        const entries = deepFreeze([...generated, ...session(3)]) as readonly Entry[];
        const next = planSpan({ entries }, { effectiveTokens, isUrgent });
        if (next === undefined) return;
        const from = entries.findLastIndex((entry) => isEntry(entry) && isCompactBoundary(entry));
        const current = entries.slice(Math.max(0, from)).filter(isEntry);
        const begin = current.findIndex(({ uuid }) => uuid === next.uuids[0]);
        const part = current.slice(begin, begin + next.uuids.length);
        expect(part.map(({ uuid }) => uuid)).toEqual(next.uuids);
        expect(new Set(next.uuids).size).toBe(next.uuids.length);
        expect(part.some((entry) => isCompactBoundary(entry) || isSummaryEntry(entry))).toBe(false);
        expect(current.slice(begin + part.length).filter(isMessage).length).toBeGreaterThanOrEqual(5);
        const rest = [...current.slice(0, begin), ...current.slice(begin + part.length)];
        const orphans = (list: readonly Entry[]): number => indexPairs(list).orphanResults.length;
        expect(orphans(part) + orphans(rest)).toBe(orphans(current));
        expect(apiRuleViolations(flatten(collapseRepeatedly(entries, 1, isUrgent)))).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });
});

const isMessage = ({ type }: Entry): boolean => type === "user" || type === "assistant";
