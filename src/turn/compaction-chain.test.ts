import { expect, it } from "vitest";
import { CompactionChain } from "./compaction-chain.ts";

const facts = { threshold: 167_000, caller: "main" };

it("each compaction records the one before it, the threshold, and who asked", () => {
  const chain = new CompactionChain();
  expect(chain.record({ ...facts, turnId: "a", turn: 5 })).toEqual({
    isInChain: false,
    turnsSincePrevious: undefined,
    previousTurnId: undefined,
    threshold: 167_000,
    caller: "main",
  });
  expect(chain.record({ turnId: "b", turn: 12, threshold: 9, caller: "sdk" })).toEqual({
    isInChain: true,
    turnsSincePrevious: 7,
    previousTurnId: "a",
    threshold: 9,
    caller: "sdk",
  });
  expect(chain.record({ ...facts, turnId: "c", turn: 12 })).toMatchObject({
    turnsSincePrevious: 0,
    previousTurnId: "b",
  });
});

it("a conversation that came with a boundary is a chain already", () => {
  const unknown = { isInChain: true, turnsSincePrevious: undefined, previousTurnId: undefined };
  const resumed = new CompactionChain({ hasEarlier: true });
  expect(resumed.record({ ...facts, turnId: "a", turn: 1 })).toMatchObject(unknown);
  const later = new CompactionChain();
  later.foundEarlier();
  expect(later.record({ ...facts, turnId: "a", turn: 1 })).toMatchObject(unknown);
});
