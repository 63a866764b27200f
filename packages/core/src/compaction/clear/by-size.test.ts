import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { indexOf, work } from "../../../../../test/clear/work.ts";
import { ConversationBuilder } from "../../../../../test/support/builders.ts";
import type { Clearing } from "./stale-results.ts";
import { chooseBySize, savingBySize } from "./stale-results.ts";

const idsOf = (clearing: Clearing | undefined): readonly string[] | undefined =>
  clearing?.results.map(({ id }) => id);

describe("clearing tool results by size", () => {
  it("clears the oldest tool results until at most 40,000 tokens of results are left", () => {
    const index = indexOf(work(15_000, 15_000, 10_000, 10_000, 10_000, 10_000));
    const clearing = chooseBySize(index);
    expect(idsOf(clearing)).toEqual(["t0", "t1"]);
    expect(clearing).toMatchObject({
      form: "size",
      tokensBefore: 70_000,
      tokensAfter: 40_000 + 2 * index.placeholderTokens,
      tools: ["Read"],
      paths: ["/project/0.ts", "/project/1.ts"],
    });
  });

  it("clears no tool results when their tokens exactly meet the target", () => {
    const index = indexOf(work(10_000, 10_000, 10_000, 10_000, 1));
    expect(chooseBySize(index, { minimumSavingTokens: 0 })).toBeUndefined();
    expect(idsOf(chooseBySize(index, { minimumSavingTokens: 0, targetTokens: 39_999 }))).toEqual(["t0"]);
  });

  it("clearing by size keeps the newest 3 tool results, however large they are", () => {
    const index = indexOf(work(30_000, 50_000, 50_000, 50_000));
    expect(idsOf(chooseBySize(index))).toEqual(["t0"]);
    const onlyNewest = indexOf(work(50_000, 50_000, 50_000));
    expect(chooseBySize(onlyNewest)).toBeUndefined();
    expect(chooseBySize(onlyNewest, { minimumSavingTokens: 0 })).toBeUndefined();
  });

  it("never clears a tool result that no model has seen, even if the number of results to keep is zero or less", () => {
    const entries = work(30_000, 50_000, 50_000, 50_000);
    const seen = [...entries, new ConversationBuilder("seen").assistant("I see.")];
    for (const keepNewest of [0, -2]) {
      expect(idsOf(chooseBySize(indexOf(entries), { keepNewest, targetTokens: 0 }))).toHaveLength(3);
      expect(idsOf(chooseBySize(indexOf(seen), { keepNewest, targetTokens: 0 }))).toHaveLength(4);
    }
  });

  it("clears no tool results when the saving minus the placeholders is below 20,000 tokens", () => {
    const saving = (tokens: number): readonly string[] | undefined =>
      idsOf(chooseBySize(indexOf(work(tokens, 39_970, 10, 10, 10))));
    const { placeholderTokens } = indexOf(work(1));
    expect(saving(20_000)).toBeUndefined();
    expect(saving(19_999 + placeholderTokens)).toBeUndefined();
    expect(saving(20_000 + placeholderTokens)).toEqual(["t0"]);
  });

  it("clears tool results down to the target in one batch, so that a second run finds nothing to clear", () => {
    const index = indexOf(work(...Array.from({ length: 30 }, () => 3_000)));
    const clearing = chooseBySize(index);
    index.applied(clearing as Clearing);
    expect(index.eligibleTokens).toBeLessThanOrEqual(40_000);
    expect(chooseBySize(index)).toBeUndefined();
  });

  it("clears no tool results when the token target or the number of results to keep is NaN", () => {
    const index = indexOf(work(50_000, 50_000, 50_000, 50_000));
    expect(chooseBySize(index, { targetTokens: Number.NaN })).toBeUndefined();
    expect(chooseBySize(index, { keepNewest: Number.NaN })).toBeUndefined();
  });
});

describe("savingBySize", () => {
  it("savingBySize estimates the saving of clearing by size with an error of about one tool result", () => {
    const sizes = fc.array(fc.integer({ min: 50, max: 30_000 }), { maxLength: 12 });
    fc.assert(
      fc.property(sizes, fc.nat(60_000), (tokens, targetTokens) => {
        const index = indexOf(work(...tokens));
        const chosen = chooseBySize(index, { targetTokens, minimumSavingTokens: 0 });
        const saved = chosen === undefined ? 0 : chosen.tokensBefore - chosen.tokensAfter;
        const estimated = savingBySize(index, { targetTokens });
        expect(Math.abs(estimated - saved)).toBeLessThanOrEqual(Math.max(0, ...tokens) + 20 * tokens.length);
      }),
      { numRuns: 100 },
    );
  });
});
