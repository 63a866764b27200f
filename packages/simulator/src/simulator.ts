import { type OptionNames, requireOptionNames } from "@longhaul/core/internal/options";
import { Catalog } from "./anthropic/answer/catalog.ts";
import { Conversations } from "./anthropic/answer/conversations.ts";
import type { Summarize } from "./anthropic/context/compaction.ts";
import { MessagesApi } from "./anthropic/messages-api.ts";
import type { Switches } from "./anthropic/request.ts";
import { type CoderOptions, coder } from "./behaviors/coder.ts";
import { noteTaker } from "./behaviors/notes.ts";
import { type ScriptedBehavior, type ScriptedTurn, scriptedTurns } from "./behaviors/scripted.ts";
import { spanSummaries } from "./behaviors/spans.ts";
import { compactionSummary, summaries } from "./behaviors/summaries.ts";
import { createFixedClock, type MovableClock } from "./clock.ts";
import type { Behavior } from "./exchange.ts";
import { type Controls, isForJournal, serveJournal } from "./journal/journal.ts";
import type { ModelOptions } from "./model-options.ts";
import { OpenAiCatalog } from "./openai/answer/catalog.ts";
import { ModelAnswers } from "./openai/answer/model-answers.ts";
import { ChatAnswers } from "./openai/chat/chat-answers.ts";
import { OpenAiApi } from "./openai/openai-api.ts";
import type { OpenAiSwitches } from "./openai/request.ts";
import { Responses, type ResponsesSwitches } from "./openai/responses/responses.ts";
import { type CountText, createTokenCounter, type TokenCounter } from "./prompt/token-count.ts";
import type { Pace } from "./server/delivery.ts";
import { requireFault } from "./server/fault-file.ts";
import { type Fault, type FaultConditions, Faults } from "./server/faults.ts";
import { createIds } from "./server/ids.ts";
import { type LocalServer, listen } from "./server/listen.ts";
import { type LoggedRequest, RequestLog } from "./server/request-log.ts";
import { RequestRouter } from "./server/request-router.ts";

/** Switches of both providers. Each switch belongs to one of them. */
export type SimulatorSwitches = Switches & OpenAiSwitches & ResponsesSwitches;

export interface SimulatorOptions {
  /** Port of the server. Default: any free port. */
  readonly port?: number;
  /** Additional models. A model with the name of a known model replaces that model. */
  readonly models?: readonly ModelOptions[];
  /** Context window of every model that is not in `models`, of both providers. */
  readonly windowTokens?: number;
  /**
   * Behaviors that play the model after the turns of `reply` are used up. The first behavior that returns an
   * answer is used. By default, the model writes good summaries, notes and span summaries on request. The
   * coder answers all other calls.
   */
  readonly behaviors?: readonly Behavior[];
  /** Options of the default coder. They apply only if `behaviors` is not set. */
  readonly coder?: Partial<CoderOptions>;
  /** Writes the summaries of the provider's own compactions. Default: the built-in summarizer. */
  readonly summarize?: Summarize;
  /** Switches for rules of the real API that sources describe in conflicting ways. */
  readonly switches?: Partial<SimulatorSwitches>;
  /** Accepted API keys. Default: any key. */
  readonly apiKeys?: readonly string[];
  /** Clock for all lifetimes. Default: a clock that moves only when you move it. */
  readonly clock?: MovableClock;
  /**
   * Token counter. The default is gpt-tokenizer, which approximates the model's own tokenizer. `estimate`
   * selects the built-in estimator even if gpt-tokenizer is installed.
   */
  readonly countText?: CountText | "estimate";
  /** Milliseconds before the first byte. An object can also set the pause between stream events. */
  readonly latency?: number | Partial<Pace>;
  /** Seed for ids, signatures and random faults. Equal seeds repeat the same run. */
  readonly seed?: number;
  /**
   * Number of newest requests whose bodies the log keeps. For older requests, the log keeps only the figures.
   */
  readonly keepBodies?: number;
  /** Number of newest requests that the log keeps. The totals of the log include all requests. */
  readonly keepRequests?: number;
  /** Called when a request has ended, even if it ended with an error or a disconnect. */
  readonly onRequest?: (request: LoggedRequest) => void;
}

/** Default switches. They follow the current API reference and the newest accounts. */
export const DEFAULT_SWITCHES: SimulatorSwitches = Object.freeze({
  consecutiveRoles: "merged",
  requireTools: false,
  enforceBinding: true,
  foreignSignatures: "refused",
  cacheEdits: false,
  threads: "accepted",
  unknownBetas: "accepted",
  foreignReasoning: "refused",
  streamedOverflow: "event",
  unknownFields: "refused",
});

/**
 * Default number of bodies in the log. It is limited, because the bodies of a long run would fill the memory.
 */
const DEFAULT_KEPT_BODIES = 100;
/**
 * Default number of requests in the log. Each request takes one to two kilobytes without its body, so they
 * take at most 20 megabytes. Tests rarely make so many requests.
 */
const DEFAULT_KEPT_REQUESTS = 10_000;

/** A local server for the APIs of Anthropic and OpenAI, as strict as the real ones. */
export interface Simulator extends LocalServer {
  readonly requests: RequestLog;
  readonly clock: MovableClock;
  /** Counts tokens. `source` names the method. */
  readonly counter: TokenCounter;
  /** Answers the next calls with these turns, in order. */
  reply(...turns: readonly ScriptedTurn[]): void;
  /**
   * Sets a fault. By default, it affects the next request that asks the model for an answer. `conditions` can
   * select other requests.
   */
  fail(fault: Fault | number, conditions?: FaultConditions): void;
  /** Resets the simulator to its state after the start. Keeps the address and the clock. */
  reset(): void;
}

export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  requireOptionNames(options, OPTION_NAMES, "startSimulator");
  const counter = await createTokenCounter(options.countText);
  const clock = options.clock ?? createFixedClock();
  const requests = new RequestLog({
    keepBodies: options.keepBodies ?? DEFAULT_KEPT_BODIES,
    keepRequests: options.keepRequests ?? DEFAULT_KEPT_REQUESTS,
  });
  const begin = (): Session => beginSession(options, { counter, clock, log: requests });
  let session = begin();
  const controls: Controls = {
    requests,
    reply: (...turns) => session.script.add(...turns),
    turnsLeft: () => session.script.remaining(),
    fail: (fault, conditions = {}) => {
      requireFault(fault, conditions);
      session.faults.arm(fault, conditions);
    },
    clearFaults: () => session.faults.clear(),
    reset: () => {
      requests.clear();
      session = begin();
    },
  };
  const listening = await listen(options.port ?? 0, (request, response) =>
    isForJournal(request)
      ? serveJournal(request, response, controls)
      : session.router.serve(request, response),
  );
  return {
    ...listening,
    requests,
    clock,
    counter,
    reply: controls.reply,
    fail: controls.fail,
    reset: controls.reset,
  };
}

/** All options. The types make the compiler reject a table that lacks one. */
const SWITCH_NAMES: OptionNames<SimulatorSwitches> = DEFAULT_SWITCHES;
const OPTION_NAMES: OptionNames<SimulatorOptions> = {
  port: true,
  models: true,
  windowTokens: true,
  behaviors: true,
  coder: true,
  summarize: true,
  switches: SWITCH_NAMES,
  apiKeys: true,
  clock: true,
  countText: true,
  latency: true,
  seed: true,
  keepBodies: true,
  keepRequests: true,
  onRequest: true,
};

// Parts that a reset recreates

const DEFAULT_SEED = 1;
/** Default number of working turns after each human message. */
export const CODER_TURNS = 12;

/** All parts that a reset recreates. */
export interface Session {
  readonly router: RequestRouter;
  readonly script: ScriptedBehavior;
  readonly faults: Faults;
}

/** The parts that survive a reset. */
type Lasting = Pick<Simulator, "counter" | "clock"> & { readonly log: RequestLog };

export function beginSession(options: SimulatorOptions, { counter, clock, log }: Lasting): Session {
  const seed = options.seed ?? DEFAULT_SEED;
  const ids = createIds(seed);
  const script = scriptedTurns();
  const faults = new Faults(seed);
  const catalog = new Catalog(options.models, options.windowTokens);
  const switches: SimulatorSwitches = { ...DEFAULT_SWITCHES, ...options.switches };
  const behaviors: readonly Behavior[] = [
    script,
    ...(options.behaviors ?? [
      summaries(),
      noteTaker(),
      spanSummaries(),
      coder({ turns: CODER_TURNS, seed, ...options.coder }),
    ]),
  ];
  const conversations = new Conversations({
    catalog,
    clock,
    counter,
    ids,
    seed,
    switches,
    summarize: options.summarize ?? compactionSummary,
    behaviors,
  });
  const messages = new MessagesApi({
    catalog,
    clock,
    ids,
    conversations,
    switches,
    headerOptions: {
      unknownBetas: switches.unknownBetas,
      ...(options.apiKeys === undefined ? {} : { apiKeys: options.apiKeys }),
    },
  });
  const openAiCatalog = new OpenAiCatalog(options.models, options.windowTokens);
  const model = new ModelAnswers({ clock, counter, ids, behaviors });
  const openAi = new OpenAiApi({
    catalog: openAiCatalog,
    clock,
    ids,
    switches,
    apiKeys: options.apiKeys,
    chat: new ChatAnswers(model),
    responses: new Responses({
      model,
      seed,
      countText: counter.text,
      summarize: options.summarize ?? compactionSummary,
      streamedOverflow: switches.streamedOverflow,
    }),
  });
  const router = new RequestRouter({
    apis: [messages, openAi],
    clock,
    ids,
    faults,
    log,
    pace: paceOf(options.latency),
    onRequest: options.onRequest,
  });
  return { router, script, faults };
}

function paceOf(latency: SimulatorOptions["latency"] = 0): Pace {
  const given = typeof latency === "number" ? { firstByteMs: latency } : latency;
  return { firstByteMs: 0, betweenEventsMs: 0, ...given };
}
