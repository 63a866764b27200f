import { throwIfAborted } from "../../models/abortable.ts";
import { estimateRequest, PLAIN_CAPABILITIES } from "../../models/plain-model.ts";
import type { CallOptions, Model, ModelEvent, ModelReply, ModelRequest } from "../../models/port.ts";
import { ESTIMATORS, measureRequest } from "../../tokens/measure.ts";
import { SUMMARY_HEADING } from "../format.ts";
import { instructionsIn } from "../summary-prompt.ts";
import { summariseMessages, summaryRequestIn } from "./summarise-messages.ts";

export const BUILT_IN_MODEL_NAME = "built-in";

export interface BuiltInModelOptions {
  /** Size of the summary, in tokens. */
  readonly budgetTokens?: number | undefined;
}

/**
 * The summariser that needs no model, behind the port: it answers every request with a summary of the
 * conversation it is sent, in the form that a summary request asks for. Always available, never fails.
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
  const wanted = summaryRequestIn(request.messages);
  const { text: summary } = summariseMessages(request.messages, {
    countTokens: ESTIMATORS.o200k,
    budgetTokens,
    instructions: wanted === undefined ? undefined : instructionsIn(wanted),
  });
  const text = `<summary>\n${summary.replace(`${SUMMARY_HEADING}\n`, "")}\n</summary>`;
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
      input_tokens: measureRequest(request, ESTIMATORS.o200k),
      output_tokens: ESTIMATORS.o200k(text),
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
    },
    appliedEdits: [],
    changes: [],
  };
}
