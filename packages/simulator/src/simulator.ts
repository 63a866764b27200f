import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { LonghaulError } from "@longhaul/core/errors";
import { type CoderOptions, coder } from "./behaviours/coder.ts";
import { noteTaker } from "./behaviours/notes.ts";
import { type ScriptedBehaviour, type ScriptedTurn, scriptedTurns } from "./behaviours/scripted.ts";
import { spanSummaries } from "./behaviours/spans.ts";
import { compactionSummary, summaries } from "./behaviours/summaries.ts";
import { createFixedClock, type MovableClock } from "./clock.ts";
import type { Summarise } from "./context/compaction.ts";
import type { Behaviour, Switches } from "./exchange.ts";
import { type CountText, createTokenCounter, type TokenCounter } from "./prompt/token-count.ts";
import { Catalogue, type ModelOptions } from "./server/catalogue.ts";
import { Conversations } from "./server/conversations.ts";
import type { Pace } from "./server/delivery.ts";
import { Desk } from "./server/desk.ts";
import { type Fault, type FaultConditions, Faults } from "./server/faults.ts";
import { createIds } from "./server/ids.ts";
import { type LoggedRequest, RequestLog } from "./server/request-log.ts";

export interface SimulatorOptions {
  /** Any free one unless given. */
  readonly port?: number;
  /** In addition to the Claude models, or in place of those with the same name. */
  readonly models?: readonly ModelOptions[];
  /** The window of every model that `models` does not name. */
  readonly windowTokens?: number;
  /**
   * Who plays the model when the turns given to `reply` are used up: the first that answers. Unless given,
   * requests for a summary, for notes or for a span get a good one, and the coder answers everything else.
   */
  readonly behaviours?: readonly Behaviour[];
  /** Options of the coder that answers where no `behaviours` are given. */
  readonly coder?: Partial<CoderOptions>;
  /** Writes the summaries of the provider's own compactions; the built-in summariser unless given. */
  readonly summarise?: Summarise;
  /** Which reading of the API is meant where reports conflict. */
  readonly switches?: Partial<Switches>;
  /** The keys that are let in; any key unless given. */
  readonly apiKeys?: readonly string[];
  /** Lifetimes run by it. Unless given, it stands still until it is moved. */
  readonly clock?: MovableClock;
  /**
   * Counts in place of gpt-tokenizer, which stands in for the model's own tokenizer; `estimate` is our estimate, also
   * where gpt-tokenizer is installed.
   */
  readonly countText?: CountText | "estimate";
  /** Milliseconds before the first byte, or these and those between the events of a stream. */
  readonly latency?: number | Partial<Pace>;
  /** Ids, signatures and faults by chance follow from it: the same seed repeats the same run. */
  readonly seed?: number;
  /** How many bodies the log keeps; of older requests it keeps the figures alone. */
  readonly keepBodies?: number;
  /** Called when a request has come to its end, whatever the end was. */
  readonly onRequest?: (request: LoggedRequest) => void;
}

/** What is taken unless a test says otherwise: the current reference, and the newest accounts. */
export const DEFAULT_SWITCHES: Switches = Object.freeze({
  consecutiveRoles: "merged",
  requireTools: false,
  enforceBinding: true,
  foreignSignatures: "refused",
  cacheEdits: false,
  threads: "accepted",
  unknownBetas: "accepted",
});

/** Enough for what a test looks back at; the bodies of a long run would fill the memory. */
const DEFAULT_KEPT_BODIES = 100;

/** A local server that speaks the Anthropic API, as strict as the real one. */
export interface Simulator {
  /** For `ANTHROPIC_BASE_URL` or the `baseURL` of a client. */
  readonly url: string;
  readonly port: number;
  readonly requests: RequestLog;
  readonly clock: MovableClock;
  /** How tokens are counted; `source` says by what. */
  readonly counter: TokenCounter;
  /** Answers the next calls with these turns, in order. */
  reply(...turns: readonly ScriptedTurn[]): void;
  /** Lets coming calls fail: the next one, unless the conditions say otherwise. */
  fail(fault: Fault | number, conditions?: FaultConditions): void;
  /** As if it had just been started; the address and the clock stay. */
  reset(): void;
  /** Ends open connections at once. */
  close(): Promise<void>;
}

export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const counter = await createTokenCounter(options.countText);
  const clock = options.clock ?? createFixedClock();
  const requests = new RequestLog(options.keepBodies ?? DEFAULT_KEPT_BODIES);
  const begin = (): Session => beginSession(options, { counter, clock, log: requests });
  let session = begin();
  const listening = await listen(options.port ?? 0, (request: IncomingMessage, response: ServerResponse) => {
    session.desk.serve(request, response).catch((error: unknown) => {
      // The client must not wait for ever; the mistake must not go unseen either.
      response.destroy();
      throw error;
    });
  });
  return {
    ...listening,
    requests,
    clock,
    counter,
    reply: (...turns) => session.script.add(...turns),
    fail: (fault, conditions) => session.faults.arm(fault, conditions),
    reset: () => {
      requests.clear();
      session = begin();
    },
  };
}

/** Nobody but this machine may reach it: it answers everyone who asks. */
const LOOPBACK = "127.0.0.1";

async function listen(
  port: number,
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Pick<Simulator, "url" | "port" | "close">> {
  const server = createServer({ keepAlive: true }, handle);
  // Silence and slowness are ours to give; the server's own patience must not end them.
  server.requestTimeout = 0;
  server.timeout = 0;
  // A client that keeps its connection for later must not find it closed just as it asks again.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(notListening(error, port)));
    server.listen(port, LOOPBACK, resolve);
  });
  const address = server.address() as AddressInfo;
  let closing: Promise<void> | undefined;
  return {
    url: `http://${LOOPBACK}:${address.port}`,
    port: address.port,
    close: () => {
      closing ??= new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      return closing;
    },
  };
}

function notListening(error: NodeJS.ErrnoException, port: number): LonghaulError {
  const [problem, remedy] = PORT_PROBLEMS[error.code ?? ""] ?? [];
  const message =
    problem === undefined ? `The simulator could not start: ${error.message}` : `Port ${port} ${problem}`;
  const facts = { port, reason: error.code ?? error.message };
  return new LonghaulError("simulator-failed", message, { ...(remedy && { remedy }), facts, cause: error });
}

const PORT_PROBLEMS: Readonly<Record<string, readonly [problem: string, remedy: string]>> = {
  EADDRINUSE: ["is already in use.", "Take another one with --port, or leave it out: any free port will do."],
  EACCES: ["may not be opened by this user.", "Take one above 1023."],
};

// The parts that a reset begins anew

const DEFAULT_SEED = 1;
/** Turns of work after each human message, when nobody scripted anything. */
export const CODER_TURNS = 12;

/** Everything that a reset begins anew. */
export interface Session {
  readonly desk: Desk;
  readonly script: ScriptedBehaviour;
  readonly faults: Faults;
}

/** The rest: it outlasts a reset. */
type Lasting = Pick<Simulator, "counter" | "clock"> & { readonly log: RequestLog };

export function beginSession(options: SimulatorOptions, { counter, clock, log }: Lasting): Session {
  const seed = options.seed ?? DEFAULT_SEED;
  const ids = createIds(seed);
  const script = scriptedTurns();
  const faults = new Faults(seed);
  const catalogue = new Catalogue(options.models, options.windowTokens);
  const switches: Switches = { ...DEFAULT_SWITCHES, ...options.switches };
  const conversations = new Conversations({
    catalogue,
    clock,
    counter,
    ids,
    seed,
    switches,
    summarise: options.summarise ?? compactionSummary,
    behaviours: [
      script,
      ...(options.behaviours ?? [
        summaries(),
        noteTaker(),
        spanSummaries(),
        coder({ turns: CODER_TURNS, seed, ...options.coder }),
      ]),
    ],
  });
  const desk = new Desk({
    catalogue,
    clock,
    ids,
    faults,
    log,
    pace: paceOf(options.latency),
    headerOptions: {
      unknownBetas: switches.unknownBetas,
      ...(options.apiKeys === undefined ? {} : { apiKeys: options.apiKeys }),
    },
    onRequest: options.onRequest,
    converse: (request, entry, headers) => conversations.answer(request, entry, headers),
  });
  return { desk, script, faults };
}

function paceOf(latency: SimulatorOptions["latency"] = 0): Pace {
  const given = typeof latency === "number" ? { firstByteMs: latency } : latency;
  return { firstByteMs: 0, betweenEventsMs: 0, ...given };
}
