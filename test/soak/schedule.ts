import { openRecall } from "@longhaul/sessions";
import { Conversation } from "./conversation.ts";
import type { Plant, Violation } from "./exam.ts";
import type { Setup } from "./setup.ts";
import { runStep } from "./steps.ts";
import { ScheduleEnded, World } from "./world.ts";

/** The outcome of one schedule. */
export interface ScheduleReport {
  readonly seed: number;
  readonly violations: readonly Violation[];
  readonly steps: readonly string[];
  readonly setup: Setup;
  readonly requests: number;
  readonly faults: number;
  readonly compactions: number;
  readonly events: Readonly<Record<string, number>>;
}

export interface ScheduleOptions {
  /** Folder for session files. Each schedule has its own subfolder. */
  readonly folder: string;
  readonly plant?: Plant | undefined;
  /** Keeps the session files. */
  readonly keeps?: boolean;
}

const MARKERS_TO_RECALL = 2;
/**
 * Probability of a recall check. A check reads the session file, which takes as much time as several turns.
 */
const RECALL_SHARE = 0.4;

/** Runs one schedule to its end. The same seed draws the same schedule. */
export async function runSchedule(
  seed: number,
  { folder, plant, keeps = false }: ScheduleOptions,
): Promise<ScheduleReport> {
  const world = await World.open(seed, folder, plant);
  const reporter = (kind: string) => (error: unknown) => world.report({ kind, detail: textOf(error) });
  const [onRejection, onException] = [reporter("unhandled rejection"), reporter("uncaught exception")];
  process.on("unhandledRejection", onRejection);
  process.on("uncaughtException", onException);
  world.time.install();
  try {
    const main = await Conversation.open(world, "main");
    await runSteps(main, world);
    await new Promise((resolve) => setImmediate(resolve));
    return reportOf(seed, world, main);
  } finally {
    world.time.uninstall();
    process.off("unhandledRejection", onRejection);
    process.off("uncaughtException", onException);
    if (!keeps) world.close();
  }
}

async function runSteps(main: Conversation, world: World): Promise<void> {
  try {
    for (let step = 0; step < world.setup.steps; step++) {
      // Moves the clock, because no host acts within the millisecond of the last reply.
      world.time.advance(1);
      await runStep(main, world);
    }
    world.begin("end");
    await main.end();
    world.examineEngineRequests();
    await recallSome(main, world);
  } catch (error) {
    if (error instanceof ScheduleEnded) return;
    world.report({ kind: "the schedule broke", detail: textOf(error) });
  }
}

const textOf = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);

/** Checks that recall finds messages in the session file that left the conversation. */
async function recallSome({ journal, view }: Conversation, world: World): Promise<void> {
  const written = journal.given.filter(({ marker }) => view.holds(marker));
  if (written.length === 0 || !world.chance.is(RECALL_SHARE)) return;
  const recall = openRecall(view.path, { indexPath: null });
  for (let count = 0; count < MARKERS_TO_RECALL; count++) {
    const { marker, kind } = world.chance.pick(written);
    const { hits } = await world.time.hold(() => recall.search({ exact: marker, all: true }));
    if (hits.length === 0) world.report({ kind: `recall does not find a ${kind}`, detail: marker });
  }
}

function reportOf(
  seed: number,
  { violations, steps, setup, provider }: World,
  main: Conversation,
): ScheduleReport {
  const events: Record<string, number> = {};
  for (const { type } of main.events) events[type] = (events[type] ?? 0) + 1;
  return {
    seed,
    violations,
    steps,
    setup,
    requests: provider.requests.length,
    faults: provider.requests.filter(({ fault }) => fault !== undefined).length,
    compactions: events.compacted ?? 0,
    events,
  };
}
