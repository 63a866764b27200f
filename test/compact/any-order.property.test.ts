import type { Entry } from "@longhaul/core";
import { LonghaulError } from "@longhaul/core";
import type { CompactionPorts } from "@longhaul/core/compaction";
import {
  type Compaction,
  type CompactionPlan,
  compact,
  planCompaction,
  planReactive,
} from "@longhaul/core/compaction";
import { ESTIMATORS } from "@longhaul/core/measure";
import { indexPairs } from "@longhaul/core/messages";
import { type SnipOptions, snip } from "@longhaul/core/modules";
import { flatten } from "@longhaul/core/request";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { tierOf } from "../../packages/core/src/compaction/apply/assemble.ts";
import { rebuild } from "../../packages/core/src/compaction/compact.ts";
import { lastBoundaryIndex } from "../../packages/core/src/compaction/plan/sized.ts";
import { measureEntry } from "../../packages/core/src/measure/tokens/measure.ts";
import { isCompactBoundary, isEntry, isSummaryEntry } from "../../packages/core/src/messages/entry.ts";
import { isCollapseMark, isStandIn, standInUuids } from "../../packages/core/src/messages/stand-ins.ts";
import { commitSpans, type StagedSpan } from "../../packages/core/src/modules/collapse/commit.ts";
import { expandableSpans, expandSpans } from "../../packages/core/src/modules/collapse/expand.ts";
import { planSpan } from "../../packages/core/src/modules/collapse/plan-span.ts";
import { countOriginalMessages } from "../../packages/core/src/request/flatten/count-messages.ts";
import { notesSource, planFromNotes } from "../../packages/notes/src/plan-from-notes.ts";
import { apiRuleViolations } from "../support/api-rules.ts";
import { arbitraryEntries } from "../support/arbitraries.ts";
import { deepFreeze } from "../support/deep-freeze.ts";
import { countingPorts, longSession, withoutUsage } from "../support/long-session.ts";

type Step =
  | { readonly kind: "whole"; readonly keepRecentTokens: number }
  | { readonly kind: "from" | "up-to"; readonly at: number }
  | { readonly kind: "reactive"; readonly tokens: number }
  /** Index of the last message that the notes cover. Negative if the notes name no message. */
  | { readonly kind: "notes"; readonly remembered: number }
  | { readonly kind: "snip-range"; readonly from: number; readonly to: number }
  | { readonly kind: "snip-turns"; readonly keepLastTurns: number }
  | { readonly kind: "collapse"; readonly spans: number; readonly effectiveTokens: number }
  | { readonly kind: "expand"; readonly which: number }
  | { readonly kind: "go-on"; readonly turns: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant("whole" as const), keepRecentTokens: fc.constantFrom(0, 200, 2_000) }),
  fc.record({ kind: fc.constantFrom("from" as const, "up-to" as const), at: fc.nat(500) }),
  fc.record({ kind: fc.constant("reactive" as const), tokens: fc.integer({ min: 5_000, max: 90_000 }) }),
  fc.record({ kind: fc.constant("notes" as const), remembered: fc.integer({ min: -1, max: 500 }) }),
  fc.record({ kind: fc.constant("snip-range" as const), from: fc.nat(500), to: fc.nat(500) }),
  fc.record({ kind: fc.constant("snip-turns" as const), keepLastTurns: fc.integer({ min: 1, max: 12 }) }),
  fc.record({
    kind: fc.constant("collapse" as const),
    spans: fc.integer({ min: 1, max: 4 }),
    effectiveTokens: fc.constantFrom(2_000, 8_000, 30_000),
  }),
  fc.record({ kind: fc.constant("expand" as const), which: fc.nat(3) }),
  fc.record({ kind: fc.constant("go-on" as const), turns: fc.integer({ min: 1, max: 8 }) }),
);

type CompactStep = Extract<Step, { kind: "whole" | "from" | "up-to" | "reactive" | "notes" }>;

const NOTES = { text: "# Current State\n_what goes on_\n\nThe notes of all that went before." };
const REFUSALS = ["not-enough-messages", "compaction-ineffective"];

/** A conversation that goes through any operations in any order. Each operation is checked. */
class Life {
  entries: readonly Entry[];
  readonly #ports: CompactionPorts = countingPorts();
  readonly #bindsThinking: boolean;
  /** All entries that the conversation ever had, like a transcript. */
  readonly #written = new Map<string, Entry>();
  #goneOn = 0;

  constructor(entries: readonly Entry[], bindsThinking: boolean) {
    this.entries = entries;
    this.#bindsThinking = bindsThinking;
  }

  async take(next: Step): Promise<void> {
    if (next.kind === "go-on") {
      const { entries } = longSession(next.turns, `on${++this.#goneOn}`);
      this.entries = deepFreeze([...this.entries, ...entries.map(withoutUsage)]);
    } else if (next.kind === "snip-range" || next.kind === "snip-turns") this.#snip(next);
    else if (next.kind === "collapse") this.#collapse(next);
    else if (next.kind === "expand") this.#expand(next.which);
    else await this.#compact(next);
    expect(apiRuleViolations(flatten(this.entries))).toEqual([]);
  }

  get #options(): SnipOptions {
    const tokensOf = (entry: Entry): number => measureEntry(entry, ESTIMATORS.o200k);
    return { ports: this.#ports, tokensOf, bindsThinking: this.#bindsThinking };
  }

  /**
   * Collapses several spans in one batch. Checks that a second commit of the same spans changes nothing. Also
   * checks that expanding the spans restores the original entries.
   */
  #collapse({ spans, effectiveTokens }: Extract<Step, { kind: "collapse" }>): void {
    const before = this.entries;
    const staged: StagedSpan[] = [];
    for (let nth = 0; nth < spans; nth++) {
      const taken = new Set(staged.flatMap(({ uuids }) => uuids));
      const plan = planSpan({ entries: before }, { effectiveTokens, isUrgent: true, taken });
      if (plan === undefined) break;
      staged.push({ ...plan, spanId: this.#ports.newUuid(), text: "These notes replace a span." });
    }
    const committed = commitSpans(before, staged, this.#options);
    expect([committed.stale, committed.spans.length]).toEqual([0, staged.length]);
    expect(commitSpans(committed.entries, staged, this.#options).entries).toBe(committed.entries);
    expectAccountedFor(before, committed.entries);
    for (const entry of committed.gone.flat()) this.#written.set(entry.uuid ?? "", entry);
    if (!this.#bindsThinking && before.every(isEntry)) {
      const ids = staged.map(({ spanId }) => spanId);
      const { entries } = expandSpans(committed.entries, ids, committed.gone.flat(), this.#options);
      const isNew = (entry: Entry): boolean => isCollapseMark(entry) && !before.includes(entry);
      expect(entries.filter((entry) => !isNew(entry))).toEqual(before);
    }
    this.entries = deepFreeze(committed.entries);
  }

  #expand(which: number): void {
    const spans = expandableSpans(this.entries);
    const spanId = spans[which % spans.length]?.collapsed.spanId ?? "none";
    const { entries } = expandSpans(this.entries, [spanId], [...this.#written.values()], this.#options);
    expect(entries === this.entries).toBe(spans.length === 0);
    expectAccountedFor(this.entries, entries, 2);
    this.entries = deepFreeze(entries);
  }

  #snip(next: Extract<Step, { kind: "snip-range" | "snip-turns" }>): void {
    const before = this.entries;
    const uuids = before
      .slice(lastBoundaryIndex(before))
      .flatMap((entry) => (isEntry(entry) && entry.uuid !== undefined ? [entry.uuid] : []));
    const pick = (index: number): string => uuids[index % uuids.length] ?? "";
    const selection =
      next.kind === "snip-turns"
        ? { keepLastTurns: next.keepLastTurns }
        : { from: pick(next.from), to: pick(next.to) };
    const { entries } = snip(before, selection, this.#options);
    expect(snip(entries, selection, this.#options).entries).toBe(entries);
    expectAccountedFor(before, entries);
    for (const entry of before) if (isEntry(entry)) this.#written.set(entry.uuid ?? "", entry);
    this.entries = deepFreeze(entries);
  }

  async #compact(next: CompactStep): Promise<void> {
    try {
      const plan = this.#plan(next);
      if (plan === undefined) return;
      expectWhole(plan);
      const bindsThinking = this.#bindsThinking;
      const source = next.kind === "notes" ? notesSource(NOTES) : undefined;
      const compaction = await compact(plan, this.#ports, { bindsThinking, source, leastSaving: "some" });
      expect(tierOf(compaction) === "memory").toBe(next.kind === "notes");
      expectKept(plan, compaction, this.#bindsThinking);
      this.entries = deepFreeze(rebuild(compaction));
      expect(this.entries.filter((entry) => isCompactBoundary(entry))).toEqual([compaction.boundary]);
    } catch (error) {
      if (!(error instanceof LonghaulError)) throw error;
      expect(REFUSALS).toContain(error.code);
    }
  }

  /** Returns undefined if the notes are unusable. */
  #plan(next: CompactStep): CompactionPlan | undefined {
    const snapshot = { entries: this.entries };
    if (next.kind === "whole") return planCompaction(snapshot, { keepRecentTokens: next.keepRecentTokens });
    if (next.kind === "reactive") {
      const failure = { kind: "too-long" as const, tokens: next.tokens, limit: 60_000 };
      return planReactive(snapshot, { failure, targetTokens: 40_000 });
    }
    const fromBoundary = this.entries.slice(lastBoundaryIndex(this.entries)).filter(isEntry);
    if (next.kind === "notes") {
      const coveredUuid = fromBoundary[next.remembered % Math.max(1, fromBoundary.length)]?.uuid;
      const keep = { leastTokens: 500, leastMessages: 2 };
      const made = planFromNotes(snapshot, { coveredUuid, keep, ...NOTES });
      return "plan" in made ? made.plan : undefined;
    }
    return planCompaction(snapshot, { variant: next.kind, at: next.at % Math.max(1, fromBoundary.length) });
  }
}

/** Checks that every entry is summarized or kept, in order, and that no call is separated from its result. */
function expectWhole(plan: CompactionPlan): void {
  const { entries, summarized, kept, keptPlace, pending, isKeptRewritten } = plan;
  const inOrder = keptPlace === "before" ? [...kept, ...summarized, ...pending] : [...summarized, ...kept];
  const withoutBoundary = (list: readonly Entry[]): readonly Entry[] =>
    list.filter((entry) => !isCompactBoundary(entry));
  const isShortened = (plan.unseen?.shortened.length ?? 0) > 0;
  if (!isKeptRewritten && !isShortened) expect(withoutBoundary(inOrder)).toEqual(withoutBoundary(entries));
  const parts = [kept, summarized, pending].map((part) => indexPairs(part));
  const torn = parts.reduce((sum, { orphanResults }) => sum + orphanResults.length, 0);
  expect(torn).toBe(indexPairs(entries).orphanResults.length);
  const open = parts.reduce((sum, { unanswered }) => sum + unanswered.length, 0);
  expect(open).toBeLessThanOrEqual(
    indexPairs(entries).unanswered.length + indexPairs(entries).repeatedUses.length,
  );
}

/**
 * Checks that kept messages are the same objects. A message may differ only if its thinking had to be
 * removed. Shortened messages and markers are not compared, because the transcript has their originals. The
 * summary at the start is always rewritten.
 */
function expectKept(plan: CompactionPlan, { kept, keptPlace }: Compaction, bindsThinking: boolean): void {
  const [opening] = plan.entries.filter((entry) => isEntry(entry) && !isCompactBoundary(entry));
  if (keptPlace === "after" && opening !== undefined && isSummaryEntry(opening)) {
    expect(plan.kept).not.toContain(opening);
  }
  if (plan.isKeptRewritten || plan.entries.some((entry) => isStandIn(entry) || isCollapseMark(entry))) return;
  expect(kept.length).toBe(plan.kept.length);
  for (const [at, entry] of kept.entries()) {
    const hadThinking = JSON.stringify(plan.kept[at]).includes('"signature"');
    if (!(bindsThinking && keptPlace === "after" && hadThinking)) expect(entry).toBe(plan.kept[at]);
  }
}

/**
 * Checks that each removed message with an id is named by a marker or a span. Also checks that the count of
 * original messages does not drop. A message that is only partly in a span counts twice until the span is
 * expanded. `joined` is the allowed number of such messages.
 */
function expectAccountedFor(before: readonly Entry[], after: readonly Entry[], joined = 0): void {
  const named = new Set(after.filter(isEntry).flatMap((entry) => [entry.uuid, ...standInUuids(entry)]));
  const isNamed = (entry: Entry): boolean =>
    entry.uuid === undefined ||
    named.has(entry.uuid) ||
    (isStandIn(entry) && standInUuids(entry).every((uuid) => named.has(uuid)));
  const isMessage = (entry: Entry): boolean => ["user", "assistant", "attachment"].includes(entry.type);
  expect(before.filter((entry) => isEntry(entry) && isMessage(entry) && !isNamed(entry))).toEqual([]);
  expect(countOriginalMessages(after)).toBeGreaterThanOrEqual(countOriginalMessages(before) - joined);
}

describe("compactions, collapses, snips and clearing in any order, any number of times", () => {
  it("any sequence of rewrites leaves a valid request that keeps, summarizes or marks every message", async () => {
    const steps = fc.array(step, { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(arbitraryEntries(), steps, fc.boolean(), async (generated, list, bindsThinking) => {
        const start = [...longSession(20).entries, ...generated.map(withoutUsage)];
        const life = new Life(deepFreeze(start), bindsThinking);
        for (const next of list) await life.take(next);
      }),
      { numRuns: 40 },
    );
  }, 60_000);

  it("every user request stays in the context, or a summary or marker takes its place", async () => {
    const steps = fc.array(step, { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(steps, async (list) => {
        const life = new Life(deepFreeze(longSession(20).entries.map(withoutUsage)), false);
        for (const next of list) {
          const before = JSON.stringify(flatten(life.entries));
          await life.take(next);
          const after = JSON.stringify(flatten(life.entries));
          const missing = [...before.matchAll(/request (\d+): make part \1 work/g)].filter(
            ([text]) => !after.includes(text),
          );
          if (missing.length > 0) expect(after).toMatch(/replaces?|were? removed here|was removed here/);
        }
      }),
      { numRuns: 40 },
    );
  }, 60_000);
});
