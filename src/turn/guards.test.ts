import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type GuardState,
  whyNotToCollapse,
  whyNotToCompact,
  whyNotToCompactByHand,
  whyNotToRecover,
} from "./guards.ts";
import type { Caller } from "./options.ts";

const ON = { compactEnabled: true, autoCompactEnabled: true };
const CALLERS: readonly Caller[] = ["main", "sdk", "subagent", "compact", "session-memory", "collapse"];
const breaker = (isClosed: boolean) => ({ mayCompact: () => isClosed, mayRecover: () => isClosed });
const free: GuardState = {
  settings: ON,
  breaker: breaker(true),
  caller: "main",
  reactiveOnly: false,
  collapseOn: false,
};

describe("when not to compact by itself", () => {
  it("nothing stands in the way: the tokens decide, whoever of the three asks", () => {
    for (const caller of ["main", "sdk", "subagent"] as const) {
      expect(whyNotToCompact({ ...free, caller })).toBeUndefined();
    }
  });

  it("the first reason in the order of the specification is the one that is told", () => {
    const blocked: GuardState = {
      settings: { compactEnabled: false, autoCompactEnabled: false },
      breaker: breaker(false),
      caller: "compact",
      reactiveOnly: true,
      collapseOn: true,
    };
    const steps: readonly [Partial<GuardState>, string | undefined][] = [
      [{}, "disabled"],
      [{ settings: { compactEnabled: true, autoCompactEnabled: false } }, "breaker-open"],
      [{ breaker: breaker(true) }, "caller-is-compaction"],
      [{ caller: "session-memory" }, "caller-is-compaction"],
      [{ caller: "collapse" }, "caller-is-collapse"],
      [{ caller: "main" }, "auto-disabled"],
      [{ settings: ON }, "reactive-only"],
      [{ reactiveOnly: false }, "collapse-on"],
      [{ collapseOn: false }, undefined],
    ];
    let state = blocked;
    for (const [change, expected] of steps) {
      state = { ...state, ...change };
      expect(whyNotToCompact(state)).toBe(expected);
    }
  });

  it("the breaker is not even asked where everything is disabled", () => {
    const asked = { mayCompact: () => expect.unreachable(), mayRecover: () => expect.unreachable() };
    const settings = { compactEnabled: false, autoCompactEnabled: true };
    expect(whyNotToCompact({ ...free, settings, breaker: asked })).toBe("disabled");
    expect(whyNotToRecover({ ...free, settings, breaker: asked })).toBe("disabled");
  });
});

describe("by hand", () => {
  it("only the switch for everything stops it", () => {
    expect(whyNotToCompactByHand({ settings: { ...ON, autoCompactEnabled: false } })).toBeUndefined();
    expect(whyNotToCompactByHand({ settings: { ...ON, compactEnabled: false } })).toBe("disabled");
  });
});

describe("after an overflow", () => {
  it("works where the proactive kind is suppressed by a mode", () => {
    for (const caller of ["main", "sdk", "subagent"] as const) {
      const suppressed = { ...free, caller, reactiveOnly: true, collapseOn: true };
      expect(whyNotToCompact(suppressed)).toBeDefined();
      expect(whyNotToRecover({ ...suppressed, breaker: breaker(true) })).toBeUndefined();
    }
  });

  it("not when auto-compact is off, nor for callers that would wait for themselves", () => {
    const recovery = { ...free, breaker: breaker(true) };
    expect(whyNotToRecover({ ...recovery, settings: { ...ON, autoCompactEnabled: false } })).toBe(
      "auto-disabled",
    );
    expect(whyNotToRecover({ ...recovery, caller: "compact" })).toBe("caller-is-compaction");
    expect(whyNotToRecover({ ...recovery, caller: "session-memory" })).toBe("caller-is-compaction");
    expect(whyNotToRecover({ ...recovery, caller: "collapse" })).toBe("caller-is-collapse");
    expect(whyNotToRecover({ ...recovery, breaker: breaker(false) })).toBe("breaker-open");
  });

  it("whatever stops a recovery stops the proactive kind as well", () => {
    const states = fc.record({
      settings: fc.record({ compactEnabled: fc.boolean(), autoCompactEnabled: fc.boolean() }),
      breaker: fc.boolean().map(breaker),
      caller: fc.constantFrom(...CALLERS),
      reactiveOnly: fc.boolean(),
      collapseOn: fc.boolean(),
    });
    fc.assert(
      fc.property(states, (state) => {
        if (whyNotToRecover(state) !== undefined) expect(whyNotToCompact(state)).toBeDefined();
        if (whyNotToCompactByHand(state) !== undefined) expect(whyNotToRecover(state)).toBe("disabled");
      }),
    );
  });
});

describe("when not to collapse spans", () => {
  const { settings, caller, reactiveOnly } = free;

  it("is when auto-compact would not be allowed either", () => {
    const off = { compactEnabled: true, autoCompactEnabled: false };
    expect(whyNotToCollapse({ settings, caller, reactiveOnly })).toBeUndefined();
    expect(whyNotToCollapse({ settings: off, caller, reactiveOnly })).toBe("auto-disabled");
    expect(whyNotToCollapse({ settings, caller: "collapse", reactiveOnly })).toBe("caller-is-collapse");
    expect(whyNotToCollapse({ settings, caller, reactiveOnly: true })).toBe("reactive-only");
    expect(whyNotToCollapse({ settings: { ...off, compactEnabled: false }, caller, reactiveOnly })).toBe(
      "disabled",
    );
  });
});
