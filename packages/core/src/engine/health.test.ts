import { beforeEach, describe, expect, it } from "vitest";
import { Health, type HealthChange } from "./health.ts";

const MINUTE = 60_000;
let nowMs: number;
let health: Health;

beforeEach(() => {
  nowMs = 1_800_000_000_000;
  health = new Health({ now: () => nowMs });
});

const turns = (count: number): readonly HealthChange[] =>
  Array.from({ length: count }, () => health.onTurn()).flat();
const fail = (): readonly HealthChange[] => health.recordFailure({ trigger: "auto", reason: "no_summary" });
const compact = (): readonly HealthChange[] => health.recordCompaction({ trigger: "auto" });

function openByFailures(): void {
  for (let strike = 0; strike < 3; strike++) fail();
  expect(health.mayCompact()).toBe(false);
}

describe("strikes: failed or ineffective compactions that open the breaker", () => {
  it("opens the breaker after three failed compactions in a row and reports the opening once", () => {
    expect([...fail(), ...fail()]).toEqual([]);
    expect(health.mayCompact()).toBe(true);
    expect(fail()).toEqual([{ type: "breaker-opened", why: "failures", strikes: 3 }]);
    expect([health.openReason, health.strikes]).toEqual(["failures", 3]);
    expect(fail()).toEqual([]);
  });

  it("three ineffective compactions open the breaker", () => {
    const changes = [1, 2, 3].flatMap(() => {
      turns(10);
      return [...compact(), ...health.recordVerdict("ineffective")];
    });
    expect(changes).toEqual([{ type: "breaker-opened", why: "ineffective", strikes: 3 }]);
  });

  it("failed and ineffective compactions together open the breaker", () => {
    fail();
    compact();
    health.recordVerdict("ineffective");
    expect(health.strikes).toBe(2);
    expect(fail()).toEqual([{ type: "breaker-opened", why: "failures", strikes: 3 }]);
  });

  it("a successful compaction suspends earlier strikes, and clears them when it proves effective", () => {
    fail();
    fail();
    compact();
    expect(fail()).toEqual([]);
    health.recordVerdict("effective");
    expect([health.openReason, health.strikes]).toEqual([undefined, 0]);
    fail();
    expect(fail()).toEqual([]);
  });

  it("after two successful compactions, suspends all strikes until both compactions are judged", () => {
    fail();
    turns(10);
    compact();
    fail();
    turns(10);
    compact();
    expect(health.strikes).toBe(0);
    expect(health.recordVerdict("ineffective")).toEqual([
      { type: "breaker-opened", why: "ineffective", strikes: 3 },
    ]);
  });

  it.each(["aborted", "not_enough_messages"] as const)(
    "a failed compaction with the reason %s does not count towards opening the breaker",
    (reason) => {
      for (let times = 0; times < 10; times++) health.recordFailure({ trigger: "auto", reason });
      expect(health.strikes).toBe(0);
    },
  );

  it.each([
    "no_summary",
    "api_error",
    "prompt_too_long",
    "does_not_pay",
    "blocked_by_hook",
    "transcript_failed",
    "other",
  ] as const)("a failed compaction with the reason %s counts towards opening the breaker", (reason) => {
    health.recordFailure({ trigger: "auto", reason });
    expect(health.strikes).toBe(1);
  });

  it("pauses after a compaction that saved too little, and opens the breaker after the third such compaction", () => {
    turns(1);
    const lose = (): readonly HealthChange[] =>
      health.recordFailure({ trigger: "auto", reason: "does_not_pay" });
    lose();
    expect([health.isResting(), health.state(0)]).toEqual([true, "did-not-pay"]);
    turns(2);
    expect([health.isResting(), health.state(0)]).toEqual([false, undefined]);
    lose();
    turns(2);
    expect(lose()).toEqual([{ type: "breaker-opened", why: "ineffective", strikes: 3 }]);
    expect(health.mayCompact()).toBe(false);
  });

  it("a manual compaction that saves too little causes no pause and does not open the breaker", () => {
    turns(1);
    for (let times = 0; times < 5; times++)
      health.recordFailure({ trigger: "manual", reason: "does_not_pay" });
    expect(health.isResting()).toBe(false);
    expect([health.openReason, health.strikes]).toEqual([undefined, 0]);
  });

  it("forgets all failed compactions before a compaction that proved effective", () => {
    fail();
    fail();
    compact();
    health.recordVerdict("effective");
    turns(10);
    compact();
    health.recordVerdict("ineffective");
    expect(health.strikes).toBe(1);
  });

  it("failed and ineffective manual compactions never open the breaker", () => {
    for (let times = 0; times < 5; times++) health.recordFailure({ trigger: "manual", reason: "api_error" });
    expect(health.strikes).toBe(0);
    for (let times = 0; times < 5; times++) {
      health.recordFailure({ trigger: "manual", reason: "api_error" });
      health.recordCompaction({ trigger: "manual" });
      health.recordVerdict("ineffective");
    }
    expect([health.openReason, health.strikes]).toEqual([undefined, 0]);
  });

  it("ignores a verdict that refers to no compaction", () => {
    expect(health.recordVerdict("ineffective")).toEqual([]);
    expect(health.strikes).toBe(0);
  });
});

describe("closing the breaker", () => {
  it("an open breaker allows one compaction after 10 minutes and doubles the pause per failure, up to an hour", () => {
    openByFailures();
    for (const minutes of [10, 20, 40, 60, 60]) {
      nowMs += minutes * MINUTE - 1;
      expect(health.mayCompact()).toBe(false);
      nowMs += 1;
      expect(health.mayCompact()).toBe(true);
      const [closed, opened, ...rest] = fail();
      expect(closed).toEqual({ type: "breaker-closed", why: "time" });
      expect(opened).toMatchObject({ type: "breaker-opened", why: "failures" });
      expect(rest).toEqual([]);
      expect(health.mayCompact()).toBe(false);
    }
  });

  it("an open breaker allows one compaction after 10 turns, and doubles the number of turns per failure", () => {
    openByFailures();
    for (const count of [10, 20, 40, 60, 60]) {
      expect(turns(count - 1)).toEqual([]);
      expect(turns(1)).toEqual([{ type: "breaker-closed", why: "progress" }]);
      fail();
      expect(health.mayCompact()).toBe(false);
    }
  });

  it("an effective compaction after a pause makes the next pause of the breaker short again", () => {
    openByFailures();
    turns(10);
    fail();
    turns(20);
    compact();
    health.recordVerdict("effective");
    openByFailures();
    expect(turns(10)).toEqual([{ type: "breaker-closed", why: "progress" }]);
  });

  it("an ineffective compaction after a pause opens the breaker again for twice as long", () => {
    openByFailures();
    turns(10);
    compact();
    expect(health.recordVerdict("ineffective")).toMatchObject([
      { type: "breaker-opened", why: "ineffective" },
    ]);
    turns(19);
    expect(health.mayCompact()).toBe(false);
    turns(1);
    expect(health.mayCompact()).toBe(true);
  });

  it("an open breaker allows one compaction when the context falls well below the threshold by itself", () => {
    openByFailures();
    expect(health.recordSize({ tokens: 90_000, threshold: 100_000 })).toEqual([]);
    expect(health.recordSize({ tokens: 89_999, threshold: 100_000 })).toEqual([
      { type: "breaker-closed", why: "progress" },
    ]);
    expect(health.recordSize({ tokens: 10, threshold: 100_000 })).toEqual([]);
    expect(fail()).toMatchObject([{ type: "breaker-opened" }]);
    turns(19);
    expect(health.mayCompact()).toBe(false);
  });

  it("a successful manual compaction closes the breaker, whatever opened it", () => {
    openByFailures();
    expect(health.recordCompaction({ trigger: "manual" })).toEqual([
      { type: "breaker-closed", why: "manual" },
    ]);
    for (let times = 0; times < 3; times++) compact();
    expect(health.openReason).toBe("frequency");
    expect(health.recordCompaction({ trigger: "manual" })).toEqual([
      { type: "breaker-closed", why: "manual" },
    ]);
  });

  it("a recovery closes an open breaker only when the recovery proves effective", () => {
    openByFailures();
    expect(health.recordCompaction({ trigger: "reactive" })).toEqual([]);
    expect(health.mayCompact()).toBe(false);
    expect(health.recordVerdict("effective")).toEqual([{ type: "breaker-closed", why: "success" }]);
  });

  it("allows one more recovery after the provider accepts a request", () => {
    const failRecovery = () => health.recordFailure({ trigger: "reactive", reason: "does_not_pay" });
    for (let turn = 0; turn < 3; turn++) failRecovery();
    expect(health.mayRecover()).toBe(false);
    health.recordAccepted();
    expect(health.mayRecover()).toBe(true);
    failRecovery();
    expect(health.mayRecover()).toBe(false);
  });

  it("a failed recovery does not lengthen the pause of an open breaker", () => {
    openByFailures();
    turns(9);
    health.recordFailure({ trigger: "reactive", reason: "api_error" });
    expect(turns(1)).toEqual([{ type: "breaker-closed", why: "progress" }]);
  });
});

describe("limit on the frequency of compactions", () => {
  it("allows at most three compactions within ten turns, even if each one is effective", () => {
    const made: number[] = [];
    for (let turn = 0; turn < 100; turn++) {
      health.onTurn();
      if (!health.mayCompact()) continue;
      made.push(health.turn);
      compact();
      health.recordVerdict("effective");
    }
    for (const [index, turn] of made.entries()) {
      expect(turn - (made[index - 3] ?? Number.NEGATIVE_INFINITY)).toBeGreaterThanOrEqual(10);
    }
    expect(made).toHaveLength(30);
  });

  it("reports when the frequency limit opens and closes the breaker", () => {
    turns(1);
    compact();
    compact();
    expect(compact()).toEqual([{ type: "breaker-opened", why: "frequency", strikes: 0 }]);
    expect(turns(9)).toEqual([]);
    expect(turns(1)).toEqual([{ type: "breaker-closed", why: "progress" }]);
  });

  it("the frequency limit also applies to a context below the threshold", () => {
    for (let times = 0; times < 3; times++) compact();
    expect(health.recordSize({ tokens: 1, threshold: 100_000 })).toEqual([]);
    expect(health.mayCompact()).toBe(false);
  });

  it("allows one compaction every ten minutes despite the frequency limit", () => {
    for (let times = 0; times < 3; times++) compact();
    nowMs += 10 * MINUTE;
    expect(health.onTurn()).toEqual([{ type: "breaker-closed", why: "time" }]);
    expect(compact()).toMatchObject([{ type: "breaker-opened", why: "frequency" }]);
  });

  it("the frequency limit counts recoveries, but not manual compactions", () => {
    for (let times = 0; times < 5; times++) health.recordCompaction({ trigger: "manual" });
    expect(health.mayCompact()).toBe(true);
    for (let times = 0; times < 3; times++) health.recordCompaction({ trigger: "reactive" });
    expect(health.openReason).toBe("frequency");
  });
});
