import type { Entry } from "../conversation/entry.ts";
import { initialFiles } from "./project/files.ts";
import { createRandom } from "./random.ts";
import { Recorder } from "./recorder.ts";
import { boardShift, clockQuestion } from "./story/board.ts";
import { concurrency } from "./story/concurrency.ts";
import { cancelledUpgrade, chineseTexts, costCommand, editedByHand } from "./story/interludes.ts";
import { nightlyCrash } from "./story/nightly.ts";
import { midnightBug, opening } from "./story/opening.ts";
import { keepLegacyEndpoint, pagination } from "./story/pagination.ts";
import { rateLimit } from "./story/rate-limit.ts";
import type { Scene, StoryPlan } from "./story/stage.ts";
import { Toolbox } from "./tools.ts";
import { Workspace } from "./workspace.ts";

export interface DemoOptions {
  readonly seed?: number;
  /** What the provider reports for the last response. Below the shortest telling it has no effect. */
  readonly approximateTokens?: number;
  /** The folder in which the agent worked; every path in the session lies in it. */
  readonly cwd?: string;
}

/** A little above the auto-compact threshold (167,000) of a 200,000 window, so that the demo has something to do. */
export const DEMO_CONTEXT_TOKENS = 170_000;
const DEFAULT_SEED = 20_260_330;
const DEFAULT_CWD = "/home/mara/code/harbour";
const GIT_BRANCH = "feature/spring-tides";

/** How the room that the fixed scenes leave is shared out; log excerpts take what remains. */
const PAGINATION_SHARE = 0.47;
const CONCURRENCY_SHARE = 0.45;
const SHORTEST: StoryPlan = { paginationTokens: 0, concurrencyTokens: 0, contextTokensAfterLogs: 0 };

const SCENES: readonly Scene[] = [
  opening,
  midnightBug,
  boardShift,
  clockQuestion,
  pagination,
  keepLegacyEndpoint,
  chineseTexts,
  costCommand,
  concurrency,
  cancelledUpgrade,
  nightlyCrash,
  editedByHand,
  rateLimit,
];

/** A session of an agent at work on a small booking service, as Claude Code would have written it. */
export function createDemoSession(options: DemoOptions = {}): readonly Entry[] {
  return tellToSize(options).entries;
}

/** The project's files, by relative path, as they are when the session ends. */
export function demoFiles(options: DemoOptions = {}): ReadonlyMap<string, string> {
  return tellToSize(options).files;
}

interface Telling {
  readonly entries: readonly Entry[];
  readonly files: ReadonlyMap<string, string>;
  readonly contextTokens: number;
  readonly contextTokensAfterLogs: number;
}

/** Told once at its shortest to learn what the fixed scenes take, then at the size that was asked for. */
function tellToSize(options: DemoOptions): Telling {
  const target = options.approximateTokens ?? DEMO_CONTEXT_TOKENS;
  const shortest = tell(options, SHORTEST);
  const room = target - shortest.contextTokens;
  if (room <= 0) return shortest;
  const afterLogs = shortest.contextTokens - shortest.contextTokensAfterLogs;
  return tell(options, {
    paginationTokens: room * PAGINATION_SHARE,
    concurrencyTokens: room * CONCURRENCY_SHARE,
    contextTokensAfterLogs: target - afterLogs,
  });
}

function tell(options: DemoOptions, plan: StoryPlan): Telling {
  const { seed = DEFAULT_SEED, cwd = DEFAULT_CWD } = options;
  const random = createRandom(seed);
  const workspace = new Workspace(initialFiles(random));
  const touchedPaths = (): readonly string[] => workspace.touchedPaths;
  const recorder = new Recorder({ random, cwd, gitBranch: GIT_BRANCH, touchedPaths });
  const measured = { contextTokensAfterLogs: 0 };
  const tools = new Toolbox(workspace, cwd, random);
  for (const scene of SCENES) scene({ recorder, tools, workspace, random, plan, measured });
  return {
    entries: recorder.entries,
    files: workspace.snapshot(),
    contextTokens: recorder.contextTokens,
    ...measured,
  };
}
