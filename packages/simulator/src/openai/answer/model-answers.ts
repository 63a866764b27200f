import { summaryRequestIn } from "@longhaul/core/internal/summary";
import { costOf } from "@longhaul/core/measure";
import type { MovableClock } from "../../clock.ts";
import type { Behavior, CallPurpose, SeenRequest } from "../../exchange.ts";
import { PrefixTree } from "../../prompt/prefix-tree.ts";
import type { TokenCounter } from "../../prompt/token-count.ts";
import { play } from "../../reply/play.ts";
import type { Ids } from "../../server/ids.ts";
import { type CacheLookup, PrefixCache } from "../prompt/prefix-cache.ts";
import { buildPrompt, type OpenAiPrompt, type PromptPart } from "../prompt/prompt-parts.ts";
import { COMPACT_SUBAGENT, type OpenAiCall } from "./call.ts";
import type { CatalogModel } from "./catalog.ts";
import { type ComposedTurn, composeTurn, type TurnLimits } from "./compose-turn.ts";

export interface AnswerParts {
  readonly clock: MovableClock;
  readonly counter: TokenCounter;
  readonly ids: Ids;
  readonly behaviors: readonly Behavior[];
}

/** Conversation of a call in the form that behaviors see. */
export type SeenConversation = Pick<SeenRequest, "messages" | "system" | "tools">;

/** One question to the model. The endpoint has checked and translated the request. */
export interface Question {
  readonly call: OpenAiCall;
  readonly conversation: SeenConversation;
  readonly prompt: OpenAiPrompt;
  readonly limits: TurnLimits;
}

/** Token figures of an answer in neutral form. */
export interface TokenFigures {
  /** All tokens of the prompt, including cached ones. */
  readonly inputTokens: number;
  readonly cachedTokens: number;
  /** Undefined for models that do not report them. */
  readonly writtenTokens: number | undefined;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
}

export interface ModelAnswer {
  readonly turn: ComposedTurn;
  readonly figures: TokenFigures;
  readonly costDollars: number | undefined;
  /** Call this when the answer starts. It makes the prompt readable from the cache. */
  commit(): void;
}

/**
 * The model behind both APIs of OpenAI: counts prompts, keeps the prompt cache, and asks the behaviors. One
 * simulator has one instance, so that both APIs share the cache and the numbering of calls.
 */
export class ModelAnswers {
  readonly #parts: AnswerParts;
  readonly #tree: PrefixTree;
  readonly #cache: PrefixCache;
  #calls = 0;

  constructor(parts: AnswerParts) {
    this.#parts = parts;
    const cache = new PrefixCache(parts.clock);
    this.#cache = cache;
    this.#tree = new PrefixTree({ release: () => cache.dropOlderHalf() });
  }

  get ids(): Ids {
    return this.#parts.ids;
  }

  /** Time of the simulator's clock in seconds, as answers report it. */
  get createdAt(): number {
    return Math.floor(this.#parts.clock.now() / 1_000);
  }

  count(parts: readonly PromptPart[]): OpenAiPrompt {
    return buildPrompt(parts, { tree: this.#tree, counter: this.#parts.counter });
  }

  /** Asks the behaviors, and cuts their turn to the limits. Updates the log entry of the call. */
  ask({ call, conversation, prompt, limits }: Question): ModelAnswer {
    const { request, model, entry } = call;
    const { body, workspace, startedAt } = request;
    entry.purpose = purposeOf(conversation, call.subagent);
    const lookup = this.#cache.lookup(prompt, { workspace, model, body, startedAt });
    const turn = play(this.#parts.behaviors, {
      ...conversation,
      model: model.id,
      maxTokens: limits.maxTokens,
      purpose: entry.purpose,
      body,
      provider: "openai",
      index: this.#calls++,
    });
    const composed = composeTurn(turn, limits, this.#parts.counter.text);
    const figures = figuresOf(prompt, lookup, composed);
    entry.inputTokens = figures.inputTokens;
    const costDollars = costOfCall(figures, model);
    entry.costDollars = costDollars;
    return { turn: composed, figures, costDollars, commit: () => lookup.commit() };
  }
}

/** A turn can report its own figures. Missing input figures count as 0, as for the other provider. */
function figuresOf(
  prompt: OpenAiPrompt,
  { cachedTokens, writtenTokens }: CacheLookup,
  { reportedUsage: reported, outputTokens, reasoningTokens }: ComposedTurn,
): TokenFigures {
  if (reported === undefined)
    return { inputTokens: prompt.tokens, cachedTokens, writtenTokens, outputTokens, reasoningTokens };
  const cached = reported.cache_read_input_tokens ?? 0;
  const written = reported.cache_creation_input_tokens ?? 0;
  return {
    inputTokens: (reported.input_tokens ?? 0) + cached + written,
    cachedTokens: cached,
    writtenTokens: writtenTokens === undefined ? undefined : written,
    outputTokens: reported.output_tokens ?? outputTokens,
    reasoningTokens: Math.min(reasoningTokens, reported.output_tokens ?? outputTokens),
  };
}

const PLAIN_PRICES = { inputFactor: 1, outputFactor: 1 } as const;

/** Returns the cost of a call at the published prices of the default service tier. */
function costOfCall(figures: TokenFigures, model: CatalogModel): number | undefined {
  const { id, prices, longPrompts } = model;
  if (prices === undefined) return undefined;
  const { inputTokens, cachedTokens, writtenTokens = 0, outputTokens } = figures;
  const isLong = longPrompts !== undefined && inputTokens > longPrompts.aboveTokens;
  const { inputFactor, outputFactor } = isLong ? longPrompts : PLAIN_PRICES;
  const { input, cached, output, written = input } = prices;
  const usage = {
    input_tokens: inputTokens - cachedTokens - writtenTokens,
    cache_read_input_tokens: cachedTokens,
    cache_creation_input_tokens: writtenTokens,
    output_tokens: outputTokens,
  };
  const own = {
    input: input * inputFactor,
    output: output * outputFactor,
    cacheRead: cached * inputFactor,
    cacheWrite5m: written * inputFactor,
    cacheWrite1h: written * inputFactor,
  };
  return costOf(usage, id, { [id]: own });
}

function purposeOf({ messages }: SeenConversation, subagent: string | undefined): CallPurpose {
  if (summaryRequestIn(messages) !== undefined || subagent === COMPACT_SUBAGENT) return "summary";
  return subagent === undefined ? "conversation" : "subagent";
}
