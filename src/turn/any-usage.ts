import type { Usage } from "../conversation/entry.ts";
import { isPromise, kindOf } from "../conversation/given-messages.ts";
import type { ContentBlock } from "../conversation/message.ts";
import { field, isRecord } from "../conversation/untrusted.ts";
import { LonghaulError } from "../errors.ts";

/** Usage of OpenAI's Chat Completions. `prompt_tokens` includes what was read from the cache. */
export interface OpenAiChatUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly prompt_tokens_details?: { readonly cached_tokens?: number | null } | null;
}

/** Usage of OpenAI's Responses. `input_tokens` includes what was read from the cache. */
export interface OpenAiResponsesUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly input_tokens_details: { readonly cached_tokens?: number | null };
}

/** Usage of the AI SDK, version 5 and later. `inputTokens` includes what was read from and written to the cache. */
export interface AiSdkUsage {
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  readonly cachedInputTokens?: number | undefined;
  readonly inputTokenDetails?:
    | {
        readonly cacheReadTokens?: number | undefined;
        readonly cacheWriteTokens?: number | undefined;
      }
    | undefined;
}

/** Usage as the Messages API reports it. `input_tokens` excludes what the cache holds. */
export type OwnUsage = Usage & { readonly cache_deleted_input_tokens?: number };

export type AnyUsage = OwnUsage | OpenAiChatUsage | OpenAiResponsesUsage | AiSdkUsage;

/** A response as far as the provider gave it: a `ModelReply`, or the response of the Messages API, OpenAI or the AI SDK. */
export interface ResponseFacts {
  readonly id?: string;
  readonly model?: string;
  readonly usage?: AnyUsage | null;
  readonly content?: readonly ContentBlock[] | string;
}

/** A response with usage in our form. */
export type KnownResponse = Omit<ResponseFacts, "usage"> & { readonly usage?: OwnUsage | null };

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

const figure = (value: unknown): number =>
  typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
