import { LonghaulError } from "../messages/errors.ts";
import { isPromise, kindOf } from "../messages/given-messages.ts";
import { inputTokens } from "../messages/responses.ts";
import { field, isRecord, listField } from "../messages/untrusted.ts";
import type { KnownResponse, OwnUsage, ResponseFacts } from "./options.ts";
import type { Needs } from "./parts.ts";
import type { Reply, ReplyFacts } from "./plain-form.ts";

type Responded = Needs<
  "thread" | "gauge" | "turn" | "health" | "cache" | "modules" | "background" | "reporter"
>;

/**
 * What happens after a response: its usage is weighed, the cache is watched, the last compaction is judged, and in the
 * background the next summary may be written, and modules do their part.
 */
export function after(parts: Responded, given: ResponseFacts): void {
  const response = readResponse(given);
  const { turn, background, modules } = parts;
  const isAnswer = turn.isAnswerUnderWay;
  weigh(parts, response);
  if (!isAnswer) return;
  background.responded();
  if (turn.ownsSharedState) modules.responded(response, turn.reply?.facts.usage);
}

function weigh(parts: Responded, response: KnownResponse): void {
  const { gauge, turn, cache, health } = parts;
  cache.called();
  if (!turn.isAnswerUnderWay) {
    // An answer to a conversation that has been rewritten meanwhile says nothing about the new one.
    turn.answered(replyOf(parts, response, { usage: undefined, clearedTokens: 0 }));
    return;
  }
  health.accepted();
  const clearedTokens = noteClearing(parts, response);
  gauge.providerFreed(clearedTokens);
  const usage = gauge.isCredible(response.usage) ? (response.usage ?? undefined) : undefined;
  turn.answered(replyOf(parts, response, { usage, clearedTokens }));
  cache.answered();
  if (usage === undefined) return;
  const tokens = inputTokens(usage);
  if (clearedTokens === 0) gauge.learnOverhead(tokens);
  gauge.proveWindow(tokens);
  watchCache(parts, usage);
  judgeCompaction(parts, tokens);
}

/** Without facts that the response does not state: they become part of the message. */
function replyOf(
  { thread }: Needs<"thread">,
  { id, model }: KnownResponse,
  { usage, clearedTokens }: { readonly usage: OwnUsage | undefined; readonly clearedTokens: number },
): Reply {
  const facts: { -readonly [Fact in keyof ReplyFacts]: ReplyFacts[Fact] } = {};
  if (id !== undefined) facts.id = id;
  if (model !== undefined) facts.model = model;
  if (usage !== undefined) facts.usage = usage;
  return { facts, to: thread.prefix, clearedTokens };
}

/** The provider cleared by itself: the prefix is another now, and that is no broken cache. */
function noteClearing({ cache, gauge, reporter }: Responded, response: KnownResponse): number {
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

function watchCache({ modules, cache, reporter }: Responded, usage: OwnUsage): void {
  // Modules may expect the cache to shrink by their own doing.
  modules.usageReported(usage);
  const broken = cache.received(usage.cache_read_input_tokens);
  if (broken !== undefined) reporter.emit({ type: "cache-break", ...broken });
}

function judgeCompaction({ health, gauge, reporter }: Responded, reportedTokens: number): void {
  const judged = health.verdictOn(reportedTokens, gauge.thresholds);
  if (judged === undefined) return;
  reporter.emit({ type: "compaction-judged", reportedTokens, ...judged });
  reporter.emitAll(health.judged(judged.verdict));
}

/** The response of a provider, with its usage in our form. Throws `response-invalid` for anything else. */
export function readResponse(response: unknown): KnownResponse {
  if (!isRecord(response) || isPromise(response)) throw notAResponse(response);
  if (typeof response.json === "function" && typeof response.status === "number") {
    throw notAResponse(response, "an HTTP response", "Pass its body: after(await response.json()).");
  }
  if (isPromise(response.usage)) {
    throw notAResponse(
      response,
      "a response whose usage is a promise",
      "Await the usage first: after({ usage: await result.usage }).",
    );
  }
  const usage = ownUsage(response.usage);
  return usage === response.usage ? (response as KnownResponse) : ({ ...response, usage } as KnownResponse);
}

function notAResponse(response: unknown, given = kindOf(response), remedy?: string): LonghaulError {
  return new LonghaulError("response-invalid", `after() takes the response of the model, but got ${given}.`, {
    remedy:
      remedy ??
      (isPromise(response)
        ? "Await the call and pass its result."
        : "Pass the response of the provider, or at least { usage }. Do not call after() for a call that failed."),
    facts: { given },
  });
}

/** The same object where it is in our form already, or in one that nobody knows. */
function ownUsage(usage: unknown): unknown {
  if (!isRecord(usage)) return usage;
  if (usage.prompt_tokens !== undefined) {
    const cached = figure(field(usage.prompt_tokens_details, "cached_tokens"));
    return includingCache(usage.prompt_tokens, usage.completion_tokens, cached, 0);
  }
  if (isRecord(usage.input_tokens_details)) {
    const cached = figure(usage.input_tokens_details.cached_tokens);
    return includingCache(usage.input_tokens, usage.output_tokens, cached, 0);
  }
  if (usage.inputTokens === undefined && usage.outputTokens === undefined) return usage;
  const details = usage.inputTokenDetails;
  const read = figure(field(details, "cacheReadTokens") ?? usage.cachedInputTokens);
  return includingCache(
    usage.inputTokens,
    usage.outputTokens,
    read,
    figure(field(details, "cacheWriteTokens")),
  );
}

/**
 * Takes the cache out of an input figure that includes it. A cache that is larger than the input was never part of it.
 * A figure that is missing or no number stays so, and is distrusted like any other that cannot be true.
 */
function includingCache(input: unknown, output: unknown, read: number, written: number): OwnUsage {
  const whole = typeof input === "number" ? input : Number.NaN;
  return {
    input_tokens: read + written > whole ? whole : whole - read - written,
    output_tokens: typeof output === "number" ? output : Number.NaN,
    cache_read_input_tokens: read,
    cache_creation_input_tokens: written,
  };
}
