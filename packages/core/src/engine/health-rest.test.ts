import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { Health, type HealthChange } from "./health.ts";

let nowMs: number;
let health: Health;

beforeEach(() => {
  nowMs = 0;
  health = new Health({ now: () => nowMs });
});

describe("recoveries after an overflow", () => {
  const recoveryFails = (): readonly HealthChange[] =>
    health.recordFailure({ trigger: "reactive", reason: "prompt_too_long" });

  it("allows a recovery from an overflow even if automatic compactions failed or were too frequent", () => {
    for (let times = 0; times < 3; times++) health.recordFailure({ trigger: "auto", reason: "no_summary" });
    for (let times = 0; times < 3; times++) health.recordCompaction({ trigger: "auto" });
    expect(health.mayCompact()).toBe(false);
    expect(health.mayRecover()).toBe(true);
  });

  it("opens the breaker and stops recoveries after three failed recoveries in a row", () => {
    recoveryFails();
    recoveryFails();
    expect(health.mayRecover()).toBe(true);
    expect(recoveryFails()).toMatchObject([{ type: "breaker-opened", why: "failures" }]);
    expect(health.mayRecover()).toBe(false);
    for (let turn = 0; turn < 10; turn++) health.onTurn();
    expect(health.mayRecover()).toBe(true);
  });

  it("an effective recovery resets the count of failed recoveries, and an ineffective one raises it", () => {
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

  it("earlier failed recoveries do not count while a successful recovery waits for its judgment", () => {
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

  it("after three recoveries in ten turns, allows a fourth but reports that compactions are too frequent", () => {
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

  it("a manual compaction resets the count of failed recoveries", () => {
    for (let times = 0; times < 3; times++) recoveryFails();
    health.recordCompaction({ trigger: "manual" });
    expect(health.mayRecover()).toBe(true);
  });
});

describe("pause after a compaction", () => {
  it("does not compact in the next turn unless the last compaction proved effective", () => {
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

describe("a clock that jumps", () => {
  const open = (): void => {
    for (let times = 0; times < 3; times++) health.recordFailure({ trigger: "auto", reason: "other" });
  };

  it("a clock that jumps back does not shorten or restart the pause of the breaker", () => {
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
    "the breaker still opens and closes on time after the clock jumps ahead to %d",
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

  it.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
    "the breaker ignores a clock that returns %d",
    (odd) => {
      open();
      nowMs = odd;
      expect(health.mayCompact()).toBe(false);
      nowMs = 600_000;
      expect(health.mayCompact()).toBe(true);
    },
  );
});

type Step = (subject: Health, clock: { ms: number }) => readonly HealthChange[];

const trigger = fc.constantFrom("auto", "manual", "reactive" as const);
const reason = fc.constantFrom(
  "no_summary",
  "api_error",
  "aborted",
  "not_enough_messages",
  "does_not_pay",
  "other" as const,
);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.constant<Step>((subject) => subject.onTurn()),
  fc.constant<Step>((subject) => subject.onTurn()),
  trigger.map(
    (by): Step =>
      (subject) =>
        subject.recordCompaction({ trigger: by }),
  ),
  fc.tuple(trigger, reason).map(
    ([by, why]): Step =>
      (subject) =>
        subject.recordFailure({ trigger: by, reason: why }),
  ),
  fc.constantFrom("effective", "ineffective" as const).map(
    (verdict): Step =>
      (subject) =>
        subject.recordVerdict(verdict),
  ),
  fc.nat(200_000).map(
    (tokens): Step =>
      (subject) =>
        subject.recordSize({ tokens, threshold: 100_000 }),
  ),
  fc.oneof(fc.nat(4_000_000), fc.double()).map(
    (ms): Step =>
      (_, clock) => {
        clock.ms = ms;
        return [];
      },
  ),
);

describe("random histories of the breaker", () => {
  it("the breaker allows a compaction after an hour or sixty turns, whatever happened before", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.boolean(), (history, byTime) => {
        const clock = { ms: 0 };
        const subject = new Health({ now: () => clock.ms });
        for (const apply of history) apply(subject, clock);
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

  it("reports every opening and closing of the breaker, so that the last report shows its current state", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (history) => {
        const clock = { ms: 0 };
        const subject = new Health({ now: () => clock.ms });
        let isOpen = false;
        for (const apply of [...history, (last: Health) => last.onTurn()]) {
          for (const { type } of apply(subject, clock)) {
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
