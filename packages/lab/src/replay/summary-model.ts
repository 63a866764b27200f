import { anthropicCapabilities } from "@longhaul/anthropic/internal";
import { throwIfAborted } from "@longhaul/core/internal/models";
import type { Usage } from "@longhaul/core/messages";
import type { CallOptions, Model, ModelEvent, ModelRequest } from "@longhaul/core/models";
import { complete, ModelError, untilAborted } from "@longhaul/core/models";
import { builtInModel } from "@longhaul/core/summary";
import { usageOf } from "./prefix-cache.ts";
import { type ReplayEnvironment, tokensOfRequest } from "./replay-environment.ts";

/**
 * Median length of summaries in estimated tokens. Models wrote these summaries in recorded sessions of an
 * agent like Claude Code.
 */
export const MODEL_SUMMARY_TOKENS = 3_300;

/**
 * Simulates the provider's model for summary requests. The built-in summarizer writes the text, the cache
 * determines the usage, and the call takes a realistic time on the replay's clock.
 */
export function summaryModel(stage: ReplayEnvironment): Model {
  const { model, scale } = stage;
  return {
    name: model,
    capabilities: { ...anthropicCapabilities(model), countTokens: "estimate" },
    stream: (request, call) => streamSummary(request, call, stage),
    countTokens: async (request) => ({ tokens: tokensOfRequest(request, scale), source: "estimate" }),
  };
}

async function* streamSummary(
  request: ModelRequest,
  { signal }: CallOptions = {},
  stage: ReplayEnvironment,
): AsyncGenerator<ModelEvent> {
  const { model, cache, clock, costs, scale, thresholds } = stage;
  throwIfAborted(signal);
  const tokens = tokensOfRequest(request, scale);
  if (tokens > thresholds.size) throw tooLong(tokens, thresholds.size);
  const reply = await complete(builtInModel({ budgetTokens: MODEL_SUMMARY_TOKENS }), request);
  const written = reply.content.reduce((sum, block) => sum + scale.tokensOf(block), 0);
  const usage = usageOf(cache.call(request, clock.now()), Math.round(written));
  costs.recordSummaryCall(usage);
  await untilAborted(signal, clock.sleep(latencyMs(usage)));
  yield { type: "start", id: reply.id, model };
  for (const block of reply.content) yield { type: "block", block };
  yield { type: "end", reply: { ...reply, model, usage } };
}

export const tooLong = (tokens: number, limit: number): ModelError =>
  new ModelError(
    { kind: "too-long", tokens, limit },
    `The conversation is too long for the replayed model: the request has ${tokens} tokens, and the context window has ${limit}.`,
    { remedy: "Compact the conversation, then call again." },
  );

/** Time until a model starts to answer, for any request. */
const BASE_MS = 1_000;
/** Uncached input: ten thousand tokens per second. */
const MS_PER_NEW_TOKEN = 0.1;
/** Cached input: ten times as fast as uncached input. */
const MS_PER_CACHED_TOKEN = 0.01;
/** Output: sixty tokens per second. */
const MS_PER_OUTPUT_TOKEN = 1_000 / 60;

/**
 * Estimates how long a call takes, from rough figures of hosted models. All policies use the same estimate.
 */
export function latencyMs(usage: Usage): number {
  const fresh = usage.input_tokens + (usage.cache_creation_input_tokens ?? 0);
  const cached = usage.cache_read_input_tokens ?? 0;
  return Math.round(
    BASE_MS +
      fresh * MS_PER_NEW_TOKEN +
      cached * MS_PER_CACHED_TOKEN +
      usage.output_tokens * MS_PER_OUTPUT_TOKEN,
  );
}
