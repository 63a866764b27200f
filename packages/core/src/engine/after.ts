import { costOf } from "../measure/window/prices.ts";
import { LonghaulError } from "../messages/errors.ts";
import { describeType, isPromise } from "../messages/require-messages.ts";
import { inputTokens } from "../messages/responses.ts";
import { field, isRecord, listField } from "../messages/untrusted.ts";
import type { KnownResponse, OwnUsage, ResponseFacts } from "./options.ts";
import type { Needs } from "./parts.ts";
import type { Reply, ReplyFacts } from "./plain-messages.ts";

type ResponseParts = Needs<
  | "thread"
  | "gauge"
  | "turn"
  | "health"
  | "cache"
  | "modules"
  | "background"
  | "reporter"
  | "options"
  | "pace"
>;

/**
 * Handles a response: checks its usage, watches the prompt cache, judges the last compaction, starts a
 * background summary if one is due, and notifies the modules.
 */
export function after(parts: ResponseParts, given: ResponseFacts): void {
  const response = readResponse(given);
  const { turn, background, modules } = parts;
  const isAnswer = turn.isCallPending;
  recordUsage(parts, response);
  if (!isAnswer) return;
  background.onResponse();
  if (turn.ownsSharedState) modules.onResponse(response, turn.reply?.facts.usage);
}

function recordUsage(parts: ResponseParts, response: KnownResponse): void {
  const { gauge, turn, cache, health } = parts;
  cache.recordCallTime();
  if (!turn.isCallPending) {
    // The conversation was rewritten after the request, so the usage of this response does not apply to the
    // new conversation.
    turn.recordReply(replyOf(parts, response, { usage: undefined, clearedTokens: 0 }));
    return;
  }
  health.recordAccepted();
  const clearedTokens = recordProviderClearing(parts, response);
  gauge.setProviderClearedTokens(clearedTokens);
  const usage = gauge.isCredible(response.usage) ? (response.usage ?? undefined) : undefined;
  turn.recordReply(replyOf(parts, response, { usage, clearedTokens }));
  cache.recordAnswer();
  if (usage === undefined) return;
  const { options, pace } = parts;
  pace.recordCost(costOf(usage, options.modelName ?? "", options.prices) ?? 0);
  const tokens = inputTokens(usage);
  if (clearedTokens === 0) gauge.learnOverhead(tokens);
  gauge.proveWindow(tokens);
  watchCache(parts, usage);
  judgeCompaction(parts, tokens);
}

/** Returns the facts of a response for its message. Missing facts are omitted, not set to undefined. */
function replyOf(
  { thread }: Needs<"thread">,
  { id, model }: KnownResponse,
  { usage, clearedTokens }: { readonly usage: OwnUsage | undefined; readonly clearedTokens: number },
): Reply {
  const facts: { -readonly [Fact in keyof ReplyFacts]: ReplyFacts[Fact] } = {};
  if (id !== undefined) facts.id = id;
  if (model !== undefined) facts.model = model;
  if (usage !== undefined) facts.usage = usage;
  return { facts, prefix: thread.prefix, clearedTokens };
}

/**
 * Records tokens that the provider itself cleared. The cached prefix changes, but this does not count as a
 * cache break.
 */
function recordProviderClearing({ cache, gauge, reporter }: ResponseParts, response: KnownResponse): number {
  const edits = listField(response, "appliedEdits").filter(isRecord);
  const cleared = edits.reduce((sum, edit) => sum + figure(edit.cleared_tool_uses), 0);
  const freed = edits.reduce((sum, edit) => sum + figure(edit.cleared_input_tokens), 0);
  if (freed === 0) return 0;
  cache.dropBaseline();
  const reported = response.usage ? inputTokens(response.usage) : Number.NaN;
  const tokensAfter = Number.isFinite(reported) ? reported : Math.max(0, gauge.size().tokens - freed);
  reporter.emit({
    type: "results-cleared",
    form: "api",
    results: cleared,
    tools: [],
    tokensBefore: tokensAfter + freed,
    tokensAfter,
    netSaving: undefined,
  });
  return freed;
}

const figure = (value: unknown): number =>
  typeof value === "number" && Number.isFinite(value) ? Math.max(0, value) : 0;

function watchCache({ modules, cache, reporter }: ResponseParts, usage: OwnUsage): void {
  // Notify the modules first, because they may expect a smaller cache after their own edits.
  modules.onUsage(usage);
  const broken = cache.recordCacheRead(usage.cache_read_input_tokens);
  if (broken !== undefined) reporter.emit({ type: "cache-break", ...broken });
}

function judgeCompaction({ health, gauge, reporter }: ResponseParts, reportedTokens: number): void {
  const judged = health.judge(reportedTokens, gauge.thresholds);
  if (judged === undefined) return;
  reporter.emit({ type: "compaction-judged", reportedTokens, ...judged });
  reporter.emitAll(health.recordVerdict(judged.verdict));
}

/**
 * Reads a provider's response and converts its usage to our form. Throws `response-invalid` for anything
 * else.
 */
export function readResponse(response: unknown): KnownResponse {
  if (!isRecord(response) || isPromise(response)) throw invalidResponse(response);
  if (typeof response.json === "function" && typeof response.status === "number") {
    throw invalidResponse(response, "an HTTP response", "Pass the body: after(await response.json()).");
  }
  if (isPromise(response.usage)) {
    throw invalidResponse(
      response,
      "a response whose usage is a promise",
      "Await the usage first: after({ usage: await result.usage }).",
    );
  }
  const usage = toOwnUsage(response.usage);
  return usage === response.usage ? (response as KnownResponse) : ({ ...response, usage } as KnownResponse);
}

function invalidResponse(response: unknown, given = describeType(response), remedy?: string): LonghaulError {
  return new LonghaulError("response-invalid", `after() expects the model's response, but got ${given}.`, {
    remedy:
      remedy ??
      (isPromise(response)
        ? "Await the call and pass its result."
        : "Pass the response of the provider, or at least { usage }. Do not call after() for a failed call."),
    facts: { given },
  });
}

/**
 * Converts a usage report to our form. If the report already has our form, or an unknown form, returns the
 * same object.
 */
function toOwnUsage(usage: unknown): unknown {
  if (!isRecord(usage)) return usage;
  if (usage.prompt_tokens !== undefined) {
    const cached = figure(field(usage.prompt_tokens_details, "cached_tokens"));
    return withoutCachedInput(usage.prompt_tokens, usage.completion_tokens, cached, 0);
  }
  if (isRecord(usage.input_tokens_details)) {
    const cached = figure(usage.input_tokens_details.cached_tokens);
    return withoutCachedInput(usage.input_tokens, usage.output_tokens, cached, 0);
  }
  if (usage.inputTokens === undefined && usage.outputTokens === undefined) return usage;
  const details = usage.inputTokenDetails;
  const read = figure(field(details, "cacheReadTokens") ?? usage.cachedInputTokens);
  return withoutCachedInput(
    usage.inputTokens,
    usage.outputTokens,
    read,
    figure(field(details, "cacheWriteTokens")),
  );
}

/**
 * Subtracts cached tokens from an input figure that includes them. If there are more cached than input
 * tokens, the input did not include them. The usage check rejects a missing or invalid figure later.
 */
function withoutCachedInput(input: unknown, output: unknown, read: number, written: number): OwnUsage {
  const whole = typeof input === "number" ? input : Number.NaN;
  return {
    input_tokens: read + written > whole ? whole : whole - read - written,
    output_tokens: typeof output === "number" ? output : Number.NaN,
    cache_read_input_tokens: read,
    cache_creation_input_tokens: written,
  };
}
