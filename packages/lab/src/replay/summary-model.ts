import { anthropicCapabilities } from "@longhaul/anthropic/internal";
import { throwIfAborted } from "@longhaul/core/internal/models";
import type { Usage } from "@longhaul/core/messages";
import type { CallOptions, Model, ModelEvent, ModelRequest } from "@longhaul/core/models";
import { complete, ModelError, untilAborted } from "@longhaul/core/models";
import { builtInModel } from "@longhaul/core/summary";
import { usageOf } from "./prefix-cache.ts";
import { type Stage, tokensOfRequest } from "./stage.ts";

/** In tokens of the estimate: what models write for an agent like Claude Code, the middle of recorded sessions. */
export const MODEL_SUMMARY_TOKENS = 3_300;

/**
 * The provider's model, for whoever asks for a summary: the built-in summariser writes it, the cache says what it read,
 * and it takes as long as a model would, on the clock of the replay.
 */
export function summaryModel(stage: Stage): Model {
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
  stage: Stage,
): AsyncGenerator<ModelEvent> {
  const { model, cache, clock, till, scale, thresholds } = stage;
  throwIfAborted(signal);
  const tokens = tokensOfRequest(request, scale);
  if (tokens > thresholds.size) throw tooLong(tokens, thresholds.size);
  const reply = await complete(builtInModel({ budgetTokens: MODEL_SUMMARY_TOKENS }), request);
  const written = reply.content.reduce((sum, block) => sum + scale.tokensOf(block), 0);
  const usage = usageOf(cache.call(request, clock.now()), Math.round(written));
  till.summary(usage);
  await untilAborted(signal, clock.sleep(latencyMs(usage)));
  yield { type: "start", id: reply.id, model };
  for (const block of reply.content) yield { type: "block", block };
  yield { type: "end", reply: { ...reply, model, usage } };
}

export const tooLong = (tokens: number, limit: number): ModelError =>
  new ModelError({ kind: "too-long", tokens, limit }, `The request has ${tokens} tokens of ${limit}.`);

/** Until a model begins to answer, whatever it is asked. */
const BASE_MS = 1_000;
/** What it has to read anew: ten thousand tokens take a second. */
const MS_PER_NEW_TOKEN = 0.1;
/** What it finds in its cache: ten times as fast. */
const MS_PER_CACHED_TOKEN = 0.01;
/** Sixty tokens a second. */
const MS_PER_OUTPUT_TOKEN = 1_000 / 60;

/** How long a call takes, in milliseconds: rough figures of hosted models, the same for every policy. */
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
