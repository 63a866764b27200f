import { expect, it } from "vitest";
import { anthropicStopReason, turnEnd } from "./stop-reason.ts";

it.each(["__proto__", "constructor", "toString", "pause_turn"])(
  "the unknown stop reason %s of a script stays as it is",
  (word) => {
    expect(anthropicStopReason(word)).toBe(word);
    expect(turnEnd(word)).toBeUndefined();
  },
);

it("a stop reason of one provider means the same for the other one", () => {
  expect(anthropicStopReason("tool_calls")).toBe("tool_use");
  expect(turnEnd("max_tokens")).toBe("length");
});
