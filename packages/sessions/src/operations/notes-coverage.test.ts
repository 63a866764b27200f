import { ESTIMATORS } from "@longhaul/core/measure";
import type { Entry } from "@longhaul/core/messages";
import { indexPairs } from "@longhaul/core/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ConversationBuilder, toolResult, toolUse } from "../../../../test/support/builders.ts";
import { measureEntry } from "../../../core/src/measure/tokens/measure.ts";
import { hasOpenCalls } from "../../../core/src/messages/responses.ts";
import { coverageOf, coveredBy, entriesToNote, splitIntoSteps } from "./notes-coverage.ts";
import type { SessionHistory } from "./session-history.ts";

const STEP = 300;

/** Conversations with turns of any length and parallel calls that are answered in any order. */
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

const historyOf = (entries: readonly Entry[], repeated: readonly Entry[] = []): SessionHistory => ({
  entries,
  isRepeated: (entry) => repeated.includes(entry),
  placeOf: (uuid) => {
    const at = entries.findIndex((entry) => entry.uuid === uuid);
    return at === -1 ? undefined : at;
  },
});

describe("splitIntoSteps", () => {
  it("splits entries into steps in order, and never separates a tool call from its result", () => {
    fc.assert(
      fc.property(conversations(), (entries) => {
        const steps = splitIntoSteps(entries, STEP);
        expect(steps.flat()).toEqual(entries);
        for (const step of steps) expect(indexPairs(step).orphanResults).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  it("makes every step except the last at least as large as the requested number of tokens", () => {
    fc.assert(
      fc.property(conversations(), (entries) => {
        const tokens = (step: readonly Entry[]): number =>
          step.reduce((sum, entry) => sum + measureEntry(entry, ESTIMATORS.o200k), 0);
        for (const step of splitIntoSteps(entries, STEP).slice(0, -1)) {
          expect(tokens(step)).toBeGreaterThanOrEqual(STEP);
        }
      }),
    );
  });

  it("returns no steps for no entries", () => {
    expect(splitIntoSteps([], STEP)).toEqual([]);
  });
});

describe("entriesToNote", () => {
  it("the messages to note never include a tool call whose result is still missing", () => {
    fc.assert(
      fc.property(conversations(), fc.nat(40), (entries, from) => {
        const fresh = entriesToNote(historyOf(entries), from);
        expect(hasOpenCalls(fresh)).toBe(false);
        expect(fresh).toEqual(entries.slice(from, from + fresh.length));
      }),
      { numRuns: 200 },
    );
  });

  it("returns all messages after the noted ones when every tool call has its result", () => {
    const c = new ConversationBuilder();
    c.user("read it");
    c.tool("a", "Read", {}, "text");
    expect(entriesToNote(historyOf(c.entries), 1)).toEqual(c.entries.slice(1));
  });

  it("leaves out messages that only repeat noted ones", () => {
    const c = new ConversationBuilder();
    c.user("one");
    const again = c.user("one again");
    c.user("two");
    expect(entriesToNote(historyOf(c.entries, [again]), 0)).toEqual([c.entries[0], c.entries[2]]);
  });
});

describe("coverage of notes", () => {
  const c = new ConversationBuilder();
  const [one, two] = [c.user("one"), c.assistant("two")];
  const history = historyOf(c.entries);

  it("notes that name a message of the session cover everything up to that message", () => {
    expect(coverageOf({ coveredUuid: one.uuid }, history)).toEqual({
      state: "known",
      upTo: one,
      fresh: [two],
    });
    expect(coverageOf({ coveredUuid: two.uuid }, history)).toMatchObject({ state: "known", fresh: [] });
  });

  it("the coverage of notes that name no message or an unknown message is not known", () => {
    expect(coverageOf({ coveredUuid: undefined }, history)).toEqual({ state: "unknown" });
    expect(coverageOf({ coveredUuid: "x" }, history)).toEqual({ state: "not-found", uuid: "x" });
  });

  it("notes with an empty covered id cover no message, so that every message is read again", () => {
    expect(coverageOf({ coveredUuid: "" }, history)).toEqual({
      state: "known",
      upTo: undefined,
      fresh: c.entries,
    });
  });

  it("notes also cover a summary that comes after the noted messages and only repeats them", () => {
    const summary = c.summary("of one and two");
    c.user("three");
    expect(coveredBy([one, two], historyOf(c.entries, [summary]))).toBe(summary.uuid);
    expect(coveredBy([one], historyOf(c.entries, [summary]))).toBe(one.uuid);
    expect(coveredBy([], historyOf(c.entries))).toBeUndefined();
  });
});
