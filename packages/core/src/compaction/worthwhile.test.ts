import { scriptedModel } from "@longhaul/simulator";
import { describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../../../test/support/builders.ts";
import { codeOf, countingPorts, longSession } from "../../../../test/support/long-session.ts";
import type { HookRunner } from "../hooks/hook.ts";
import { type CompactOptions, compact } from "./compact.ts";
import { type CompactionPlan, planCompaction } from "./plan/compaction-plan.ts";
import { SMALLEST_WORTHWHILE_SAVING, savingOf, smallestWorthwhileSaving } from "./worthwhile.ts";
import { attemptsOf } from "./write/attempts.ts";

const SUMMARY = `<summary>${"The harbour is being dredged. ".repeat(40)}</summary>`;

/** Files as large as the budget allows. */
const files = {
  read: async (path: string) => ({
    state: "read" as const,
    text: `a word of ${path}\n`.repeat(5_000),
    displayPath: path,
  }),
};

/** Returns the plan with another size of the conversation before the compaction. */
const resized = (plan: CompactionPlan, estimateBefore: number): CompactionPlan => ({
  ...plan,
  estimateBefore,
});

const errorOf = (attempt: Promise<unknown>): Promise<unknown> =>
  attempt.then(
    () => undefined,
    (error: unknown) => error,
  );

/** Creates a runner that records which hooks run. */
function recordingHooks(): { readonly hooks: HookRunner; readonly events: string[] } {
  const events: string[] = [];
  const hooks: HookRunner = {
    run: async ({ hook_event_name }) => {
      events.push(hook_event_name);
      return { outcomes: [], output: "" };
    },
  };
  return { hooks, events };
}

describe("smallest worthwhile saving", () => {
  const sizes = {
    estimateBefore: 60_000,
    overheadTokens: 20_000,
    keptTokens: 10_000,
    keptPlace: "after",
  } as const;

  it("requires a saving in proportion to the messages that the provider must cache again", () => {
    expect(smallestWorthwhileSaving(sizes)).toBe(40_000 * SMALLEST_WORTHWHILE_SAVING.share);
    expect(smallestWorthwhileSaving({ ...sizes, keptPlace: "before" })).toBe(
      30_000 * SMALLEST_WORTHWHILE_SAVING.share,
    );
  });

  it("never requires a saving below the minimum number of tokens", () => {
    expect(smallestWorthwhileSaving({ ...sizes, estimateBefore: 23_000 })).toBe(
      SMALLEST_WORTHWHILE_SAVING.tokens,
    );
    expect(smallestWorthwhileSaving({ ...sizes, estimateBefore: 0 })).toBe(SMALLEST_WORTHWHILE_SAVING.tokens);
  });

  it("a compaction pays exactly when it reaches the smallest worthwhile saving", () => {
    expect(savingOf(sizes, 52_000)).toEqual({ tokens: 8_000, smallestWorthwhile: 8_000, pays: true });
    expect(savingOf(sizes, 52_001)).toEqual({ tokens: 7_999, smallestWorthwhile: 8_000, pays: false });
    expect(savingOf(sizes, 60_010)).toMatchObject({ tokens: -10, pays: false });
  });
});

describe("reported conversation size that is far too low", () => {
  it("a reported size that is too low does not cause the rejection of a useful compaction", async () => {
    const plan = planCompaction({ entries: longSession(12).entries }, { keepRecentTokens: 2_000 });
    const options = { model: scriptedModel([SUMMARY]), facts: "off" } as const;
    const compaction = await compact({ ...plan, tokensBefore: 10 }, countingPorts(), options);
    expect(compaction.saving).toMatchObject({ pays: true });
    expect(compaction.tokensAfter).toBeLessThan(plan.estimateBefore);
  });
});

describe("compaction that does not pay", () => {
  const plan = planCompaction({ entries: longSession(12).entries }, { keepRecentTokens: 2_000 });
  const written = (): CompactOptions => ({ model: scriptedModel([SUMMARY]), facts: "off" });

  it("rejects a compaction that does not pay, with its figures and its attempts", async () => {
    const { tokensAfter } = await compact(plan, countingPorts(), written());
    const estimateBefore = tokensAfter + 900;
    const error = await errorOf(compact(resized(plan, estimateBefore), countingPorts(), written()));
    expect(error).toMatchObject({
      code: "compaction-ineffective",
      message: expect.stringMatching(
        /save 900 of \d+,\d{3} tokens, and the smallest worthwhile saving is \d,\d{3}\.$/,
      ),
      remedy: expect.stringContaining("Nothing was changed"),
      facts: { before: estimateBefore, after: tokensAfter, saved: 900 },
    });
    expect(attemptsOf(error)).toMatchObject([
      { outcome: "unavailable" },
      { step: "direct", outcome: "written" },
    ]);
  });

  it("accepts the smallest worthwhile saving, and rejects a compaction that saves one token less", async () => {
    const { tokensAfter } = await compact(plan, countingPorts(), written());
    const pays = (estimateBefore: number): boolean =>
      savingOf(resized(plan, estimateBefore), tokensAfter).pays;
    let least = tokensAfter;
    while (!pays(least)) least += 1;
    expect((await compact(resized(plan, least), countingPorts(), written())).saving.pays).toBe(true);
    expect(await codeOf(() => compact(resized(plan, least - 1), countingPorts(), written()))).toBe(
      "compaction-ineffective",
    );
  });

  it("runs no SessionStart hooks when it rejects a compaction that does not pay", async () => {
    const { hooks, events } = recordingHooks();
    const estimateBefore = plan.overheadTokens + plan.keptTokens + SMALLEST_WORTHWHILE_SAVING.tokens + 100;
    const options = { ...written(), hooks };
    expect(await codeOf(() => compact(resized(plan, estimateBefore), countingPorts(), options))).toBe(
      "compaction-ineffective",
    );
    expect(events).toEqual(["PreCompact"]);
  });

  it("asks no model and runs no hook when not even an empty summary would pay", async () => {
    const model = scriptedModel([SUMMARY]);
    const { hooks, events } = recordingHooks();
    const estimateBefore = plan.overheadTokens + plan.keptTokens + SMALLEST_WORTHWHILE_SAVING.tokens - 1;
    const error = await errorOf(compact(resized(plan, estimateBefore), countingPorts(), { model, hooks }));
    expect(error).toMatchObject({ code: "compaction-ineffective" });
    expect([attemptsOf(error), model.requests, events]).toEqual([[], [], []]);
  });

  it("runs a compaction with leastSaving 'none' even if the conversation becomes larger", async () => {
    const c = new ConversationBuilder();
    c.user("hi");
    c.assistant("hello");
    const small = planCompaction({ entries: c.entries }, { force: true });
    const { saving } = await compact(small, countingPorts(), { leastSaving: "none" });
    expect(saving).toMatchObject({ pays: false });
    expect(saving.tokens).toBeLessThan(0);
  });
});

describe("restored content in a worthwhile compaction", () => {
  it("limits restored content so that the saving stays worthwhile", async () => {
    for (const leastSaving of ["worthwhile", "none"] as const) {
      const plan = planCompaction({ entries: longSession(16).entries });
      const { saving, restored } = await compact(plan, countingPorts(), { state: { files }, leastSaving });
      expect(restored.items.length).toBeGreaterThan(0);
      expect(saving.pays).toBe(true);
    }
  });
});
