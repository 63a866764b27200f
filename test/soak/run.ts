// npm run soak [-- --schedules N] [--seed S] [--only I] [--jobs J] [--plant FAULT] [--keep FOLDER] [--json]
import { mkdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { PLANTS, type Plant } from "./exam.ts";
import { type HeapFigures, type PoolReport, runPool } from "./pool.ts";
import { Tally } from "./tally.ts";

const DEFAULT_SCHEDULES = 500;
const SEED_LIMIT = 1_000_000_000;
const PROGRESS_MS = 10_000;

const HELP = `Runs random schedules of a host's loop against the strict simulator and examines every request.

Usage: npm run soak -- [options]

  --schedules N   number of schedules (default ${DEFAULT_SCHEDULES})
  --seed S        seed of the first schedule; each further schedule has the next number (default: random)
  --only I        run only the schedule with this index, counted from 0
  --jobs J        number of processes (default: number of cores)
  --plant FAULT   damage turns on purpose, to see that the examiner reports it: ${PLANTS.join(", ")}
  --keep FOLDER   keep the session files of all schedules in this folder
  --json          print one JSON object at the end
  --help          print this text

Exit codes: 0 no violation, 1 violations found, 2 wrong usage.

Examples:
  npm run soak
  npm run soak -- --schedules 10000 --seed 1
  npm run soak -- --seed 4711 --schedules 1     repeat the schedule with seed 4711
  npm run soak -- --seed 4700 --only 11         the same schedule, by its index in a run
`;

interface Options {
  readonly seeds: readonly number[];
  readonly seed: number;
  readonly jobs: number;
  readonly plant: Plant | undefined;
  readonly keepIn: string | undefined;
  readonly json: boolean;
}

class WrongUsage extends Error {}

function readOptions(): Options | undefined {
  const values = parsed();
  if (values.help) return undefined;
  const seed =
    values.seed === undefined ? Math.floor(Math.random() * SEED_LIMIT) : wholeNumber("seed", values.seed, 0);
  const schedules = wholeNumber("schedules", values.schedules ?? String(DEFAULT_SCHEDULES), 1);
  const only = values.only === undefined ? undefined : wholeNumber("only", values.only, 0);
  const jobs = wholeNumber("jobs", values.jobs ?? String(availableParallelism()), 1);
  const plant = PLANTS.find((name) => name === values.plant);
  if (values.plant !== undefined && plant === undefined) {
    throw new WrongUsage(`Unknown fault "${values.plant}". Use one of ${PLANTS.join(", ")}.`);
  }
  const seeds = only === undefined ? Array.from({ length: schedules }, (_, at) => seed + at) : [seed + only];
  const keepIn = values.keep === undefined ? undefined : resolve(values.keep);
  if (keepIn !== undefined) mkdirSync(keepIn, { recursive: true });
  return { seeds, seed, jobs, plant, keepIn, json: values.json ?? false };
}

function parsed(): Readonly<
  Record<"schedules" | "seed" | "only" | "jobs" | "plant" | "keep", string | undefined>
> & {
  readonly json?: boolean | undefined;
  readonly help?: boolean | undefined;
} {
  const text = { type: "string" } as const;
  const flag = { type: "boolean" } as const;
  const options = {
    schedules: text,
    seed: text,
    only: text,
    jobs: text,
    plant: text,
    keep: text,
    json: flag,
    help: flag,
  };
  try {
    const { schedules, seed, only, jobs, plant, keep, json, help } = parseArgs({ options }).values;
    return { schedules, seed, only, jobs, plant, keep, json, help };
  } catch (error) {
    throw new WrongUsage((error as Error).message);
  }
}

function wholeNumber(name: string, value: string, least: number): number {
  const number = Number(value);
  if (/^\d+$/.test(value) && Number.isSafeInteger(number) && number >= least) return number;
  throw new WrongUsage(`--${name} takes a whole number of at least ${least}, not "${value}".`);
}

async function soak(options: Options): Promise<number> {
  const { seeds, seed, jobs, plant, keepIn, json } = options;
  const startedAt = performance.now();
  const tally = new Tally();
  process.stderr.write(`soak: ${seeds.length} schedules, seed ${seed}, ${jobs} processes\n`);
  const progress = setInterval(() => process.stderr.write(progressLine(tally, seeds.length)), PROGRESS_MS);
  const onReport = (report: PoolReport): void => {
    const isRare = tally.add(report);
    if (report.violations.length > 0) process.stderr.write(failureText(report, seed, isRare));
  };
  const heap = await runPool({ seeds, jobs, plant, keepIn, onReport });
  clearInterval(progress);
  tally.addHeap(heap);
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  process.stdout.write(
    json ? jsonText(tally, heap, { seed, seconds }) : summaryText(tally, heap, { seed, seconds }),
  );
  return tally.hasFailed ? 1 : 0;
}

const progressLine = (tally: Tally, all: number): string =>
  `soak: ${tally.schedules} of ${all} schedules, ${tally.failed} with violations, ${tally.requests} requests\n`;

/** Describes a violation. A rare violation is described in full, any other in one line. */
function failureText({ seed, violations, steps, setup }: PoolReport, first: number, isRare: boolean): string {
  const kinds = new Map(violations.map((violation) => [violation.kind, violation]));
  const head = `soak: schedule ${seed - first} (seed ${seed}): ${[...kinds.keys()].join("; ")}\n`;
  if (!isRare) return head;
  const lines = [...kinds.values()].map(
    ({ kind, detail, step }) => `    ${kind} (step ${step}): ${detail.slice(0, 600)}`,
  );
  const numbered = steps?.map((step, at) => `${at + 1} ${step}`) ?? [];
  return `${head}${lines.join("\n")}
    steps: ${numbered.join("; ")}
    setup: ${JSON.stringify(setup)}
    repeat: npm run soak -- --seed ${seed} --schedules 1\n`;
}

interface RunFigures {
  readonly seed: number;
  readonly seconds: number;
}

function summaryText(tally: Tally, heap: readonly HeapFigures[], { seed, seconds }: RunFigures): string {
  const kinds = tally.kinds.map(
    ({ kind, schedules, violations, seeds, example }) =>
      `  ${kind}: ${violations} in ${schedules} schedules, seeds ${seeds.join(", ")}\n      ${example.split("\n")[0]}\n`,
  );
  const memory = heap.map(
    ({ first, last, schedules }) => `${first} MB, then ${last} MB after ${schedules} schedules`,
  );
  return `${tally.schedules} schedules, seed ${seed}: ${tally.failed} with violations
${kinds.join("")}${tally.requests} requests, ${tally.faults} injected faults, ${tally.compactions} compactions, ${seconds} s
Heap of each process: ${memory.join("; ") || "too few schedules to compare"}\n`;
}

function jsonText(tally: Tally, heap: readonly HeapFigures[], { seed, seconds }: RunFigures): string {
  const { schedules, failed, requests, faults, compactions, kinds } = tally;
  const report = { seed, schedules, failed, requests, faults, compactions, seconds, kinds, heap };
  return `${JSON.stringify(report)}\n`;
}

async function main(): Promise<number> {
  try {
    const options = readOptions();
    if (options !== undefined) return await soak(options);
    process.stdout.write(HELP);
    return 0;
  } catch (error) {
    if (!(error instanceof WrongUsage)) throw error;
    process.stderr.write(`soak: ${error.message}\nRun "npm run soak -- --help" for the options.\n`);
    return 2;
  }
}

process.once("SIGINT", () => process.exit(130));
process.exitCode = await main();
