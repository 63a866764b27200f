import { estimateO200k } from "../../measure/tokens/estimate/o200k.ts";
import type { Entry } from "../../messages/entry.ts";
import { type ApiMessage, type ContentBlock, contentBlocks } from "../../messages/message.ts";
import { field } from "../../messages/untrusted.ts";
import { hasOutputRoom, type OutputRoomOptions, thinkingBudget } from "../../models/output-limit.ts";
import type { Model, ModelRequest } from "../../models/port.ts";
import { withReadMarkOnly } from "../../models/prompt-cache-marks.ts";
import { forgetsThinkingAtNextTurn } from "../../models/sent-thinking.ts";
import { checkRequest } from "../../request/check/check.ts";
import { type AskOptions, ask, type ModelSummary, type Unavailable, wholeSummaryIn } from "./ask-model.ts";

/** Everything in a request except its messages: system prompt, tools, thinking, limits. */
export type RequestFrame = Omit<ModelRequest, "messages">;

/** Source of a second call that shares the main conversation's cached prefix. */
export interface ForkSource {
  readonly model: Model;
  /** Frame that the main conversation sends. A frame that differs by one byte would miss the cache. */
  readonly frame: RequestFrame;
  /** Returns the messages that the main conversation sends for these entries, byte for byte. */
  messagesFor(entries: readonly Entry[]): readonly ApiMessage[];
  /**
   * Number of messages in the last call. That call wrote the cache at the end of these messages. The number
   * is 0 before the first call. It is also 0 if anything before that end has changed since, because a cache
   * mark there would write a cache that nobody reads.
   */
  readonly cachedMessages: number;
  /** Size of the main conversation's current request, by the newest reported usage. */
  readonly contextTokens?: number | undefined;
}

/** Minimum output. With less, scratchpad and summary would break off, and the call would be wasted. */
const MIN_OUTPUT_TOKENS = 4_000;

/**
 * Asks for a summary as if it were the next turn of the conversation. The fork has only this turn.
 *
 * A request that is too long fails. It is not cut here, because a request without its oldest rounds does not
 * start with the cached prefix. The direct call cuts the request instead.
 */
export async function requestFork(
  fork: ForkSource,
  entries: readonly Entry[],
  prompt: string,
  options: AskOptions = {},
): Promise<ModelSummary | Unavailable> {
  const request = forkedRequest(fork, entries, prompt, {
    ...options,
    leastOutputTokens: MIN_OUTPUT_TOKENS,
  });
  if ("unavailable" in request) return request;
  const reply = await ask(fork.model, request, {
    ...options,
    promptTokens: promptTokens(fork, prompt, options),
  });
  return {
    text: wholeSummaryIn(reply),
    model: reply.model,
    usage: reply.usage,
    isTruncated: false,
    condensedRounds: 0,
  };
}

interface ForkOptions extends OutputRoomOptions {
  /** Minimum output. A conversation with a smaller limit would not get a whole answer. */
  readonly leastOutputTokens: number;
}

/**
 * Builds the conversation's request with our prompt at its end. The frame and the messages equal those of the
 * conversation, byte for byte. So everything up to the end of the last call is read from the cache. Nothing
 * is written to the cache.
 */
export function forkedRequest(
  fork: ForkSource,
  entries: readonly Entry[],
  prompt: string,
  options: ForkOptions,
): ModelRequest | Unavailable {
  // A stop sequence could occur in the answer and end it too early. Removing the stop sequences does not
  // change the cached prefix.
  const { stop_sequences: _, ...frame } = fork.frame;
  const shared: ModelRequest = { ...frame, messages: fork.messagesFor(entries) };
  const obstacle = obstacleIn(shared, fork.model);
  if (obstacle !== undefined) return { unavailable: obstacle };
  const request = withPromptAndReadMark(shared, fork, prompt);
  const room = { ...options, promptTokens: promptTokens(fork, prompt, options) };
  if (!hasRoom(request, fork.model, room)) return { unavailable: "output-limit" };
  return isSound(request, fork.model) ? request : { unavailable: "invalid-request" };
}

/**
 * Returns the reason why a fork is not possible. Either the answer could not be text, or the cached prefix is
 * useless. Both depend on the model and on settings that a fork must not change.
 */
function obstacleIn(shared: ModelRequest, { name }: Model): string | undefined {
  const { tool_choice, output_config } = shared;
  if (tool_choice?.type === "any" || tool_choice?.type === "tool") return "forced-tool-choice";
  if (field(output_config, "format") !== undefined) return "forced-output-format";
  return forgetsThinkingAtNextTurn(name, shared) ? "thinking-not-kept" : undefined;
}

/** Returns the size of a forked request, or undefined if the size of the conversation is unknown. */
export function promptTokens(
  { contextTokens }: ForkSource,
  prompt: string,
  { countTokens = estimateO200k }: OutputRoomOptions,
): number | undefined {
  return contextTokens === undefined ? undefined : contextTokens + countTokens(prompt);
}

/**
 * Returns true if enough tokens remain for an answer in addition to its thinking. Both the request's limit
 * and the window must allow them.
 */
function hasRoom(
  request: ModelRequest,
  model: Model,
  { leastOutputTokens, ...options }: ForkOptions,
): boolean {
  const own = (request.max_tokens ?? Infinity) - thinkingBudget(request);
  return own >= leastOutputTokens && hasOutputRoom(model, request, options);
}

function withPromptAndReadMark(shared: ModelRequest, fork: ForkSource, prompt: string): ModelRequest {
  const marked = withReadMarkOnly(shared, fork.model.capabilities.promptCache ? fork.cachedMessages : 0);
  return { ...marked, messages: withPrompt(marked.messages, prompt) };
}

/**
 * Adds the prompt to the messages. If the last message is a user message, the prompt becomes another block of
 * it, because some servers refuse two user messages in a row.
 */
function withPrompt(messages: readonly ApiMessage[], prompt: string): readonly ApiMessage[] {
  const block: ContentBlock = { type: "text", text: prompt };
  const last = messages.at(-1);
  if (last?.role !== "user") return [...messages, { role: "user", content: [block] }];
  return [...messages.slice(0, -1), { ...last, content: [...contentBlocks(last.content), block] }];
}

/** Returns true if a request needs no repair. A repaired request would no longer match the last call. */
export function isSound(request: ModelRequest, model: Model): boolean {
  const named = { ...request, model: model.name };
  return checkRequest(named, { consecutiveRoles: "accepted" }).request === named;
}
