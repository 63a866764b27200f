import Anthropic from "@anthropic-ai/sdk";
import { anthropicModel } from "@longhaul/anthropic";
import type { Model } from "@longhaul/core";
import { MODELS } from "@longhaul/core/measure";
import type {
  Behavior,
  Fault,
  FaultCandidate,
  FaultConditions,
  LoggedRequest,
  ModelOptions,
  MovableClock,
} from "@longhaul/simulator";
import { asList } from "../../packages/core/src/messages/untrusted.ts";
import { Catalog } from "../../packages/simulator/src/anthropic/answer/catalog.ts";
import { buildPrompt } from "../../packages/simulator/src/anthropic/prompt/model-prompt.ts";
import { PrefixTree } from "../../packages/simulator/src/prompt/prefix-tree.ts";
import { createTokenCounter } from "../../packages/simulator/src/prompt/token-count.ts";
import { RequestLog } from "../../packages/simulator/src/server/request-log.ts";
import { beginSession, type Session } from "../../packages/simulator/src/simulator.ts";
import { statedTokens } from "./exam.ts";
import { inProcessFetch } from "./in-process-fetch.ts";

export interface ProviderOptions {
  readonly windowTokens: number;
  readonly seed: number;
  readonly clock: MovableClock;
  readonly countText: (text: string) => number;
  readonly behaviors: readonly Behavior[];
  readonly latency: { readonly firstByteMs: number; readonly betweenEventsMs: number };
}

/** Returns the tokens of a request before the provider applies context edits. */
type PromptTokens = (call: Pick<FaultCandidate, "body">) => number;

/** Sender name of the compactors' own requests: summaries, notes, spans, counts. */
export const ENGINE = "engine";
const TAG_HEADER = "x-soak-call";

/** The retired models of the table, which the simulator serves only on request. Hosts still resume their sessions. */
function retiredModels(windowTokens: number): readonly ModelOptions[] {
  const served = new Catalog(undefined, windowTokens);
  return Object.entries(MODELS)
    .filter(([id]) => id.startsWith("claude-") && served.find(id) === undefined)
    .map(([id, { maxOutputTokens }]) => ({ id, windowTokens, maxOutputTokens }));
}

/** The strict simulator in this process, without sockets. Each request carries the name of its sender. */
export class Provider {
  readonly #log = new RequestLog({
    keepBodies: Number.POSITIVE_INFINITY,
    keepRequests: Number.POSITIVE_INFINITY,
  });
  readonly #session: Session;
  readonly #senders: string[] = [];
  readonly #fetch: typeof fetch;
  readonly #promptTokens: PromptTokens;
  /** Called when a request is sent. */
  onRequest: (() => void) | undefined;

  private constructor(session: (log: RequestLog) => Session, promptTokens: PromptTokens) {
    this.#promptTokens = promptTokens;
    this.#session = session(this.#log);
    this.#fetch = inProcessFetch((request, response) => {
      this.#senders[this.#log.length] = String(request.headers[TAG_HEADER] ?? ENGINE);
      this.onRequest?.();
      return this.#session.router.serve(request, response);
    });
  }

  static async open(options: ProviderOptions): Promise<Provider> {
    const counter = await createTokenCounter(options.countText);
    const { clock } = options;
    const models = retiredModels(options.windowTokens);
    const catalog = new Catalog(models, options.windowTokens);
    const promptTokens: PromptTokens = ({ body }) => {
      const model = catalog.find(body?.model);
      if (body === undefined || model === undefined) return 0;
      const { tools, system } = body;
      const parts = { tools, system, messages: asList(body.messages), body };
      return buildPrompt(parts, model, { tree: new PrefixTree(), counter }).tokens;
    };
    return new Provider((log) => beginSession({ ...options, models }, { counter, clock, log }), promptTokens);
  }

  get requests(): readonly LoggedRequest[] {
    return this.#log.all;
  }

  senderOf({ index }: Pick<FaultCandidate, "index">): string {
    return this.#senders[index] ?? ENGINE;
  }

  /** Returns the requests of one sender, oldest first. */
  requestsOf(sender: string): readonly LoggedRequest[] {
    return this.#log.all.filter((request) => this.senderOf(request) === sender);
  }

  /**
   * Injects a fault. An injected overflow error does not apply to prompts that are larger than its stated
   * size. A real provider never states fewer tokens than a prompt has.
   */
  fail(fault: Fault, conditions: FaultConditions = {}): void {
    const stated = statedTokens({ fault });
    const { when = ({ endpoint }) => endpoint === "messages" } = conditions;
    this.#session.faults.arm(fault, {
      ...conditions,
      when: (call) => when(call) && (stated === 0 || this.#promptTokens(call) <= stated),
    });
  }

  stopFailing(): void {
    this.#session.faults.clear();
  }

  /** Creates a model of this provider whose requests carry this sender's name. */
  model(name: string, sender: string): Model {
    const client = new Anthropic({
      apiKey: "any",
      baseURL: "http://simulator.invalid",
      fetch: this.#fetch,
      logLevel: "off",
      maxRetries: 0,
      defaultHeaders: { [TAG_HEADER]: sender },
    });
    return anthropicModel({ model: name, client: client as never });
  }
}
