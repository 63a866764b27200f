import type { CompactorEvent } from "@longhaul/core";
import type { LoggedRequest } from "@longhaul/simulator";
import {
  type CoderOptions,
  coder,
  type NotesKind,
  noteTaker,
  type Simulator,
  type SimulatorOptions,
  type SpanKind,
  type SummaryKind,
  spanSummaries,
  startSimulator,
  summaries,
} from "@longhaul/simulator";
import type { Kinds } from "../../packages/simulator/src/behaviors/answers.ts";
import { AgentLoop, type LoopOptions } from "./agent-loop.case.ts";

/** A small window, so that little work fills it. */
export const WINDOW_TOKENS = 32_000;

export interface Scene {
  readonly simulator: Simulator;
  loop(options?: Partial<LoopOptions>): AgentLoop;
}

export interface SceneOptions extends SimulatorOptions {
  readonly kinds?: Kinds<SummaryKind>;
  readonly notes?: NotesKind;
  readonly spans?: SpanKind | readonly SpanKind[];
  /** Options of the scripted coder, for a different session. */
  readonly play?: Partial<CoderOptions>;
}

/** Opens a simulator with an endless coder, and loops that know its window. */
export async function openScene({
  kinds = "good",
  notes = "good",
  spans = "good",
  play = {},
  ...options
}: SceneOptions = {}): Promise<Scene> {
  const windowTokens = options.windowTokens ?? WINDOW_TOKENS;
  const simulator = await startSimulator({
    behaviors: [
      summaries(kinds),
      noteTaker(notes),
      spanSummaries(spans),
      coder({ turns: Number.POSITIVE_INFINITY, chattiness: 0.1, inventsPaths: true, ...play }),
    ],
    ...options,
    windowTokens,
  });
  return {
    simulator,
    loop: (more = {}) =>
      new AgentLoop({
        simulator,
        resultTokens: 800,
        ...more,
        compactor: {
          clearing: { form: "off" },
          ...more.compactor,
          window: { tokens: windowTokens, ...more.compactor?.window },
          // Background summaries are off, because their time depends on the machine. Separate tests cover
          // them.
          compaction: { background: false, ...more.compactor?.compaction },
        },
      }),
  };
}

const MAX_TURNS = 300;

/** Runs turns until the condition is true. Returns false if the condition never becomes true. */
export async function workUntil(loop: AgentLoop, isSo: () => boolean): Promise<boolean> {
  for (let turn = 0; turn < MAX_TURNS && !isSo(); turn++) await loop.turn();
  return isSo();
}

/** Returns a condition that is true after this number of events. */
export const hasHappened =
  (type: CompactorEvent["type"]) =>
  (loop: AgentLoop, times = 1): (() => boolean) =>
  () =>
    loop.eventsOf(type).length >= times;

export const hasCompacted: ReturnType<typeof hasHappened> = hasHappened("compacted");
export const hasCommitted: ReturnType<typeof hasHappened> = hasHappened("spans-committed");

/** Runs turns until the next one would compact. Does not call `before` for that next turn. */
export async function workUpToThreshold(loop: AgentLoop, share = 0.97): Promise<void> {
  const isNear = (): boolean => {
    const { tokens = 0, thresholds } = loop.lastTurn ?? {};
    return thresholds !== undefined && tokens >= thresholds.autoCompact * share;
  };
  await workUntil(loop, isNear);
}

const figure = (request: LoggedRequest | undefined, name: string): number => {
  const value = request?.usage?.[name];
  return typeof value === "number" ? value : 0;
};

export const cacheRead = (request: LoggedRequest | undefined): number =>
  figure(request, "cache_read_input_tokens");
export const cacheWritten = (request: LoggedRequest | undefined): number =>
  figure(request, "cache_creation_input_tokens");
