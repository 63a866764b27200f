import { throwIfAborted, untilAborted } from "../../models/abortable.ts";
import { anthropicCapabilities } from "../../models/anthropic/capabilities.ts";
import { ModelError } from "../../models/model-error.ts";
import type { CallOptions, Model, ModelEvent, ModelReply, ModelRequest } from "../../models/port.ts";
import { builtInModel } from "../../summary/builtin/builtin-model.ts";
import { type PrefixCache, usageOf } from "./cache.ts";
import { latencyMs } from "./latency.ts";
import { type Stage, tokensOfRequest } from "./run.ts";

/** In tokens of the estimate: what models write for an agent like Claude Code, the middle of recorded sessions. */
export const MODEL_SUMMARY_TOKENS = 3_300;

/**
 * The provider's model, for whoever asks for a summary: the built-in summariser writes it, the cache says what it read,
 * and it takes as long as a model would, on the clock of the replay.
 */
export function summaryModel(stage: Stage, cache: PrefixCache): Model {
  const { model, scale } = stage;
  return {
    name: model,
    capabilities: { ...anthropicCapabilities(model), countTokens: "estimate" },
    stream: (request, call) => streamSummary(request, call, stage, cache),
    countTokens: async (request) => ({ tokens: tokensOfRequest(request, scale), source: "estimate" }),
  };
}

async function* streamSummary(
  request: ModelRequest,
  { signal }: CallOptions = {},
  stage: Stage,
  cache: PrefixCache,
): AsyncGenerator<ModelEvent> {
  const { model, clock, till, scale, thresholds } = stage;
  throwIfAborted(signal);
  const tokens = tokensOfRequest(request, scale);
  if (tokens > thresholds.size) throw tooLong(tokens, thresholds.size);
  const reply = await replyTo(request);
  const written = reply.content.reduce((sum, block) => sum + scale.tokensOf(block), 0);
  const usage = usageOf(cache.call(request, clock.now()), Math.round(written));
  till.summary(usage);
  await untilAborted(signal, clock.sleep(latencyMs(usage)));
  yield { type: "start", id: reply.id, model };
  for (const block of reply.content) yield { type: "block", block };
  yield { type: "end", reply: { ...reply, model, usage } };
}

async function replyTo(request: ModelRequest): Promise<ModelReply> {
  for await (const event of builtInModel({ budgetTokens: MODEL_SUMMARY_TOKENS }).stream(request)) {
    if (event.type === "end") return event.reply;
  }
  throw new Error("The built-in model always answers.");
}

export const tooLong = (tokens: number, limit: number): ModelError =>
  new ModelError({ kind: "too-long", tokens, limit }, `The request has ${tokens} tokens of ${limit}.`);
