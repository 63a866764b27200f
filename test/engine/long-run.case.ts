import type { CompactorEvent, Turn } from "@longhaul/core";
import { openTranscript } from "@longhaul/sessions";
import type { LoggedRequest } from "@longhaul/simulator";
import {
  coder,
  noteTaker,
  type Simulator,
  spanSummaries,
  startSimulator,
  summaries,
} from "@longhaul/simulator";
import type { CompactorOptions } from "../support/full-compactor.ts";
import { AgentLoop, type EventOf } from "./agent-loop.case.ts";
import { armFaults } from "./faults.case.ts";
import { collectGarbage, Traces } from "./garbage.case.ts";
import type { Form } from "./host-conversation.case.ts";
import { HeldNotes } from "./notes-file.case.ts";
import { TranscriptView, tokensIn } from "./transcript-view.case.ts";

export interface LongRunOptions {
  readonly windowTokens: number;
  readonly turns: number;
  readonly resultTokens: number;
  readonly transcriptPath: string;
  readonly modelName?: string;
  readonly form?: Form;
  readonly seed?: number;
  readonly humanEvery?: number;
  readonly pastedTokens?: number;
  /**
   * Number of turns between two searches for all words of the person. There is also a search after each
   * rewrite.
   */
  readonly lookEvery?: number;
  /** Mechanism that frees tokens. It is notes, or collapsed spans that replace auto-compact. */
  readonly headroom?: "notes" | "built-in-notes" | "collapse";
}

/** An event with the number of its turn. */
export interface Dated<Event> {
  readonly turn: number;
  readonly event: Event;
}

export interface LongRun {
  readonly loop: AgentLoop;
  readonly requests: number;
  /** Requests that broke an API rule or needed a repair. Excludes requests that were only too long. */
  readonly invalid: readonly LoggedRequest[];
  readonly compactions: readonly Dated<EventOf<"compacted">>[];
  readonly judgments: readonly Dated<EventOf<"compaction-judged">>[];
  /**
   * Words of the person that were lost. They were neither in the request nor in a transcript that the request
   * refers to.
   */
  readonly lost: readonly string[];
  readonly lookedFor: number;
  /** Requests that the provider refused as too long, without an injected fault. */
  readonly overflows: readonly LoggedRequest[];
  readonly faults: number;
  /**
   * Heap size after a garbage collection, for each quarter of the run. The last figure excludes the records
   * of the simulator and the loop.
   */
  readonly heapMegabytes: readonly number[];
  /** Number of messages that left the conversation but are still in memory. */
  readonly heldMessages: number;
  readonly seenMessages: number;
  readonly figures: Readonly<Record<string, number | string>>;
}

const MINUTE_MS = 60_000;
const CODER_TURNS = 25;
/** After ten minutes the provider's cache is cold. After two hours old results are cleared by time. */
const PAUSES: readonly (readonly [everyTurns: number, minutes: number])[] = [
  [83, 10],
  [307, 120],
];

/** Runs the coder continuously, with faults, pauses and a person who speaks occasionally. */
export async function longRun(options: LongRunOptions): Promise<LongRun> {
  const { windowTokens, turns, transcriptPath, seed = 1 } = options;
  const simulator = await startSimulator({
    windowTokens,
    behaviors: [
      summaries("good"),
      noteTaker("good"),
      spanSummaries("good"),
      coder({ turns: CODER_TURNS, chattiness: 0.1, inventsPaths: true }),
    ],
    keepBodies: 2,
    seed,
  });
  const transcript = await openTranscript(transcriptPath, { lock: async () => async () => undefined });
  const watch = new Watch(transcriptPath, options.lookEvery ?? 1);
  const loop: AgentLoop = new AgentLoop({
    ...options,
    simulator,
    compactor: { window: { tokens: windowTokens }, transcript, ...headroomOf(options) },
    host: { onEvent: (event) => watch.note(event, loop) },
    onTurn: (turn) => watch.see(turn, loop),
  });
  armFaults(simulator, windowTokens);
  const heaps: number[] = [];
  for (let turn = 1; turn <= turns; turn++) {
    for (const [every, minutes] of PAUSES)
      if (turn % every === 0) simulator.clock.advance(minutes * MINUTE_MS);
    await loop.turn();
    if (turn % Math.floor(turns / 4) === 0) heaps.push(heapAfterCollection());
  }
  await loop.compactor.close();
  await transcript.close();
  await simulator.close();
  loop.lastTurn = undefined;
  collectGarbage();
  const log = readLog(simulator);
  const figures = figuresOf(loop, simulator);
  const heapMegabytes = [...heaps, heapWithoutRecords(loop, simulator)];
  return {
    ...log,
    loop,
    ...watch.findings(loop),
    figures: { ...figures, heapMegabytes: heapMegabytes.join(" → ") },
    heapMegabytes,
  };
}

function headroomOf({ headroom }: LongRunOptions): Pick<CompactorOptions, "notes" | "collapse"> {
  if (headroom === undefined) return {};
  if (headroom === "collapse") return { collapse: {} };
  return { notes: { file: new HeldNotes(), writer: headroom === "notes" ? "model" : "built-in" } };
}

type Watched = Pick<
  LongRun,
  "compactions" | "judgments" | "lost" | "lookedFor" | "heldMessages" | "seenMessages"
>;

/** Watches a run and records its figures. */
class Watch {
  readonly #search: WordSearch;
  readonly #lookEvery: number;
  readonly #traces = new Traces();
  readonly #compactions: Dated<EventOf<"compacted">>[] = [];
  readonly #judgments: Dated<EventOf<"compaction-judged">>[] = [];

  constructor(transcriptPath: string, lookEvery: number) {
    this.#search = new WordSearch(transcriptPath);
    this.#lookEvery = lookEvery;
  }

  note(event: CompactorEvent, { turns: turn }: AgentLoop): void {
    if (event.type === "compacted") this.#compactions.push({ turn, event });
    if (event.type === "compaction-judged") this.#judgments.push({ turn, event });
  }

  see(turn: Turn, { turns, said }: AgentLoop): void {
    this.#traces.add(turn.messages);
    const isRewritten = turn.compaction !== undefined || turn.cleared > 0;
    if (isRewritten || turns % this.#lookEvery === 0) this.#search.look(turn, said);
  }

  findings({ conversation }: AgentLoop): Watched {
    return {
      compactions: this.#compactions,
      judgments: this.#judgments,
      lost: [...this.#search.lost],
      lookedFor: this.#search.found,
      heldMessages: this.#traces.retainedOutside(conversation.messages),
      seenMessages: this.#traces.count,
    };
  }
}

type LogFindings = Pick<LongRun, "requests" | "invalid" | "overflows" | "faults">;

function readLog({ requests: { all, invalid, length } }: Simulator): LogFindings {
  const overflows = all.filter(({ error, fault }) => fault === undefined && isTooLong(error?.message));
  const faults = all.filter(({ fault }) => fault !== undefined).length;
  return {
    requests: length,
    invalid: invalid.filter((request) => !overflows.includes(request)),
    overflows,
    faults,
  };
}

/**
 * Returns the heap size without the log and the list of events. They grow with every turn and do not belong
 * to the engine.
 */
function heapWithoutRecords(loop: AgentLoop, simulator: Simulator): number {
  const events = loop.events.splice(0);
  simulator.reset();
  const heap = heapAfterCollection();
  loop.events.push(...events);
  return heap;
}

export const isTooLong = (message: string | undefined): boolean =>
  message !== undefined && /too long|context window/i.test(message);

function heapAfterCollection(): number {
  collectGarbage();
  return Math.round(process.memoryUsage().heapUsed / 1e6);
}

/** Searches requests and transcripts for everything that the person ever said. */
class WordSearch {
  readonly lost: Set<string> = new Set();
  found = 0;
  readonly #transcript: TranscriptView;

  constructor(path: string) {
    this.#transcript = new TranscriptView(path);
  }

  look({ request }: Turn, said: readonly string[]): void {
    const text = JSON.stringify(request.messages);
    const inContext = tokensIn(text);
    const missing = said.filter((token) => !inContext.has(token));
    this.found += said.length;
    if (missing.length === 0) return;
    this.#transcript.update();
    const isPointedTo = text.includes(this.#transcript.path);
    for (const token of missing) {
      if (!isPointedTo || !this.#transcript.said.has(token)) this.lost.add(token);
    }
  }
}

function figuresOf(loop: AgentLoop, { requests }: Simulator): Readonly<Record<string, number | string>> {
  const { totals } = requests;
  const clearings = loop.eventsOf("results-cleared");
  return {
    turns: loop.turns,
    requests: totals.requests,
    compactions: loop.eventsOf("compacted").length,
    fromNotes: loop.eventsOf("compacted").filter(({ tier }) => tier === "memory").length,
    notesTaken: loop.eventsOf("notes-updated").length,
    notesFailed: loop.eventsOf("notes-failed").length,
    notesDeclined: tally(loop.eventsOf("notes-declined").map(({ reason }) => reason)),
    spansCommitted: loop.eventsOf("spans-committed").reduce((sum, { spans }) => sum + spans, 0),
    failedCompactions: loop.eventsOf("compaction-failed").length,
    clearings: clearings.length,
    clearingsByTime: clearings.filter(({ form }) => form === "time").length,
    recoveries: loop.recoveries,
    retries: loop.retries,
    faults: requests.all.filter(({ fault }) => fault !== undefined).length,
    cacheReadPercent: Math.round((100 * totals.cacheReadTokens) / totals.inputTokens),
    costDollars: Math.round(totals.costDollars * 100) / 100,
    said: loop.said.length,
  };
}

function tally(words: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].map(([word, count]) => `${count} ${word}`).join(", ");
}
