/** Clock that a test can move, in milliseconds since 1970. */
export interface MovableClock {
  now(): number;
  /** Moves the clock forward. Cache entries and threads expire by this clock. */
  advance(milliseconds: number): void;
}

/** Start time of a fixed clock. It is always the same, so that runs are repeatable. */
const DEFAULT_START_MS = Date.UTC(2026, 10, 15, 12);

/** Creates a clock that moves only when a test moves it. */
export function createFixedClock(startMs: number = DEFAULT_START_MS): MovableClock {
  let nowMs = startMs;
  return {
    now: () => nowMs,
    advance: (milliseconds) => {
      nowMs += milliseconds;
    },
  };
}

/** Creates a clock that follows the machine's clock and can be moved ahead of it. */
export function createRunningClock(machineNow: () => number = Date.now): MovableClock {
  let aheadMs = 0;
  return {
    now: () => machineNow() + aheadMs,
    advance: (milliseconds) => {
      aheadMs += milliseconds;
    },
  };
}
