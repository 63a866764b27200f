import { type Entry, isEntry } from "../../messages/entry.ts";
import { LonghaulError } from "../../messages/errors.ts";
import {
  type ApiMessage,
  type ContentBlock,
  contentBlocks,
  isMedia,
  type MessageContent,
  mapChanged,
  rewriteNested,
} from "../../messages/message.ts";
import { contentWithoutThinking } from "../../messages/without-thinking.ts";
import { complete } from "../../models/complete.ts";
import { MODEL_TIME_LIMITS, withFirstByteLimit } from "../../models/model-time-limits.ts";
import {
  type OutputRoomOptions,
  outputTokensFor,
  withFittingOutput,
  withLessOutput,
} from "../../models/output-limit.ts";
import type { Model, ModelReply, ModelRequest, ModelUsage, ToolDefinition } from "../../models/port.ts";
import { withRetries } from "../../models/retry.ts";
import { checkRequest } from "../../request/check/check.ts";
import { mediaMarker } from "../../request/check/media-rules.ts";
import { flatten } from "../../request/flatten/flatten.ts";
import { formatSummary } from "../summary/format.ts";
import { presentSections } from "../summary/summary-message.ts";
import type { OnSummaryProgress } from "./attempts.ts";

/** Summary that a model wrote. */
export interface ModelSummary {
  /** Text for a summary message. */
  readonly text: string;
  readonly model: string;
  readonly usage: ModelUsage;
  /** True if the answer reached its limit, so that its last section may be incomplete. */
  readonly isTruncated: boolean;
  /** Number of rounds that the built-in summarizer condensed because they did not fit into the request. */
  readonly condensedRounds: number;
}

/** Reason why this step is not available. Nothing was sent. */
export interface Unavailable {
  readonly unavailable: string;
}

/** Number of retries after a temporary failure. After that, the next step of the summary chain is tried. */
const RETRIES = 2;

export interface AskOptions extends OutputRoomOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: OnSummaryProgress | undefined;
  /** Milliseconds that each attempt waits for the first event of the answer. */
  readonly firstByteMs?: number | undefined;
}

/**
 * Makes one call for a summary or notes. Retries if a retry can help. Only a whole reply counts. The output
 * limit is at most the window minus the prompt.
 */
export async function ask(model: Model, request: ModelRequest, options: AskOptions): Promise<ModelReply> {
  const fitting = withFittingOutput(model, request, options);
  try {
    return await send(model, fitting, options);
  } catch (error) {
    const shorter = withLessOutput(error, fitting);
    if (shorter === undefined) throw error;
    return await send(model, shorter, options);
  }
}

async function send(
  model: Model,
  request: ModelRequest,
  { signal, onProgress, firstByteMs = MODEL_TIME_LIMITS.firstByteMs }: AskOptions,
): Promise<ModelReply> {
  onProgress?.({ phase: "sent", messages: request.messages.length });
  const patient = withRetries(withFirstByteLimit(model, firstByteMs), {
    retries: RETRIES,
    restarts: true,
    onRetry: ({ attempt, delayMs, error }) =>
      onProgress?.({ phase: "retrying", attempt, delayMs, code: error.code }),
  });
  let characters = 0;
  return await complete(patient, request, { signal }, (event) => {
    if (event.type === "start") characters = 0;
    if (event.type === "thinking") onProgress?.({ phase: "thinking" });
    if (event.type !== "text") return;
    characters += event.text.length;
    onProgress?.({ phase: "writing", characters });
  });
}

/** Attachments that the agent adds again after a compaction. Summarizing them would only cost tokens. */
const ATTACHED_AGAIN: ReadonlySet<string> = new Set(["skill_listing", "skill_discovery", "invoked_skills"]);

/**
 * Builds the messages of a direct call. Short texts replace images and documents. Thinking is left out,
 * because the provider would refuse it after a changed history. The answers contain the results of the
 * thinking anyway.
 */
export function messagesToSummarize(
  entries: readonly Entry[],
  clearedToolUseIds: ReadonlySet<string> = new Set(),
): readonly ApiMessage[] {
  const told = entries.filter(
    (entry) => isEntry(entry) && !(entry.type === "attachment" && ATTACHED_AGAIN.has(entry.attachment?.type)),
  );
  return flatten(told, { clearedToolUseIds }).flatMap((message) => {
    const content =
      message.role === "user" ? withMediaMarked(message.content) : contentWithoutThinking(message.content);
    if (content === message.content) return [message];
    return content.length === 0 ? [] : [{ ...message, content }];
  });
}

const withMediaMarked = (content: MessageContent): MessageContent =>
  typeof content === "string" ? content : mapChanged(content, markMedia);

const markMedia = (block: ContentBlock): ContentBlock =>
  isMedia(block) ? mediaMarker(block) : rewriteNested(block, markMedia);

/** Returns definitions for the used tools. Some models refuse tool blocks in a request without tools. */
export function toolsUsedIn(messages: readonly ApiMessage[]): readonly ToolDefinition[] {
  const names = messages.flatMap(({ content }) =>
    contentBlocks(content).flatMap((block) => (block.type === "tool_use" ? [block.name] : [])),
  );
  return [...new Set(names)].sort().map((name) => ({ name, input_schema: { type: "object" } }));
}

/**
 * Builds a request that shares no cached prefix with the conversation. It asks for text alone, without
 * thinking and tools. If the model has a smaller output limit, the request uses that limit.
 */
export function ownRequest(
  model: Model,
  messages: readonly ApiMessage[],
  { system, maxOutputTokens }: { readonly system: string; readonly maxOutputTokens: number },
): ModelRequest {
  const tools = toolsUsedIn(messages);
  const { request } = checkRequest({
    messages,
    max_tokens: outputTokensFor(model, maxOutputTokens),
    system,
    thinking: { type: "disabled" },
  });
  return {
    ...(request as ModelRequest),
    ...(tools.length > 0 ? { tools, tool_choice: { type: "none" } } : {}),
  };
}

/**
 * If an answer without tags has at least this many sections, it counts as a summary. Any other answer may be
 * a remark, an excuse, an error or noise. Such an answer must not replace the whole conversation.
 */
const SECTIONS_THAT_REPLACE_TAGS = 3;

/** Error for an answer that cost tokens but contains no summary. */
export class NoSummaryError extends LonghaulError {
  readonly usage: ModelUsage;

  constructor(reply: ModelReply, why: string) {
    super("no-summary", `${reply.model} wrote no summary: ${why}.`, {
      remedy: "Nothing was changed. Try again, or use another model.",
      facts: { model: reply.model, stopReason: reply.stopReason },
    });
    this.usage = reply.usage;
  }
}

/** Returns the summary in a reply. Throws `no-summary` with the reason if there is none. */
export function summaryIn(reply: ModelReply): string {
  const raw = textIn(reply);
  const text = formatSummary(raw);
  if (text === undefined || !hasTheFormAskedFor(raw)) throw new NoSummaryError(reply, reasonOf(reply, raw));
  return text;
}

/**
 * Returns the summary in a reply of a fork. In a fork, the model can do everything that it can do in the
 * conversation, so a reply with a tool call is rejected. A reply that broke off is also rejected, because the
 * output limit is not meant for a summary.
 */
export function wholeSummaryIn(reply: ModelReply): string {
  if (callsTool(reply) || isTruncated(reply)) throw new NoSummaryError(reply, reasonOf(reply, textIn(reply)));
  return summaryIn(reply);
}

export const isTruncated = ({ stopReason }: ModelReply): boolean =>
  stopReason === "max_tokens" || stopReason === "model_context_window_exceeded";

/** Returns all text of a reply. */
export const textIn = ({ content }: ModelReply): string =>
  content.map((block) => (block.type === "text" ? block.text : "")).join("");

const callsTool = ({ content }: ModelReply): boolean => content.some((block) => block.type === "tool_use");

const hasTheFormAskedFor = (raw: string): boolean =>
  /<summary\s*>/i.test(raw) || presentSections(raw).length >= SECTIONS_THAT_REPLACE_TAGS;

function reasonOf(reply: ModelReply, raw: string): string {
  if (callsTool(reply)) return "it called a tool instead";
  if (isTruncated(reply)) return "it reached its output limit before the summary was complete";
  if (raw.trim() === "") return "its answer contains no text";
  if (/^\s*API error\b/i.test(raw)) return "its answer is the text of an API error";
  if (/<analysis\s*>/i.test(raw)) return "its answer contains only the analysis";
  return "its answer has neither the tags nor the sections that the prompt requires";
}
