import { ESTIMATORS } from "../../measure/tokens/measure.ts";
import type { Entry } from "../../messages/entry.ts";
import { type ApiMessage, type ContentBlock, contentBlocks } from "../../messages/message.ts";
import { field } from "../../messages/untrusted.ts";
import { hasOutputRoom, type OutputRoomOptions, thinkingBudget } from "../../models/output-limit.ts";
import type { Model, ModelRequest } from "../../models/port.ts";
import { withReadMarkOnly } from "../../models/prompt-cache-marks.ts";
import { forgetsThinkingAtNextTurn } from "../../models/sent-thinking.ts";
import { checkRequest } from "../../request/check/check.ts";
import { type AskOptions, ask, type ModelSummary, type Unavailable, wholeSummaryIn } from "./ask-model.ts";

/** Everything of a request but its messages: system prompt, tools, thinking, limits. */
export type RequestFrame = Omit<ModelRequest, "messages">;

/** Source of a second call that shares the main conversation's cached prefix. */
export interface ForkSource {
  readonly model: Model;
  /** As the main conversation sends it: any other byte would miss the cache. */
  readonly frame: RequestFrame;
  /** The messages that the main conversation sends for these entries, byte for byte. */
  messagesFor(entries: readonly Entry[]): readonly ApiMessage[];
  /**
   * How many messages the last call sent: it wrote the cache at the end of them. 0 before the first call, and
   * when anything before that end has changed since: a mark there would write what nobody reads again.
   */
  readonly cachedMessages: number;
  /** Size of what the main conversation sends now, by the newest reported usage. */
  readonly contextTokens?: number | undefined;
}

/** With less output, scratchpad and summary would break off, and the call would be for nothing. */
const LEAST_OUTPUT_TOKENS = 4_000;

/**
 * Asks for a summary as if it were the next turn of the conversation itself. One turn: nobody goes on from here.
 *
 * A request that is too long fails: without its oldest rounds it would begin otherwise than the cached prefix,
 * so there would be nothing left to share. The direct call makes the cuts.
 */
export async function requestFork(
  fork: ForkSource,
  entries: readonly Entry[],
  prompt: string,
  options: AskOptions = {},
): Promise<ModelSummary | Unavailable> {
  const request = forkedRequest(fork, entries, prompt, {
    ...options,
    leastOutputTokens: LEAST_OUTPUT_TOKENS,
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
  /** A conversation whose own calls allow less would not get a whole answer. */
  readonly leastOutputTokens: number;
}

/**
 * The conversation as it is sent, with a request of ours at its end: the same frame and the same messages, byte
 * for byte, so that everything up to the end of the last call is read from the cache. Nothing is written to it.
 */
export function forkedRequest(
  fork: ForkSource,
  entries: readonly Entry[],
  prompt: string,
  options: ForkOptions,
): ModelRequest | Unavailable {
  // Such a sequence may be anywhere in an answer and would end it; the cache does not look at them.
  const { stop_sequences: _, ...frame } = fork.frame;
  const shared: ModelRequest = { ...frame, messages: fork.messagesFor(entries) };
  const obstacle = obstacleIn(shared, fork.model);
  if (obstacle !== undefined) return { unavailable: obstacle };
  const request = withPromptAndReadMark(shared, fork, prompt);
  const room = { ...options, promptTokens: promptTokens(fork, prompt, options) };
  if (!hasRoom(request, fork.model, room)) return { unavailable: "output-limit" };
  return isSound(request, fork.model) ? request : { unavailable: "invalid-request" };
}

/** Reason why no text could be the answer, or why the cached prefix is useless, that this call cannot change. */
function obstacleIn(shared: ModelRequest, { name }: Model): string | undefined {
  const { tool_choice, output_config } = shared;
  if (tool_choice?.type === "any" || tool_choice?.type === "tool") return "forced-tool-choice";
  if (field(output_config, "format") !== undefined) return "forced-output-format";
  return forgetsThinkingAtNextTurn(name, shared) ? "thinking-not-kept" : undefined;
}

/** Size of a forked request; undefined where the size of the conversation is not known. */
export function promptTokens(
  { contextTokens }: ForkSource,
  prompt: string,
  { countTokens = ESTIMATORS.o200k }: OutputRoomOptions,
): number | undefined {
  return contextTokens === undefined ? undefined : contextTokens + countTokens(prompt);
}

/** True if the request's own limit and the window leave enough for an answer beside the thinking before it. */
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

/** Two user messages in a row are one to the API, and some servers refuse them. */
function withPrompt(messages: readonly ApiMessage[], prompt: string): readonly ApiMessage[] {
  const block: ContentBlock = { type: "text", text: prompt };
  const last = messages.at(-1);
  if (last?.role !== "user") return [...messages, { role: "user", content: [block] }];
  return [...messages.slice(0, -1), { ...last, content: [...contentBlocks(last.content), block] }];
}

/** A request that needs repair would no longer match the last call. */
export function isSound(request: ModelRequest, model: Model): boolean {
  const named = { ...request, model: model.name };
  return checkRequest(named, { consecutiveRoles: "accepted" }).request === named;
}
