import { type ChildProcess, fork } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FROM_SOURCE } from "../support/from-source.ts";
import type { Plant } from "./exam.ts";
import type { ScheduleReport } from "./schedule.ts";
import type { Answer, Order } from "./schedules-process.ts";

export interface PoolOptions {
  readonly seeds: readonly number[];
  readonly jobs: number;
  readonly plant?: Plant | undefined;
  /** Keeps all session files in this folder. */
  readonly keepIn?: string | undefined;
  /** Maximum real time of a schedule, because a busy loop never returns to the virtual clock. */
  readonly limitMs?: number;
  readonly onReport: (report: PoolReport) => void;
}

/** Report of a schedule. If the process did not answer, it has only the seed and a violation. */
export type PoolReport = Pick<ScheduleReport, "seed" | "violations"> & Partial<ScheduleReport>;

/**
 * Heap of one process in megabytes, measured after a garbage collection. `first` is after the warm-up, `last`
 * is at the end.
 */
export interface HeapFigures {
  readonly first: number;
  readonly last: number;
  readonly schedules: number;
}

const PROGRAM = join(import.meta.dirname, "schedules-process.ts");
const MEMORY_FOLDER = "/dev/shm";
const DEFAULT_LIMIT_MS = 90_000;
/**
 * Number of warm-up schedules, in which caches and compiled code grow. After them, the heap has to stay flat.
 */
const WARM_UP_SCHEDULES = 40;
const MEASURE_EVERY = 20;

/** Runs all schedules in several processes. Resolves with the heap figures of each process. */
export async function runPool(options: PoolOptions): Promise<readonly HeapFigures[]> {
  const folder = options.keepIn ?? mkdtempSync(join(fastFolder(), "longhaul-soak-"));
  const waiting = [...options.seeds];
  const lanes = Array.from(
    { length: Math.min(options.jobs, waiting.length) },
    () => new Lane(options, folder),
  );
  try {
    await Promise.all(lanes.map((lane) => lane.work(waiting)));
    return lanes.flatMap(({ heap }) => heap ?? []);
  } finally {
    for (const lane of lanes) lane.stop();
    if (options.keepIn === undefined) rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Returns a folder in memory if the system has one, because each write to a session file waits for the disk.
 */
const fastFolder = (): string => (existsSync(MEMORY_FOLDER) ? MEMORY_FOLDER : tmpdir());

/**
 * Runs schedules in one process at a time. Replaces a process that hangs or dies, and reports its schedule.
 */
class Lane {
  readonly #options: PoolOptions;
  readonly #folder: string;
  readonly #samples: number[] = [];
  #child: ChildProcess | undefined;
  #schedules = 0;

  constructor(options: PoolOptions, folder: string) {
    this.#options = options;
    this.#folder = folder;
  }

  /** Returns undefined if too few schedules ran in one process for a comparison. */
  get heap(): HeapFigures | undefined {
    const [first, last] = [this.#samples.at(0), this.#samples.at(-1)];
    if (first === undefined || last === undefined || this.#samples.length < 2) return undefined;
    return { first, last, schedules: this.#schedules };
  }

  async work(waiting: number[]): Promise<void> {
    for (let seed = waiting.shift(); seed !== undefined; seed = waiting.shift()) {
      this.#options.onReport(await this.#run(seed));
    }
  }

  stop(): void {
    this.#child?.kill("SIGKILL");
    this.#child = undefined;
  }

  async #run(seed: number): Promise<PoolReport> {
    this.#child ??= this.#start();
    const child = this.#child;
    const isWarm = this.#schedules >= WARM_UP_SCHEDULES;
    const measures = isWarm && (this.#schedules - WARM_UP_SCHEDULES) % MEASURE_EVERY === 0;
    this.#schedules += 1;
    const { plant, keepIn } = this.#options;
    const order: Order = { seed, folder: this.#folder, plant, keeps: keepIn !== undefined, measures };
    const answer = await this.#answerOf(child, order);
    if (typeof answer === "string") {
      this.stop();
      this.#schedules = 0;
      this.#samples.length = 0;
      return { seed, violations: [{ kind: answer, detail: "", step: 0 }] };
    }
    if (answer.heapMegabytes !== undefined) this.#samples.push(answer.heapMegabytes);
    return answer.report;
  }

  #start(): ChildProcess {
    const stdio = ["ignore", "inherit", "inherit", "ipc"] as const;
    return fork(PROGRAM, {
      execArgv: ["--no-warnings", ...FROM_SOURCE],
      stdio: [...stdio],
      serialization: "advanced",
    });
  }

  /** Returns the answer of the process, or a description of its failure. */
  #answerOf(child: ChildProcess, order: Order): Promise<Answer | string> {
    const limitMs = this.#options.limitMs ?? DEFAULT_LIMIT_MS;
    return new Promise((resolve) => {
      const limit = setTimeout(() => end("hang: the process does not answer"), limitMs);
      const onExit = (code: number | null): void => end(`the process died (exit ${code})`);
      const end = (answer: Answer | string): void => {
        clearTimeout(limit);
        child.off("exit", onExit);
        child.off("message", end);
        resolve(answer);
      };
      child.once("exit", onExit);
      child.once("message", end);
      child.send(order);
    });
  }
}
