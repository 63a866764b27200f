import { describe, expect, it } from "vitest";
import { usage } from "../../../../../test/support/builders.ts";
import type { AssistantEntry, Usage } from "../../messages/entry.ts";
import { Pace, recordedPace } from "./pace.ts";
import { isClearingDue } from "./rewrite-cost.ts";

const paceOf = (...sizes: readonly number[]): Pace => {
  const pace = new Pace();
  for (const tokens of sizes) pace.turn({ tokens, clearableTokens: 0 });
  return pace;
};

describe("Pace", () => {
  it("computes the growth of the context per turn, from the second turn on", () => {
    expect(paceOf().growthPerTurn).toBe(0);
    expect(paceOf(1_000).growthPerTurn).toBe(0);
    expect(paceOf(1_000, 1_500, 2_500).growthPerTurn).toBe(750);
  });

  it("the growth per turn excludes turns in which the context shrank or was rewritten", () => {
    expect(paceOf(1_000, 1_500, 700, 1_200).growthPerTurn).toBe(500);
    const pace = paceOf(1_000, 1_500);
    pace.rewritten();
    pace.turn({ tokens: 9_000, clearableTokens: 0 });
    expect(pace.growthPerTurn).toBe(500);
  });

  it("the growth per turn adapts if the conversation begins to grow faster", () => {
    const slow = Array.from({ length: 200 }, (_, turn) => turn * 100);
    const fast = Array.from({ length: 60 }, (_, turn) => 20_000 + turn * 2_000);
    expect(paceOf(...slow, ...fast).growthPerTurn).toBeGreaterThan(1_800);
  });

  it("sums the clearable tokens of all turns since the last rewrite", () => {
    const pace = new Pace();
    pace.turn({ tokens: 1_000, clearableTokens: 300 });
    pace.turn({ tokens: 1_000, clearableTokens: 500 });
    expect(pace.carriedTokens).toBe(800);
    pace.rewritten();
    expect(pace.carriedTokens).toBe(0);
    expect(pace.compactedTo).toBeUndefined();
    pace.compacted(7_000);
    expect(pace.compactedTo).toBe(7_000);
  });
});

describe("isClearingDue", () => {
  /** Sonnet 5.5 costs $0.20 to read a million tokens from the cache and $2.50 to write them. */
  const rewriting = { model: "claude-sonnet-5-5", contextTokens: 300_000, rewrittenTokens: 10_000 };

  it("clearing is due when reading clearable results has cost as much as the rewrite that clears them", () => {
    expect(isClearingDue({ ...rewriting, carriedTokens: 114_999 })).toBe(false);
    expect(isClearingDue({ ...rewriting, carriedTokens: 115_000 })).toBe(true);
    expect(isClearingDue({ ...rewriting, cacheTtl: "1h", carriedTokens: 115_000 })).toBe(false);
  });

  it("clearing is never due for a model without known prices", () => {
    expect(isClearingDue({ ...rewriting, model: "house-model", carriedTokens: 1e9 })).toBe(false);
  });
});

describe("recordedPace", () => {
  const response = (id: string, input: number, written: object = {}): AssistantEntry => ({
    type: "assistant",
    uuid: `uuid-${id}`,
    parentUuid: null,
    timestamp: `2026-11-15T10:00:0${input % 10}.000Z`,
    message: {
      id,
      role: "assistant",
      content: [],
      usage: { ...usage(input, 10), cache_creation: written } as Usage,
    },
  });

  it("counts a response in a session file once, however many entries the response has", () => {
    const entries = [response("a", 1_000), response("a", 1_000), response("b", 1_601)];
    const { pace, lastCallAt } = recordedPace(entries);
    expect(pace.turns).toBe(2);
    expect(pace.growthPerTurn).toBe(601);
    expect(lastCallAt).toBe(Date.parse("2026-11-15T10:00:01.000Z"));
  });

  it("computes the same pace after a rewrite copies the responses without their usage", () => {
    const entries = [response("a", 1_000, { ephemeral_1h_input_tokens: 900 }), response("b", 1_601)];
    const copies = entries.map((entry) => ({
      ...entry,
      timestamp: "2026-11-16T10:00:00.000Z",
      message: { ...entry.message, id: `copy-${entry.message.id}`, usage: usage(0, 0) },
    }));
    const [before, after] = [recordedPace(entries), recordedPace([...entries, ...copies])];
    expect(after).toMatchObject({ lastCallAt: before.lastCallAt, cacheTtl: "1h" });
    expect([after.pace.turns, after.pace.growthPerTurn]).toEqual([2, 601]);
  });

  it("excludes subagents from the pace, except in a subagent's own file", () => {
    const aside = { ...response("s", 90_000), isSidechain: true };
    expect(recordedPace([response("a", 1_000), aside, response("b", 1_601)]).pace.growthPerTurn).toBe(601);
    expect(recordedPace([aside]).pace.turns).toBe(1);
  });

  it("recordedPace returns the cache lifetime of the last cache write", () => {
    const hour = response("a", 1_000, { ephemeral_1h_input_tokens: 900, ephemeral_5m_input_tokens: 0 });
    const short = response("b", 1_000, { ephemeral_1h_input_tokens: 0, ephemeral_5m_input_tokens: 900 });
    expect(recordedPace([hour]).cacheTtl).toBe("1h");
    expect(recordedPace([hour, short]).cacheTtl).toBe("5m");
    expect(recordedPace([]).cacheTtl).toBe("5m");
  });

  it("reads the pace of a damaged session file without an error", () => {
    const broken = [null, 7, { type: "assistant" }, { type: "assistant", message: null, timestamp: "soon" }];
    expect(recordedPace(broken as never).lastCallAt).toBeUndefined();
  });
});
