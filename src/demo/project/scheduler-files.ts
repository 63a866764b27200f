type ProjectFile = readonly [path: string, text: string];

const TIDES = `/** One periodic part of the tide, as the hydrographic office publishes it for our station. */
export interface Constituent {
  readonly name: string;
  readonly amplitudeMetres: number;
  readonly periodHours: number;
  readonly phaseDegrees: number;
}

export interface Station {
  readonly name: string;
  readonly timeZone: string;
  /** Mean level above chart datum. */
  readonly meanMetres: number;
  readonly constituents: readonly Constituent[];
}

export const STATION: Station = {
  name: "Skarvøy",
  timeZone: "Europe/Oslo",
  meanMetres: 1.42,
  constituents: [
    { name: "M2", amplitudeMetres: 0.86, periodHours: 12.4206, phaseDegrees: 211.3 },
    { name: "S2", amplitudeMetres: 0.31, periodHours: 12, phaseDegrees: 248.9 },
    { name: "N2", amplitudeMetres: 0.17, periodHours: 12.6583, phaseDegrees: 187.2 },
    { name: "K1", amplitudeMetres: 0.07, periodHours: 23.9345, phaseDegrees: 162.4 },
    { name: "O1", amplitudeMetres: 0.04, periodHours: 25.8193, phaseDegrees: 9.8 },
  ],
};

const HOUR_MS = 3_600_000;
const EPOCH_MS = Date.UTC(2000, 0, 1);
const STEP_MS = 10 * 60_000;

export function heightAt(station: Station, at: Date): number {
  const hours = (at.getTime() - EPOCH_MS) / HOUR_MS;
  return station.constituents.reduce((height, part) => {
    const angle = (2 * Math.PI * hours) / part.periodHours - (part.phaseDegrees * Math.PI) / 180;
    return height + part.amplitudeMetres * Math.cos(angle);
  }, station.meanMetres);
}

/** The lowest water between two moments, both included; ten minutes are fine enough for a berth. */
export function lowestBetween(station: Station, from: Date, until: Date): number {
  let lowest = Math.min(heightAt(station, from), heightAt(station, until));
  for (let at = from.getTime(); at < until.getTime(); at += STEP_MS) {
    lowest = Math.min(lowest, heightAt(station, new Date(at)));
  }
  return lowest;
}
`;

const BOARD = `import { heightAt, type Station } from "./tides.ts";

export interface CurvePoint {
  readonly localTime: string;
  readonly heightMetres: number;
}

/** Minutes that local time is ahead of UTC at a moment. */
export function offsetMinutes(timeZone: string, at: Date): number {
  const parts = new Intl.DateTimeFormat("en-GB", { timeZone, timeZoneName: "longOffset" }).formatToParts(at);
  const name = parts.find((part) => part.type === "timeZoneName")?.value ?? "GMT";
  const match = /GMT([+-])(\\d{2}):(\\d{2})/.exec(name);
  return match === null ? 0 : (match[1] === "-" ? -1 : 1) * (Number(match[2]) * 60 + Number(match[3]));
}

export class TideBoard {
  private readonly offset: number;

  constructor(
    private readonly station: Station,
    startedAt: Date,
  ) {
    this.offset = offsetMinutes(station.timeZone, startedAt);
  }

  /** Forty-eight points, one for each half hour of the local day. */
  curve(day: string): CurvePoint[] {
    const midnight = Date.parse(day + "T00:00:00Z") - this.offset * 60_000;
    return Array.from({ length: 48 }, (_, index) => {
      const at = new Date(midnight + index * 30 * 60_000);
      const localTime = new Date(at.getTime() + this.offset * 60_000).toISOString().slice(11, 16);
      return { localTime, heightMetres: Math.round(heightAt(this.station, at) * 100) / 100 };
    });
  }
}
`;

const SLOTS = `import type { Config } from "../config.ts";
import type { Database } from "../db.ts";
import { lowestBetween, STATION } from "./tides.ts";

export interface Stay {
  readonly arrivesAt: Date;
  readonly leavesAt: Date;
  readonly draughtMetres: number;
}

export interface BerthDepth {
  readonly code: string;
  readonly depthMetres: number;
}

export type Verdict = { readonly kind: "confirmed" } | { readonly kind: "refused"; readonly key: string };

export function decide(berth: BerthDepth, stay: Stay, taken: readonly Stay[], config: Config): Verdict {
  if (stay.leavesAt <= stay.arrivesAt) return { kind: "refused", key: "booking.empty" };
  if (taken.some((other) => overlaps(stay, other))) return { kind: "refused", key: "booking.full" };
  if (!isDeepEnough(berth, stay, config)) return { kind: "refused", key: "booking.tooShallow" };
  return { kind: "confirmed" };
}

/** Charted depth plus the lowest tide of the stay must carry the keel and the reserve under it. */
export function isDeepEnough(berth: BerthDepth, stay: Stay, config: Config): boolean {
  const until = earlier(stay.leavesAt, endOfDay(stay.arrivesAt));
  const water = berth.depthMetres + lowestBetween(STATION, stay.arrivesAt, until);
  return water >= stay.draughtMetres + config.underKeelMetres;
}

export function overlaps(a: Stay, b: Stay): boolean {
  return a.arrivesAt < b.leavesAt && b.arrivesAt < a.leavesAt;
}

export function availableBerths(db: Database, config: Config, stay: Stay): string[] {
  const berths = db.all<{ code: string; depth_metres: number }>("SELECT code, depth_metres FROM berths", []);
  return berths
    .map((row) => ({ code: row.code, depthMetres: row.depth_metres }))
    .filter((berth) => decide(berth, stay, staysAt(db, berth.code), config).kind === "confirmed")
    .map((berth) => berth.code);
}

function staysAt(db: Database, code: string): Stay[] {
  const rows = db.all<{ arrives_at: string; leaves_at: string; draught_metres: number }>(
    "SELECT arrives_at, leaves_at, draught_metres FROM bookings WHERE berth_code = ? AND status = 'confirmed'",
    [code],
  );
  return rows.map((row) => ({
    arrivesAt: new Date(row.arrives_at),
    leavesAt: new Date(row.leaves_at),
    draughtMetres: row.draught_metres,
  }));
}

function endOfDay(at: Date): Date {
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate(), 23, 59, 59));
}

function earlier(a: Date, b: Date): Date {
  return a < b ? a : b;
}
`;

const SLOTS_TEST = `import { describe, expect, it } from "vitest";
import { DEFAULTS } from "../src/config.ts";
import { decide, isDeepEnough, overlaps } from "../src/scheduler/slots.ts";

const N3 = { code: "N3", depthMetres: 7.2 };
const stay = (from: string, until: string, draughtMetres = 4) => ({
  arrivesAt: new Date(from),
  leavesAt: new Date(until),
  draughtMetres,
});

describe("slot allocation", () => {
  it("refuses a stay that ends before it begins", () => {
    const verdict = decide(N3, stay("2026-03-30T10:00Z", "2026-03-30T09:00Z"), [], DEFAULTS);
    expect(verdict).toEqual({ kind: "refused", key: "booking.empty" });
  });

  it("refuses a berth that is taken", () => {
    const morning = stay("2026-03-30T06:00Z", "2026-03-30T11:00Z");
    const verdict = decide(N3, stay("2026-03-30T10:30Z", "2026-03-30T15:00Z"), [morning], DEFAULTS);
    expect(verdict).toEqual({ kind: "refused", key: "booking.full" });
  });

  it("lets one vessel follow another in the same minute", () => {
    const a = stay("2026-03-30T06:00Z", "2026-03-30T11:00Z");
    expect(overlaps(a, stay("2026-03-30T11:00Z", "2026-03-30T12:00Z"))).toBe(false);
  });

  it("refuses a draught that the low water of the stay does not carry", () => {
    expect(isDeepEnough(N3, stay("2026-03-30T02:00Z", "2026-03-30T20:00Z", 8.4), DEFAULTS)).toBe(false);
  });
});
`;

const EXPIRY = `import type { Clock } from "../clock.ts";
import type { Config } from "../config.ts";
import type { Database } from "../db.ts";

/** Gives up requested bookings that nobody confirmed in time, and notes each in the night report. */
export class ExpiryJob {
  constructor(
    private readonly db: Database,
    private readonly clock: Clock,
    private readonly config: Config,
    private readonly notify: (bookingId: string) => Promise<void>,
  ) {}

  start(everyMs: number): () => void {
    const timer = setInterval(() => void this.run(), everyMs);
    return () => clearInterval(timer);
  }

  async run(): Promise<number> {
    const before = new Date(this.clock.now().getTime() - this.config.holdMinutes * 60_000).toISOString();
    const due = this.db.all<{ id: string }>(
      "SELECT id FROM bookings WHERE status = 'requested' AND created_at < ?",
      [before],
    );
    for (const { id } of due) {
      await this.notify(id);
      this.db.run("UPDATE bookings SET status = 'expired', version = version + 1 WHERE id = ?", [id]);
      this.db.run("INSERT INTO night_report (booking_id, outcome) VALUES (?, 'expired')", [id]);
    }
    return due.length;
  }
}
`;

const EXPIRY_TEST = `import { describe, expect, it } from "vitest";
import { ManualClock } from "../src/clock.ts";
import { DEFAULTS } from "../src/config.ts";
import { ExpiryJob } from "../src/scheduler/expiry.ts";
import { memoryDatabase, requestedBooking } from "./support/database.ts";

describe("the expiry job", () => {
  const clock = new ManualClock(new Date("2026-03-30T02:00:00Z"));

  it("expires a request older than the hold", async () => {
    const db = memoryDatabase([requestedBooking("b1", "2026-03-30T01:00:00Z")]);
    const job = new ExpiryJob(db, clock, DEFAULTS, async () => {});
    expect(await job.run()).toBe(1);
    expect(db.statusOf("b1")).toBe("expired");
  });

  it("leaves a fresh request alone", async () => {
    const db = memoryDatabase([requestedBooking("b2", "2026-03-30T01:50:00Z")]);
    expect(await new ExpiryJob(db, clock, DEFAULTS, async () => {}).run()).toBe(0);
  });
});
`;

const TIDES_TEST = `import { describe, expect, it } from "vitest";
import { TideBoard } from "../src/scheduler/board.ts";
import { heightAt, lowestBetween, STATION } from "../src/scheduler/tides.ts";

describe("tide heights", () => {
  it("stay within the sum of all amplitudes around the mean", () => {
    const reach = STATION.constituents.reduce((sum, part) => sum + part.amplitudeMetres, 0);
    for (let hour = 0; hour < 24 * 30; hour++) {
      const height = heightAt(STATION, new Date(Date.UTC(2026, 2, 1, hour)));
      expect(Math.abs(height - STATION.meanMetres)).toBeLessThanOrEqual(reach);
    }
  });

  it("finds the lowest water of a stay, ends included", () => {
    const [from, until] = [new Date("2026-03-30T00:00Z"), new Date("2026-03-30T12:00Z")];
    expect(lowestBetween(STATION, from, until)).toBeLessThanOrEqual(heightAt(STATION, from));
  });
});

describe("the tide board", () => {
  it("has a point for each half hour of the local day", () => {
    const board = new TideBoard(STATION, new Date("2026-01-10T12:00Z"));
    expect(board.curve("2026-01-10").map((point) => point.localTime).slice(0, 3)).toEqual(["00:00", "00:30", "01:00"]);
  });
});
`;

export const SCHEDULER_FILES: readonly ProjectFile[] = [
  ["src/scheduler/tides.ts", TIDES],
  ["src/scheduler/board.ts", BOARD],
  ["src/scheduler/slots.ts", SLOTS],
  ["src/scheduler/expiry.ts", EXPIRY],
  ["test/slots.test.ts", SLOTS_TEST],
  ["test/tides.test.ts", TIDES_TEST],
  ["test/expiry.test.ts", EXPIRY_TEST],
];
