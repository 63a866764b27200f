// Runs schedules that the parent process names by their seeds, one after the other.
import { collectGarbage } from "../engine/garbage.case.ts";
import type { Plant } from "./exam.ts";
import { runSchedule, type ScheduleReport } from "./schedule.ts";

/** The order of the parent process. */
export interface Order {
  readonly seed: number;
  readonly folder: string;
  readonly plant: Plant | undefined;
  /** Keeps the session files. */
  readonly keeps: boolean;
  /** True to measure the heap afterwards. */
  readonly measures: boolean;
}

export interface Answer {
  readonly report: ScheduleReport;
  /** Heap in use after a garbage collection, in megabytes. */
  readonly heapMegabytes: number | undefined;
}

/** Silences the SDK, which warns about old models in each call. */
console.warn = () => undefined;

process.on("message", ({ seed, folder, plant, keeps, measures }: Order) => {
  void runSchedule(seed, { folder, plant, keeps }).then((report) => {
    const answer: Answer = { report, heapMegabytes: measures ? heapNow() : undefined };
    process.send?.(answer);
  });
});
process.on("disconnect", () => process.exit(0));

function heapNow(): number {
  collectGarbage();
  return Math.round(process.memoryUsage().heapUsed / 1e5) / 10;
}
