/** Time that a test can move. In milliseconds since 1970. */
export interface MovableClock {
  now(): number;
  /** Moves it on; what has a lifetime ages by as much. */
  advance(milliseconds: number): void;
}

/** Some noon; a fixed one, so that runs repeat. */
const DEFAULT_START_MS = Date.UTC(2026, 10, 15, 12);

/** Stands still until it is moved. */
export function createFixedClock(startMs: number = DEFAULT_START_MS): MovableClock {
  let nowMs = startMs;
  return {
    now: () => nowMs,
    advance: (milliseconds) => {
      nowMs += milliseconds;
    },
  };
}

/** Runs with the machine's clock, and can be moved ahead of it. */
export function createRunningClock(machineNow: () => number = Date.now): MovableClock {
  let aheadMs = 0;
  return {
    now: () => machineNow() + aheadMs,
    advance: (milliseconds) => {
      aheadMs += milliseconds;
    },
  };
}
