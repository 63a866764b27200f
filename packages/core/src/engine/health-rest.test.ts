import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { Health, type HealthChange } from "./health.ts";

let nowMs: number;
let health: Health;

beforeEach(() => {
  nowMs = 0;
  health = new Health({ now: () => nowMs });
});

describe("recoveries", () => {
  const recoveryFails = (): readonly HealthChange[] =>
    health.recordFailure({ trigger: "reactive", reason: "prompt_too_long" });

  it("are not held off by strikes of the proactive kind nor by frequency", () => {
    for (let times = 0; times < 3; times++) health.recordFailure({ trigger: "auto", reason: "no_summary" });
    for (let times = 0; times < 3; times++) health.recordCompaction({ trigger: "auto" });
    expect(health.mayCompact()).toBe(false);
    expect(health.mayRecover()).toBe(true);
  });

  it("three that failed in a row hold off the next, and count against the proactive kind", () => {
    recoveryFails();
    recoveryFails();
    expect(health.mayRecover()).toBe(true);
    expect(recoveryFails()).toMatchObject([{ type: "breaker-opened", why: "failures" }]);
    expect(health.mayRecover()).toBe(false);
    for (let turn = 0; turn < 10; turn++) health.onTurn();
    expect(health.mayRecover()).toBe(true);
  });

  it("one that proves effective resets them; one that is ineffective is a strike", () => {
    recoveryFails();
    recoveryFails();
    health.recordCompaction({ trigger: "reactive" });
    health.recordVerdict("effective");
    recoveryFails();
    recoveryFails();
    expect(health.mayRecover()).toBe(true);
    health.recordCompaction({ trigger: "reactive" });
    health.recordVerdict("ineffective");
    expect(health.mayRecover()).toBe(false);
  });

  it("one that came about breaks the row until it is judged", () => {
    recoveryFails();
    recoveryFails();
    health.recordCompaction({ trigger: "reactive" });
    recoveryFails();
    expect(health.mayRecover()).toBe(true);
    health.recordVerdict("effective");
    health.recordCompaction({ trigger: "reactive" });
    health.recordVerdict("ineffective");
    expect(health.mayRecover()).toBe(true);
  });

  it("three within ten turns do not hold off the next, but no model writes its summary", () => {
    for (let times = 0; times < 3; times++) {
      health.onTurn();
      expect(health.isCompactingTooOften()).toBe(false);
      health.recordCompaction({ trigger: "reactive" });
      health.recordVerdict("effective");
    }
    health.onTurn();
    expect(health.mayRecover()).toBe(true);
    expect(health.isCompactingTooOften()).toBe(true);
    for (let turn = 0; turn < 10; turn++) health.onTurn();
    expect(health.isCompactingTooOften()).toBe(false);
  });

  it("a manual compaction resets them", () => {
    for (let times = 0; times < 3; times++) recoveryFails();
    health.recordCompaction({ trigger: "manual" });
    expect(health.mayRecover()).toBe(true);
  });
});

describe("rest", () => {
  it("a compaction is not repeated in the next turn unless it proved effective", () => {
    expect(health.isResting()).toBe(false);
    health.onTurn();
    health.recordCompaction({ trigger: "auto" });
    expect(health.isResting()).toBe(true);
    health.recordVerdict("ineffective");
    health.onTurn();
    expect(health.isResting()).toBe(true);
    health.onTurn();
    expect(health.isResting()).toBe(false);
    health.recordCompaction({ trigger: "auto" });
    health.recordVerdict("effective");
    expect(health.isResting()).toBe(false);
  });
});

describe("clocks that jump", () => {
  const open = (): void => {
    for (let times = 0; times < 3; times++) health.recordFailure({ trigger: "auto", reason: "other" });
  };

  it("a jump back takes nothing away from the time that has passed", () => {
    nowMs = 1_000_000_000;
    health = new Health({ now: () => nowMs });
    open();
    nowMs += 599_000;
    expect(health.mayCompact()).toBe(false);
    nowMs = 0;
    expect(health.mayCompact()).toBe(false);
    nowMs += 1_000;
    expect(health.mayCompact()).toBe(true);
  });

  it.each([Number.MAX_VALUE, 8.64e15])(
    "after a jump ahead to %d it still opens, and closes with time",
    (far) => {
      open();
      nowMs = far;
      expect(health.mayCompact()).toBe(true);
      health.recordFailure({ trigger: "auto", reason: "other" });
      expect(health.mayCompact()).toBe(false);
      nowMs = 5_000;
      expect(health.mayCompact()).toBe(false);
      nowMs += 1_200_000;
      expect(health.mayCompact()).toBe(true);
    },
  );

  it.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])("%d is no time at all", (odd) => {
    open();
    nowMs = odd;
    expect(health.mayCompact()).toBe(false);
    nowMs = 600_000;
    expect(health.mayCompact()).toBe(true);
  });
});

type Happening = (subject: Health, clock: { ms: number }) => readonly HealthChange[];

const trigger = fc.constantFrom("auto", "manual", "reactive" as const);
const reason = fc.constantFrom(
  "no_summary",
  "api_error",
  "aborted",
  "not_enough_messages",
  "does_not_pay",
  "other" as const,
);
const happening: fc.Arbitrary<Happening> = fc.oneof(
  fc.constant<Happening>((subject) => subject.onTurn()),
  fc.constant<Happening>((subject) => subject.onTurn()),
  trigger.map(
    (by): Happening =>
      (subject) =>
        subject.recordCompaction({ trigger: by }),
  ),
  fc.tuple(trigger, reason).map(
    ([by, why]): Happening =>
      (subject) =>
        subject.recordFailure({ trigger: by, reason: why }),
  ),
  fc.constantFrom("effective", "ineffective" as const).map(
    (verdict): Happening =>
      (subject) =>
        subject.recordVerdict(verdict),
  ),
  fc.nat(200_000).map(
    (tokens): Happening =>
      (subject) =>
        subject.recordSize({ tokens, threshold: 100_000 }),
  ),
  fc.oneof(fc.nat(4_000_000), fc.double()).map(
    (ms): Happening =>
      (_, clock) => {
        clock.ms = ms;
        return [];
      },
  ),
);

describe("whatever happens", () => {
  it("it never latches: an hour or sixty turns later one try is let through", () => {
    fc.assert(
      fc.property(fc.array(happening, { maxLength: 60 }), fc.boolean(), (history, byTime) => {
        const clock = { ms: 0 };
        const subject = new Health({ now: () => clock.ms });
        for (const happen of history) happen(subject, clock);
        if (!Number.isFinite(clock.ms) || Math.abs(clock.ms) > 1e12) clock.ms = 0;
        subject.mayCompact();
        if (byTime) clock.ms += 3_600_000;
        else for (let turn = 0; turn < 60; turn++) subject.onTurn();
        expect(subject.mayCompact()).toBe(true);
        expect(subject.mayRecover()).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it("opened and closed are told in turns, and what was told last is what holds", () => {
    fc.assert(
      fc.property(fc.array(happening, { maxLength: 80 }), (history) => {
        const clock = { ms: 0 };
        const subject = new Health({ now: () => clock.ms });
        let isOpen = false;
        for (const happen of [...history, (last: Health) => last.onTurn()]) {
          for (const { type } of happen(subject, clock)) {
            expect(type).toBe(isOpen ? "breaker-closed" : "breaker-opened");
            isOpen = !isOpen;
          }
        }
        expect(subject.openReason !== undefined).toBe(isOpen);
        expect(subject.mayCompact()).toBe(!isOpen);
      }),
      { numRuns: 500 },
    );
  });
});
