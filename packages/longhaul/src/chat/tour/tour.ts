import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Agent, AgentOptions } from "@longhaul/agent";
import { openAgent } from "@longhaul/agent";
import { commandKey } from "@longhaul/agent/internal";
import { anthropicModel } from "@longhaul/anthropic";
import { LonghaulError } from "@longhaul/core/errors";
import type { ModelFacts } from "@longhaul/core/measure";
import { computeThresholds, ESTIMATORS } from "@longhaul/core/measure";
import {
  coder,
  createRunningClock,
  noteTaker,
  type Simulator,
  spanSummaries,
  startSimulator,
  summaries,
} from "@longhaul/simulator";
import { createTokenCounter } from "@longhaul/simulator/internal";
import type { Composition } from "../../composition.ts";
import { runChat } from "../chat.ts";
import type { Guide } from "../chat-setup.ts";
import { processScreen, unattendedScreen } from "../screen/open-screen.ts";
import { loopbackClient, type ReadingPace } from "./loopback-client.ts";
import { GAUGE_LOG, tourFiles } from "./project.ts";
import { Quiet } from "./quiet.ts";
import { TEST_COMMAND, tourScenes } from "./scenes.ts";
import { insideOf, standIn } from "./stand-in.ts";
import { TourEvents } from "./tour-events.ts";
import { longRun, tourGuide, tourSteps } from "./tour-guide.ts";
import { type TourReport, tourReport, tourView } from "./tour-report.ts";

const MODEL_NAME = "stand-in";
/** The window is so small that all compactions of the tour happen within a minute. */
const MODEL_FACTS: ModelFacts = { windowTokens: 32_000, maxOutputTokens: 8_000 };
const DEFAULT_SEED = 7;

/**
 * Delays of the answers. They are long enough that a person can watch the answers, and short enough that the
 * tour takes less than a minute.
 */
const WATCHED_FIRST_BYTE_MS = 300;
const WATCHED_PACE: ReadingPace = { betweenMs: 25, mostMs: 1_000 };

/** Options of the simulated coder, which answers prompts that no scene knows. */
const CODER = { turns: 6, inventsPaths: true, folder: "src" };
/** If nobody watches, the coder works longer on each prompt and writes more. */
const UNATTENDED_CODER = { ...CODER, turns: 14, chattiness: 1 };
/**
 * Tools of the coder. The coder invents its actions, so it gets no tool that runs a shell, uses the network
 * or asks a person.
 */
const CODER_TOOLS: readonly string[] = ["Read", "Write", "Edit", "Grep", "Glob", "TodoWrite", "recall"];

export interface TourOptions {
  /** True if a person watches. Answers then arrive at the speed of a real model. */
  readonly isWatched?: boolean | undefined;
  /**
   * Number of model calls. After its steps, the tour continues with other requests until this number is
   * reached.
   */
  readonly turns?: number | undefined;
  /** Seed of the random numbers. The same seed always gives the same tour. */
  readonly seed?: number | undefined;
}

/** Runs a guided chat with a simulated model in a separate folder. */
export async function runTour(
  { isWatched = false, turns }: TourOptions,
  composition: Composition,
  { version }: { readonly version: string },
): Promise<void> {
  const tour = await openTour({ isWatched, turns });
  const { places = composition.places } = tour.agentOptions;
  let isSound = true;
  try {
    await runChat({
      composition: { ...composition, places },
      version,
      open: (wiring) => openAgent({ ...tour.agentOptions, ...wiring }),
      modelNamed: async () => {
        throw new LonghaulError(
          "command-unavailable",
          "/model is not available here: the tour has only a simulated model.",
          {
            remedy: "To chat with a real model, run `longhaul chat --model NAME`.",
          },
        );
      },
      openScreen: isWatched ? processScreen : unattendedScreen,
      guide: tour.guide,
      isUnattended: !isWatched,
      farewell: async (agent) => {
        if (isWatched) return "The tour is over. Run `longhaul chat` to start your own chat.";
        const report = await tour.report(agent);
        isSound = report.isSound;
        return tourView(report, composition.terminal);
      },
    });
  } finally {
    await tour.close();
  }
  if (!isSound)
    throw new LonghaulError(
      "tour-failed",
      "The tour failed: at least one of its checks found a wrong result.",
      {
        remedy: "Report this error together with the output above.",
      },
    );
}

export interface Tour {
  /** Agent options, besides those that the chat adds. */
  readonly agentOptions: Pick<
    AgentOptions,
    "model" | "cwd" | "places" | "permissions" | "notes" | "compactor"
  >;
  readonly guide: Guide;
  /** Folder of all files, including sessions, until `close`. */
  readonly folder: string;
  /** Requests that reached the simulated model. */
  readonly requests: Simulator["requests"];
  /** Reports the result so far. */
  report(agent: Pick<Agent, "prompts" | "conversation" | "sessionPath" | "reading">): Promise<TourReport>;
  /** Ends the simulator and removes the folder. */
  close(): Promise<void>;
}

/** Creates a small project in a separate folder, a scripted model, and a guide. */
export async function openTour(options: TourOptions = {}): Promise<Tour> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "longhaul-tour-")));
  try {
    return await openTourIn(folder, options);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

async function openTourIn(folder: string, options: TourOptions): Promise<Tour> {
  const { seed = DEFAULT_SEED, turns, isWatched = false } = options;
  const [project, home] = [join(folder, "harbour"), join(folder, "home")];
  await writeProject(project, seed);
  const quiet = new Quiet();
  const simulator = await startStandIn(project, options);
  const seen = new TourEvents();
  const steps = tourSteps({
    folder: project,
    windowTokens: MODEL_FACTS.windowTokens,
    isWatched,
    removeLog: () => rm(join(project, GAUGE_LOG), { force: true }),
  });
  return {
    agentOptions: {
      model: anthropicModel({
        model: MODEL_NAME,
        client: loopbackClient(simulator.url, { quiet, ...(isWatched && { pace: WATCHED_PACE }) }),
      }),
      cwd: project,
      places: { home, env: { LONGHAUL_HOME: home } },
      // A person who watches is asked for permission to run the tests. Without a person, the tests are
      // allowed.
      permissions: { mode: "accept-edits", allow: isWatched ? [] : [commandKey(TEST_COMMAND).key] },
      notes: "model",
      // Ignores the user's environment, which could switch features off.
      compactor: { window: { models: { [MODEL_NAME]: MODEL_FACTS } }, settings: { environment: {} } },
    },
    guide: tourGuide(turns === undefined ? steps : longRun(steps, seen, turns), {
      seen,
      settled: () => quiet.settled(),
    }),
    folder,
    requests: simulator.requests,
    report: (agent) => tourReport(agent, seen, simulator.requests),
    close: async () => {
      await simulator.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function writeProject(project: string, seed: number): Promise<void> {
  for (const [path, text] of tourFiles(seed)) {
    const file = join(project, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }
}

async function startStandIn(project: string, { isWatched, turns, seed }: TourOptions): Promise<Simulator> {
  const scenes = tourScenes(computeThresholds(MODEL_FACTS));
  // This estimator gives the same figures with and without an installed tokenizer, and needs no loading.
  const countText = ESTIMATORS.o200k;
  const counter = await createTokenCounter(countText);
  return await startSimulator({
    models: [
      {
        id: MODEL_NAME,
        ...MODEL_FACTS,
        bindsThinking: false,
        features: { thinksByDefault: false, tokenScale: 1 },
      },
    ],
    behaviors: [
      summaries(),
      spanSummaries(),
      noteTaker(),
      insideOf(project, standIn(scenes, counter)),
      insideOf(
        project,
        coder({
          ...(turns === undefined ? CODER : UNATTENDED_CODER),
          uses: (name) => CODER_TOOLS.includes(name),
          ...(seed !== undefined && { seed }),
        }),
      ),
    ],
    countText,
    clock: createRunningClock(),
    latency: isWatched === true ? WATCHED_FIRST_BYTE_MS : 0,
    ...(seed !== undefined && { seed }),
  });
}
