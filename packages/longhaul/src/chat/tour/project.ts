import { createRandom, demoFilesAtStart, type Random, tourProjectFiles } from "@longhaul/simulator/internal";

/** Demo files that need packages. The tour replaces them with versions that run on Node alone. */
const REPLACED = /^(?:src\/scheduler\/|test\/(?:slots|tides|expiry)\.test\.ts$)/;

/** File with the figure that the person wants to change. */
export const RULES_FILE = "src/scheduler/rules.js";
export const SLOTS_FILE = "src/scheduler/slots.js";
export const TEST_FILE = "test/slots.test.js";

/**
 * Returns the files of a small booking service. The key is a relative path, and the value is the text of the
 * file. The simulated model works on the files with real tools.
 */
export function tourFiles(seed: number): ReadonlyMap<string, string> {
  const shared = [...demoFilesAtStart()]
    .filter(([path]) => !REPLACED.test(path))
    .map(([path, text]) => [path, text.replaceAll("scheduler/slots.ts", "scheduler/slots.js")] as const);
  return new Map([...shared, ...tourProjectFiles(), [GAUGE_LOG, gaugeLog(createRandom(seed))]]);
}

export const GAUGE_LOG = "logs/gauge.log";

/** Time whose water level the person asks for after the log is deleted. */
export const ASKED_MOMENT = "2026-03-30T02:30Z";

/**
 * Time between two readings. It is short enough that the data is realistic, and long enough that the log fits
 * a small window.
 */
const STEP_MINUTES = 15;
const FIRST_READING_MS = Date.UTC(2026, 2, 29, 18);
const READINGS = 64;
const MINUTE_MS = 60_000;
/** Mean level at the gauge, tidal range, and waves, in meters and millimeters. */
const MEAN_METRES = 8.3;
const TIDE_METRES = 0.8;
const WAVES_MM = 40;
const TIDE_HOURS = 12.42;

/** Returns a log with the readings of one night. No other file of the project contains these readings. */
function gaugeLog(random: Random): string {
  const lines = Array.from({ length: READINGS }, (_, index) => {
    const minutes = index * STEP_MINUTES;
    const moment = new Date(FIRST_READING_MS + minutes * MINUTE_MS).toISOString().replace(":00.000Z", "Z");
    const tide = TIDE_METRES * Math.cos((2 * Math.PI * minutes) / (60 * TIDE_HOURS) - 1.2);
    const level = MEAN_METRES + tide + random.between(-WAVES_MM, WAVES_MM) / 1_000;
    return `${moment} N3 level ${level.toFixed(3)} m wind ${random.between(3, 17)} kn`;
  });
  return `# gauge N3, Skarvøy, UTC\n${lines.join("\n")}\n`;
}

/**
 * Finds the water level at {@link ASKED_MOMENT} in a text. Undefined if the text does not contain the log.
 */
export function levelIn(text: string): string | undefined {
  return new RegExp(`${ASKED_MOMENT} N3 level (\\d+\\.\\d{3}) m`).exec(text)?.[1];
}
