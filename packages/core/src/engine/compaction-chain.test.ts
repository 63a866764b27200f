import { expect, it } from "vitest";
import { CurrentTurn } from "./current-turn.ts";
import type { Caller } from "./options.ts";

/** Creates a conversation whose turns have these ids. */
function conversation(...ids: readonly string[]): { begin(caller: Caller): CurrentTurn; turn: CurrentTurn } {
  const left = [...ids];
  const turn = new CurrentTurn(undefined, () => left.shift() ?? "");
  return {
    turn,
    begin(caller) {
      turn.begin(caller);
      return turn;
    },
  };
}

it("each compaction records the previous compaction, the threshold and the caller", () => {
  const { begin } = conversation("", "a", "b", "c");
  expect(begin("main").recordCompaction({ turn: 5, threshold: 167_000 })).toEqual({
    isInChain: false,
    turnsSincePrevious: undefined,
    previousTurnId: undefined,
    threshold: 167_000,
    caller: "main",
  });
  expect(begin("sdk").recordCompaction({ turn: 12, threshold: 9 })).toEqual({
    isInChain: true,
    turnsSincePrevious: 7,
    previousTurnId: "a",
    threshold: 9,
    caller: "sdk",
  });
  expect(begin("main").recordCompaction({ turn: 12, threshold: 167_000 })).toMatchObject({
    turnsSincePrevious: 0,
    previousTurnId: "b",
  });
});

it("a compaction belongs to a chain of compactions if the conversation contains an earlier boundary", () => {
  const { turn } = conversation("a");
  turn.recordBoundary();
  expect(turn.recordCompaction({ turn: 1, threshold: 167_000 })).toMatchObject({
    isInChain: true,
    turnsSincePrevious: undefined,
    previousTurnId: undefined,
  });
});
