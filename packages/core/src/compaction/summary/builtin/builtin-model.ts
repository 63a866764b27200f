import { estimateO200k } from "../../../measure/tokens/estimate/o200k.ts";
import { measureRequest } from "../../../measure/tokens/measure.ts";
import { throwIfAborted } from "../../../models/abortable.ts";
import { loadPart } from "../../../models/load-part.ts";
import { estimateRequest, PLAIN_CAPABILITIES } from "../../../models/plain-model.ts";
import type { CallOptions, Model, ModelEvent, ModelReply, ModelRequest } from "../../../models/port.ts";

export const BUILT_IN_MODEL_NAME = "built-in";

export interface BuiltInModelOptions {
  /** Token budget of the summary. */
  readonly budgetTokens?: number | undefined;
}

/**
 * Creates a model that answers every request with a built-in summary of the conversation. The answer has the
 * format that a summary request asks for. This model needs no real model. The summarizer loads with the first
 * request, and a request fails only if it cannot be loaded.
 */
export function builtInModel(options: BuiltInModelOptions = {}): Model {
  return {
    name: BUILT_IN_MODEL_NAME,
    capabilities: PLAIN_CAPABILITIES,
    stream: (request, call) => streamSummary(request, options, call),
    countTokens: estimateRequest,
  };
}

async function* streamSummary(
  request: ModelRequest,
  { budgetTokens }: BuiltInModelOptions,
  call: CallOptions | undefined,
): AsyncGenerator<ModelEvent> {
  throwIfAborted(call?.signal);
  yield { type: "start", id: "built-in", model: BUILT_IN_MODEL_NAME };
  const { answerTo } = await loadPart(
    "built-in summarizer",
    () => import("./summarize-messages.ts"),
    call?.signal,
  );
  const text = answerTo(request.messages, budgetTokens);
  throwIfAborted(call?.signal);
  yield { type: "text", text };
  yield { type: "block", block: { type: "text", text } };
  yield { type: "end", reply: replyOf(text, request) };
}

function replyOf(text: string, request: ModelRequest): ModelReply {
  return {
    id: "built-in",
    model: BUILT_IN_MODEL_NAME,
    content: [{ type: "text", text }],
    stopReason: "end_turn",
    usage: {
      input_tokens: measureRequest(request, estimateO200k),
      output_tokens: estimateO200k(text),
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
    },
    appliedEdits: [],
    changes: [],
  };
}
