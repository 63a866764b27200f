import { applyClearing } from "@longhaul/core/clear";
import { compact, linesInPlace, planCompaction } from "@longhaul/core/compaction";
import { LonghaulError } from "@longhaul/core/errors";
import type { Entry } from "@longhaul/core/messages";
import { withClearedResults } from "@longhaul/core/messages";
import { snip } from "@longhaul/core/modules";
import { flatten } from "@longhaul/core/request";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { indexOf, textOf } from "../../../../test/clear/work.ts";
import { apiRuleViolations } from "../../../../test/support/api-rules.ts";
import { ConversationBuilder, thinking, toolResult, toolUse } from "../../../../test/support/builders.ts";
import { deepFreeze } from "../../../../test/support/deep-freeze.ts";
import { countingPorts } from "../../../../test/support/long-session.ts";
import { CURRENT_CONVENTIONS } from "../../../core/src/compaction/apply/session-lines.ts";
import { rebuild } from "../../../core/src/compaction/compact.ts";
import { soundCuts } from "../../../core/src/messages/pairs.ts";
import { type CollapseOptions, commitSpans, linesOf } from "../../../core/src/modules/collapse/commit.ts";
import { expandableSpans, expandSpans } from "../../../core/src/modules/collapse/expand.ts";
import { currentConversation } from "./relink.ts";

type Step =
  | { readonly do: "talk"; readonly calls: number }
  | { readonly do: "clear"; readonly results: number }
  | { readonly do: "snip" | "collapse"; readonly from: number; readonly length: number }
  | { readonly do: "expand"; readonly which: number }
  | { readonly do: "compact"; readonly variant: "from" | "up-to" | "whole"; readonly at: number };

/** Conversation in the engine's memory, with the lines that the engine writes. */
class Life {
  memory: readonly Entry[] = [];
  readonly disk = new ConversationBuilder();
  readonly #bindsThinking: boolean;
  readonly #ports = countingPorts();
  readonly #resultTokens: number;
  #calls = 0;

  constructor(bindsThinking: boolean, resultTokens = 50) {
    this.#bindsThinking = bindsThinking;
    this.#resultTokens = resultTokens;
  }

  async step(step: Step): Promise<void> {
    if (step.do === "talk") this.#talk(step.calls);
    else if (step.do === "clear") this.#clear(step.results);
    else if (step.do === "expand") this.#expand(step.which);
    else if (step.do === "compact") await this.#compact(step.variant, step.at);
    else if (step.do === "snip") this.#snip(step.from, step.length);
    else this.#collapse(step.from, step.length);
  }

  /** Writes calls of one response on separate lines, each followed by its result. */
  #talk(calls: number): void {
    const before = this.disk.entries.length;
    this.disk.user(`request ${before}`);
    const id = `msg_${before}`;
    this.disk.assistant([thinking(`thought ${before}`)], { id });
    for (let call = 0; call < calls; call++) {
      const name = `t${this.#calls++}`;
      this.disk.assistant([toolUse(name, "Read", {})], { id });
      this.disk.user([toolResult(name, textOf(this.#resultTokens))]);
    }
    this.disk.assistant([thinking(`afterthought ${before}`), { type: "text", text: `answer ${before}` }]);
    this.memory = [...this.memory, ...this.disk.entries.slice(before)];
  }

  #clear(results: number): void {
    const index = indexOf(this.memory);
    const clearing = index.describe("size", index.results().slice(0, results));
    if (clearing.results.length === 0) return;
    const bindsThinking = this.#bindsThinking;
    const mark = this.disk.push({
      ...this.disk.link(),
      type: "system",
      subtype: "microcompact_boundary",
      microcompactMetadata: {
        compactedToolIds: clearing.results.map(({ id }) => id),
        ...(bindsThinking ? { longhaul: { bindsThinking } } : {}),
      },
    } as const);
    this.memory = [...applyClearing(this.memory, clearing, { bindsThinking }).entries, mark];
  }

  #snip(from: number, length: number): void {
    if (this.memory.length === 0) return;
    const at = (index: number): number => Math.min(index, this.memory.length - 1);
    const { entries, markers } = snip(
      this.memory,
      { from: at(from), to: at(from + length) },
      {
        ports: this.#ports,
        tokensOf: () => 1,
        bindsThinking: this.#bindsThinking,
        leafUuid: this.disk.entries.at(-1)?.uuid ?? null,
      },
    );
    for (const marker of markers) this.disk.push(marker);
    this.memory = entries;
  }

  get #options(): CollapseOptions {
    return {
      ports: this.#ports,
      tokensOf: () => 1,
      bindsThinking: this.#bindsThinking,
      leafUuid: this.disk.entries.at(-1)?.uuid ?? null,
    };
  }

  /** Collapses two neighboring spans in one batch. The second span may be stale or missing. */
  #collapse(start: number, length: number): void {
    const cuts = soundCuts(this.memory).flatMap((isSound, at) => (isSound ? [at] : []));
    const uuidsFrom = (nth: number): readonly string[] =>
      this.memory.slice(cuts[nth], cuts[nth + 1 + length]).flatMap(({ uuid }) => uuid ?? []);
    const staged = [start, start + 1 + length].map((nth) => {
      const uuids = uuidsFrom(nth % cuts.length);
      return {
        spanId: this.#ports.newUuid(),
        uuids,
        messages: uuids.length,
        text: `summary of ${uuids.join(" ")}`,
      };
    });
    const before = this.memory;
    const collapsed = commitSpans(before, staged, this.#options);
    for (const line of linesOf(collapsed)) this.disk.push(line);
    this.memory = collapsed.entries;
    expect(commitSpans(this.memory, staged, this.#options).entries).toBe(this.memory);
  }

  #expand(which: number): void {
    const spans = expandableSpans(this.memory);
    const spanId = spans[which % spans.length]?.collapsed.spanId ?? "none";
    const { entries, mark } = expandSpans(this.memory, [spanId], this.disk.entries, this.#options);
    if (mark !== undefined) this.disk.push(mark);
    this.memory = entries;
  }

  async #compact(variant: "from" | "up-to" | "whole", picked: number): Promise<void> {
    const at = picked % Math.max(1, this.memory.length);
    try {
      const plan = planCompaction({ entries: this.memory }, { variant, at, keepRecentTokens: 100 });
      const bindsThinking = this.#bindsThinking;
      const compaction = await compact(plan, this.#ports, { bindsThinking, leastSaving: "some" });
      const lines = linesInPlace(compaction, CURRENT_CONVENTIONS, this.#ports);
      for (const line of lines) this.disk.push(line);
      this.memory = rebuild(compaction);
    } catch (error) {
      if (!(error instanceof LonghaulError)) throw error;
    }
  }
}

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant("talk" as const), calls: fc.nat(3) }),
  fc.record({ do: fc.constant("clear" as const), results: fc.integer({ min: 1, max: 4 }) }),
  fc.record({
    do: fc.constantFrom("snip" as const, "collapse" as const),
    from: fc.nat(20),
    length: fc.nat(8),
  }),
  fc.record({ do: fc.constant("expand" as const), which: fc.nat(3) }),
);

const compacting: fc.Arbitrary<Step> = fc.record({
  do: fc.constant("compact" as const),
  variant: fc.constantFrom("from" as const, "up-to" as const, "whole" as const),
  at: fc.nat(30),
});

function resumed(lines: readonly Entry[]): readonly Entry[] {
  const { entries, clearedToolUseIds } = currentConversation(deepFreeze(lines) as Entry[]);
  return withClearedResults(entries, clearedToolUseIds);
}

describe("resuming a session after clearings, snips and collapses", () => {
  it("a resume returns exactly the conversation in memory after clearings, snips, collapses and expansions", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), fc.boolean(), async (list, bindsThinking) => {
        const life = new Life(bindsThinking);
        for (const each of list) await life.step(each);
        const after = resumed(life.disk.entries);
        expect(after).toEqual(life.memory);
        expect(apiRuleViolations(flatten(after))).toEqual([]);
      }),
      { numRuns: 400 },
    );
  });

  it("a resume returns the messages in memory when compactions are mixed with clearings, snips and collapses", async () => {
    const steps = fc.array(fc.oneof({ weight: 4, arbitrary: step }, compacting), { maxLength: 14 });
    await fc.assert(
      fc.asyncProperty(steps, fc.boolean(), async (list, bindsThinking) => {
        const life = new Life(bindsThinking, 1_000);
        for (const calls of [2, 3, 1]) await life.step({ do: "talk", calls });
        for (const each of list) await life.step(each);
        expect(flatten(resumed(life.disk.entries))).toEqual(flatten(life.memory));
      }),
      { numRuns: 150 },
    );
  });
});
