import type { MovableClock } from "../../clock.ts";
import { type CoderOptions, coder } from "../behaviours/coder.ts";
import { noteTaker } from "../behaviours/notes.ts";
import { type ScriptedBehaviour, scriptedTurns } from "../behaviours/scripted.ts";
import { spanSummaries } from "../behaviours/spans.ts";
import { compactionSummary, summaries } from "../behaviours/summaries.ts";
import type { Summarise } from "../context/compaction.ts";
import type { Behaviour, Switches } from "../exchange.ts";
import type { CountText, TokenCounter } from "../prompt/token-count.ts";
import { Catalogue, type ModelOptions } from "./catalogue.ts";
import { Conversations } from "./conversations.ts";
import type { Pace } from "./delivery.ts";
import { Desk } from "./desk.ts";
import { Faults } from "./faults.ts";
import { createIds } from "./ids.ts";
import type { LoggedRequest, RequestLog } from "./request-log.ts";

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

const DEFAULT_SEED = 1;
/** Turns of work after each human message, when nobody scripted anything. */
export const CODER_TURNS = 12;

/** Everything that a reset begins anew. */
export interface Session {
  readonly desk: Desk;
  readonly script: ScriptedBehaviour;
  readonly faults: Faults;
}

export interface Lasting {
  readonly counter: TokenCounter;
  readonly clock: MovableClock;
  readonly log: RequestLog;
}

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
