import { ESTIMATORS } from "@longhaul/core/measure";
import type { Entry } from "@longhaul/core/messages";
import { indexPairs } from "@longhaul/core/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ConversationBuilder, toolResult, toolUse } from "../../../../test/support/builders.ts";
import { measureEntry } from "../../../core/src/measure/tokens/measure.ts";
import { hasOpenCalls } from "../../../core/src/messages/responses.ts";
import { coverageOf, coveredBy, inSoundSteps, notNotedYet } from "./notes-coverage.ts";
import type { SessionHistory } from "./session-history.ts";

const STEP = 300;

/** Turns of any length with parallel calls, answered in any order. */
const conversations = (): fc.Arbitrary<readonly Entry[]> =>
  fc
    .array(fc.record({ words: fc.nat(300), calls: fc.nat(3), isOpen: fc.boolean() }), { maxLength: 20 })
    .map((turns) => {
      const c = new ConversationBuilder();
      for (const [turn, { words, calls, isOpen }] of turns.entries()) {
        c.user(`do it ${"again ".repeat(words)}`);
        const ids = Array.from({ length: calls }, (_, at) => `t${turn}-${at}`);
        for (const id of ids) c.assistant([toolUse(id, "Read", {})], { id: `m${turn}` });
        for (const id of isOpen ? ids.slice(1) : ids) c.user([toolResult(id, "text ".repeat(words))]);
        if (calls === 0) c.assistant("done");
      }
      return c.entries;
    });

const historyOf = (entries: readonly Entry[], retold: readonly Entry[] = []): SessionHistory => ({
  entries,
  isRetold: (entry) => retold.includes(entry),
  placeOf: (uuid) => {
    const at = entries.findIndex((entry) => entry.uuid === uuid);
    return at === -1 ? undefined : at;
  },
});

describe("steps", () => {
  it("are the entries in their order, and part no call from its result", () => {
    fc.assert(
      fc.property(conversations(), (entries) => {
        const steps = inSoundSteps(entries, STEP);
        expect(steps.flat()).toEqual(entries);
        for (const step of steps) expect(indexPairs(step).orphanResults).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  it("have about so many tokens: no step but the last has less", () => {
    fc.assert(
      fc.property(conversations(), (entries) => {
        const tokens = (step: readonly Entry[]): number =>
          step.reduce((sum, entry) => sum + measureEntry(entry, ESTIMATORS.o200k), 0);
        for (const step of inSoundSteps(entries, STEP).slice(0, -1)) {
          expect(tokens(step)).toBeGreaterThanOrEqual(STEP);
        }
      }),
    );
  });

  it("of nothing are none", () => {
    expect(inSoundSteps([], STEP)).toEqual([]);
  });
});

describe("what is not in the notes yet", () => {
  it("never ends with an open call: its result is still to come", () => {
    fc.assert(
      fc.property(conversations(), fc.nat(40), (entries, from) => {
        const fresh = notNotedYet(historyOf(entries), from);
        expect(hasOpenCalls(fresh)).toBe(false);
        expect(fresh).toEqual(entries.slice(from, from + fresh.length));
      }),
      { numRuns: 200 },
    );
  });

  it("is everything where no call is open", () => {
    const c = new ConversationBuilder();
    c.user("read it");
    c.tool("a", "Read", {}, "text");
    expect(notNotedYet(historyOf(c.entries), 1)).toEqual(c.entries.slice(1));
  });

  it("leaves out what only says again what is noted", () => {
    const c = new ConversationBuilder();
    c.user("one");
    const again = c.user("one again");
    c.user("two");
    expect(notNotedYet(historyOf(c.entries, [again]), 0)).toEqual([c.entries[0], c.entries[2]]);
  });
});

describe("how far notes reach", () => {
  const c = new ConversationBuilder();
  const [one, two] = [c.user("one"), c.assistant("two")];
  const history = historyOf(c.entries);

  it("is known by a message of the session", () => {
    expect(coverageOf({ coveredUuid: one.uuid }, history)).toEqual({
      state: "known",
      upTo: one,
      fresh: [two],
    });
    expect(coverageOf({ coveredUuid: two.uuid }, history)).toMatchObject({ state: "known", fresh: [] });
  });

  it("is not known where they name none, or one that the session does not have", () => {
    expect(coverageOf({ coveredUuid: undefined }, history)).toEqual({ state: "unknown" });
    expect(coverageOf({ coveredUuid: "x" }, history)).toEqual({ state: "not-found", uuid: "x" });
  });

  it("is nowhere where they say that it is not known: everything is to be read again", () => {
    expect(coverageOf({ coveredUuid: "" }, history)).toEqual({
      state: "known",
      upTo: undefined,
      fresh: c.entries,
    });
  });

  it("includes what follows and only says again what is noted", () => {
    const summary = c.summary("of one and two");
    c.user("three");
    expect(coveredBy([one, two], historyOf(c.entries, [summary]))).toBe(summary.uuid);
    expect(coveredBy([one], historyOf(c.entries, [summary]))).toBe(one.uuid);
    expect(coveredBy([], historyOf(c.entries))).toBeUndefined();
  });
});
