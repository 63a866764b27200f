import { createRandom, type Random } from "../../../demo/random.ts";
import { demoFilesAtStart } from "../../../testing/demo-session.ts";

/** Those of the demonstration that need what is not installed: the tour has them in a form that node runs by itself. */
const REPLACED = /^(?:src\/scheduler\/|test\/(?:slots|tides|expiry)\.test\.ts$)/;

const MANIFEST = `{
  "name": "harbour",
  "version": "1.14.0",
  "private": true,
  "type": "module",
  "scripts": { "test": "node --test test/slots.test.js" }
}
`;

/** The figure that the person wants changed stands here. */
export const RULES_FILE = "src/scheduler/rules.js";

const RULES = `/** What the scheduler goes by. Metres and minutes. */
export const RULES = {
  /** Water that must be left under the keel at the lowest point of a stay. */
  underKeelMetres: 0.5,
  /** A requested booking that nobody confirms is given up after this time. */
  holdMinutes: 45,
};
`;

const TIDES = `/** Periodic parts of the tide, as the hydrographic office publishes them: metres, hours, degrees. */
const CONSTITUENTS = [
  { name: "M2", amplitude: 0.86, period: 12.4206, phase: 211.3 },
  { name: "S2", amplitude: 0.31, period: 12, phase: 248.9 },
  { name: "N2", amplitude: 0.17, period: 12.6583, phase: 187.2 },
  { name: "K1", amplitude: 0.07, period: 23.9345, phase: 162.4 },
  { name: "O1", amplitude: 0.04, period: 25.8193, phase: 9.8 },
];

/** Mean level above chart datum, in metres. */
const MEAN = 1.42;
const HOUR_MS = 3_600_000;
const EPOCH_MS = Date.UTC(2000, 0, 1);
const STEP_MS = 10 * 60_000;

export function heightAt(at) {
  const hours = (at.getTime() - EPOCH_MS) / HOUR_MS;
  return CONSTITUENTS.reduce((height, { amplitude, period, phase }) => {
    return height + amplitude * Math.cos((2 * Math.PI * hours) / period - (phase * Math.PI) / 180);
  }, MEAN);
}

/** The lowest water between two moments; ten minutes are fine enough for a berth. */
export function lowestBetween(from, until) {
  let lowest = Math.min(heightAt(from), heightAt(until));
  for (let at = from.getTime(); at < until.getTime(); at += STEP_MS) {
    lowest = Math.min(lowest, heightAt(new Date(at)));
  }
  return lowest;
}
`;

export const SLOTS_FILE = "src/scheduler/slots.js";

/** The bug: the window ends with the day of arrival, however long the stay. */
export const BUGGY_WINDOW = `  const until = earlier(stay.leavesAt, endOfDay(stay.arrivesAt));
  const water = berth.depthMetres + lowestBetween(stay.arrivesAt, until);`;
export const WHOLE_WINDOW =
  "  const water = berth.depthMetres + lowestBetween(stay.arrivesAt, stay.leavesAt);";

/** Nobody calls these once the window is the stay. */
export const DAY_HELPERS = `
function endOfDay(at) {
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate(), 23, 59, 59));
}

function earlier(a, b) {
  return a < b ? a : b;
}
`;

const SLOTS = `import { RULES } from "./rules.js";
import { lowestBetween } from "./tides.js";

/** Whether a stay can have a berth: confirmed, or refused with the key of a text in src/locales. */
export function decide(berth, stay, taken, rules = RULES) {
  if (stay.leavesAt <= stay.arrivesAt) return { kind: "refused", key: "booking.empty" };
  if (taken.some((other) => overlaps(stay, other))) return { kind: "refused", key: "booking.full" };
  if (!isDeepEnough(berth, stay, rules)) return { kind: "refused", key: "booking.tooShallow" };
  return { kind: "confirmed" };
}

/** Charted depth plus the lowest tide of the stay must carry the keel and the reserve under it. */
export function isDeepEnough(berth, stay, rules = RULES) {
${BUGGY_WINDOW}
  return water >= stay.draughtMetres + rules.underKeelMetres;
}

export function overlaps(a, b) {
  return a.arrivesAt < b.leavesAt && b.arrivesAt < a.leavesAt;
}
${DAY_HELPERS}`;

export const TEST_FILE = "test/slots.test.js";
export const LAST_TEST = `test("refuses a draught that the low water of the stay does not carry", () => {`;
export const OVERNIGHT_TEST = `test("looks at the low water after midnight too", () => {
  const overnight = stay("2026-03-29T22:30Z", "2026-03-30T06:00Z", 7.4);
  assert.deepEqual(decide(N3, overnight, []), { kind: "refused", key: "booking.tooShallow" });
});

`;

const TESTS = `import assert from "node:assert/strict";
import { test } from "node:test";
import { decide, isDeepEnough, overlaps } from "../src/scheduler/slots.js";

const N3 = { code: "N3", depthMetres: 7.2 };
const stay = (from, until, draughtMetres = 4) => ({
  arrivesAt: new Date(from),
  leavesAt: new Date(until),
  draughtMetres,
});

test("refuses a stay that ends before it begins", () => {
  const verdict = decide(N3, stay("2026-03-30T10:00Z", "2026-03-30T09:00Z"), []);
  assert.deepEqual(verdict, { kind: "refused", key: "booking.empty" });
});

test("refuses a berth that is taken", () => {
  const morning = stay("2026-03-30T06:00Z", "2026-03-30T11:00Z");
  const verdict = decide(N3, stay("2026-03-30T10:30Z", "2026-03-30T15:00Z"), [morning]);
  assert.deepEqual(verdict, { kind: "refused", key: "booking.full" });
});

test("lets one vessel follow another in the same minute", () => {
  const first = stay("2026-03-30T06:00Z", "2026-03-30T11:00Z");
  assert.equal(overlaps(first, stay("2026-03-30T11:00Z", "2026-03-30T12:00Z")), false);
});

${LAST_TEST}
  assert.equal(isDeepEnough(N3, stay("2026-03-30T02:00Z", "2026-03-30T20:00Z", 8.4)), false);
});
`;

/** A small booking service, by relative path: what the stand-in works on with real tools. */
export function tourFiles(seed: number): ReadonlyMap<string, string> {
  const shared = [...demoFilesAtStart()]
    .filter(([path]) => !REPLACED.test(path))
    .map(([path, text]) => [path, text.replaceAll("scheduler/slots.ts", "scheduler/slots.js")] as const);
  return new Map([
    ...shared,
    ["package.json", MANIFEST],
    [RULES_FILE, RULES],
    ["src/scheduler/tides.js", TIDES],
    [SLOTS_FILE, SLOTS],
    [TEST_FILE, TESTS],
    [GAUGE_LOG, gaugeLog(createRandom(seed))],
  ]);
}

export const GAUGE_LOG = "logs/gauge.log";

/** The moment that the person asks about once the file is gone. */
export const ASKED_MOMENT = "2026-03-30T02:30Z";

/** Fine enough to look like an instrument, coarse enough for a small window. */
const STEP_MINUTES = 15;
const FIRST_READING_MS = Date.UTC(2026, 2, 29, 18);
const READINGS = 64;
const MINUTE_MS = 60_000;
/** Mean level at the gauge, how far the tide moves it, and what the waves add: metres, and millimetres. */
const MEAN_METRES = 8.3;
const TIDE_METRES = 0.8;
const WAVES_MM = 40;
const TIDE_HOURS = 12.42;

/** A night of readings. Nothing else in the project says what stands in it. */
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

/** What a text that holds the log says of that moment; undefined where it does not hold it. */
export function levelIn(text: string): string | undefined {
  return new RegExp(`${ASKED_MOMENT} N3 level (\\d+\\.\\d{3}) m`).exec(text)?.[1];
}
