import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryEntries } from "../../../../../test/support/arbitraries.ts";
import { ConversationBuilder } from "../../../../../test/support/builders.ts";
import { ESTIMATORS } from "../../measure/tokens/estimators.ts";
import { measureEntries } from "../../measure/tokens/measure.ts";
import { isEntry } from "../../messages/entry.ts";
import { cutOldest, droppedEntries, inTokens, keptEntries, uncut } from "./request-summary.ts";

/**
 * Builds ten questions with answers. These are eleven rounds, because the first question precedes the first
 * response.
 */
function tenRounds(): ConversationBuilder {
  const built = new ConversationBuilder();
  for (let round = 0; round < 10; round++) {
    built.user(`question ${round}`);
    built.assistant(`${"answer ".repeat(100)} ${round}`);
  }
  return built;
}

describe("cutOldest", () => {
  it("drops only as many of the oldest rounds of messages as the excess tokens require", () => {
    const whole = uncut(tenRounds().entries);
    const cut = cutOldest(whole, 250, inTokens(ESTIMATORS.o200k));
    expect(cut?.dropped).toBe(4);
    expect(measureEntries(droppedEntries(cut ?? whole), ESTIMATORS.o200k)).toBeGreaterThanOrEqual(250);
  });

  it("drops a fifth of the remaining rounds of messages each time when the excess is unknown", () => {
    const first = cutOldest(uncut(tenRounds().entries), undefined, inTokens(ESTIMATORS.o200k));
    expect(first?.dropped).toBe(2);
    expect(first && cutOldest(first, undefined, inTokens(ESTIMATORS.o200k))?.dropped).toBe(3);
  });

  it("keeps at least one round of messages, and gives up when only one round is left", () => {
    const cut = cutOldest(uncut(tenRounds().entries), 1_000_000, inTokens(ESTIMATORS.o200k));
    expect(cut?.dropped).toBe(10);
    expect(cut && cutOldest(cut, 1, inTokens(ESTIMATORS.o200k))).toBeUndefined();
    expect(cut && cutOldest(cut, undefined, inTokens(ESTIMATORS.o200k))).toBeUndefined();
  });

  it("cutOldest loses and duplicates no entry, and never separates a tool call from its result", () => {
    fc.assert(
      fc.property(arbitraryEntries(), fc.option(fc.integer({ min: 1, max: 5_000 })), (entries, excess) => {
        const readable = entries.filter(isEntry);
        const cut = cutOldest(uncut(entries), excess ?? undefined, inTokens(ESTIMATORS.o200k));
        if (cut === undefined) return;
        expect(new Set([...droppedEntries(cut), ...keptEntries(cut)])).toEqual(new Set(readable));
        expect(droppedEntries(cut).length + keptEntries(cut).length).toBe(readable.length);
        const idsIn = (list: readonly unknown[], pattern: RegExp): Set<string | undefined> =>
          new Set([...JSON.stringify(list).matchAll(pattern)].map(([, id]) => id));
        const uses = idsIn(droppedEntries(cut), /"type":"tool_use","id":"([^"]+)"/g);
        const results = idsIn(keptEntries(cut), /"tool_use_id":"([^"]+)"/g);
        const usesKept = idsIn(keptEntries(cut), /"type":"tool_use","id":"([^"]+)"/g);
        for (const id of results) expect(uses.has(id) && !usesKept.has(id)).toBe(false);
      }),
    );
  });
});
