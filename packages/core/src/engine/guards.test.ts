import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type GuardInput, skipReasonFor } from "./health.ts";
import type { Caller } from "./options.ts";

interface GuardFacts {
  readonly settings: GuardInput["options"]["settings"];
  readonly health: GuardInput["health"];
  readonly caller: Caller;
  readonly reactiveOnly: boolean;
  readonly collapseOn: boolean;
}

const whyNot = (
  action: Parameters<typeof skipReasonFor>[0],
  { settings, health, caller, reactiveOnly, collapseOn }: GuardFacts,
): ReturnType<typeof skipReasonFor> =>
  skipReasonFor(action, {
    options: { settings, compaction: { reactiveOnly } },
    health,
    turn: { caller },
    modules: { headroomBy: collapseOn ? "collapse" : undefined },
  });

const ON = { compactEnabled: true, autoCompactEnabled: true };
const CALLERS: readonly Caller[] = ["main", "sdk", "subagent", "compact", "session-memory", "collapse"];
const health = (isClosed: boolean) => ({ mayCompact: () => isClosed, mayRecover: () => isClosed });
const free: GuardFacts = {
  settings: ON,
  health: health(true),
  caller: "main",
  reactiveOnly: false,
  collapseOn: false,
};

describe("skip reasons of an automatic compaction", () => {
  it("allows an automatic compaction for calls of the main agent, the SDK and a subagent", () => {
    for (const caller of ["main", "sdk", "subagent"] as const) {
      expect(whyNot("auto", { ...free, caller })).toBeUndefined();
    }
  });

  it("if several reasons prevent an automatic compaction, reports the first in the specified order", () => {
    const blocked: GuardFacts = {
      settings: { compactEnabled: false, autoCompactEnabled: false },
      health: health(false),
      caller: "compact",
      reactiveOnly: true,
      collapseOn: true,
    };
    const steps: readonly [Partial<GuardFacts>, string | undefined][] = [
      [{}, "disabled"],
      [{ settings: { compactEnabled: true, autoCompactEnabled: false } }, "breaker-open"],
      [{ health: health(true) }, "caller-is-compaction"],
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
      expect(whyNot("auto", state)).toBe(expected);
    }
  });

  it("does not check the circuit breaker if compaction is disabled", () => {
    const asked = { mayCompact: () => expect.unreachable(), mayRecover: () => expect.unreachable() };
    const settings = { compactEnabled: false, autoCompactEnabled: true };
    expect(whyNot("auto", { ...free, settings, health: asked })).toBe("disabled");
    expect(whyNot("recovery", { ...free, settings, health: asked })).toBe("disabled");
  });
});

describe("skip reasons of a manual compaction", () => {
  it("skips a manual compaction only if all compaction is disabled", () => {
    expect(whyNot("manual", { ...free, settings: { ...ON, autoCompactEnabled: false } })).toBeUndefined();
    expect(whyNot("manual", { ...free, settings: { ...ON, compactEnabled: false } })).toBe("disabled");
  });
});

describe("skip reasons of a recovery after an overflow", () => {
  it("allows a recovery from an overflow in modes that suppress automatic compaction", () => {
    for (const caller of ["main", "sdk", "subagent"] as const) {
      const suppressed = { ...free, caller, reactiveOnly: true, collapseOn: true };
      expect(whyNot("auto", suppressed)).toBeDefined();
      expect(whyNot("recovery", { ...suppressed, health: health(true) })).toBeUndefined();
    }
  });

  it("skips a recovery if auto-compact is off, the breaker is open, or the call belongs to a compaction", () => {
    const recovery = { ...free, health: health(true) };
    expect(whyNot("recovery", { ...recovery, settings: { ...ON, autoCompactEnabled: false } })).toBe(
      "auto-disabled",
    );
    expect(whyNot("recovery", { ...recovery, caller: "compact" })).toBe("caller-is-compaction");
    expect(whyNot("recovery", { ...recovery, caller: "session-memory" })).toBe("caller-is-compaction");
    expect(whyNot("recovery", { ...recovery, caller: "collapse" })).toBe("caller-is-collapse");
    expect(whyNot("recovery", { ...recovery, health: health(false) })).toBe("breaker-open");
  });

  it("no automatic compaction is allowed if a recovery from an overflow is not allowed", () => {
    const states = fc.record({
      settings: fc.record({ compactEnabled: fc.boolean(), autoCompactEnabled: fc.boolean() }),
      health: fc.boolean().map(health),
      caller: fc.constantFrom(...CALLERS),
      reactiveOnly: fc.boolean(),
      collapseOn: fc.boolean(),
    });
    fc.assert(
      fc.property(states, (state) => {
        if (whyNot("recovery", state) !== undefined) expect(whyNot("auto", state)).toBeDefined();
        if (whyNot("manual", state) !== undefined) expect(whyNot("recovery", state)).toBe("disabled");
      }),
    );
  });
});

describe("skip reasons of a collapse", () => {
  const { settings, caller, reactiveOnly } = free;

  it("skips a context collapse for the same reasons as an automatic compaction", () => {
    const off = { compactEnabled: true, autoCompactEnabled: false };
    expect(whyNot("collapse", { ...free, settings, caller, reactiveOnly })).toBeUndefined();
    expect(whyNot("collapse", { ...free, settings: off, caller, reactiveOnly })).toBe("auto-disabled");
    expect(whyNot("collapse", { ...free, settings, caller: "collapse", reactiveOnly })).toBe(
      "caller-is-collapse",
    );
    expect(whyNot("collapse", { ...free, settings, caller, reactiveOnly: true })).toBe("reactive-only");
    expect(
      whyNot("collapse", { ...free, settings: { ...off, compactEnabled: false }, caller, reactiveOnly }),
    ).toBe("disabled");
  });
});
