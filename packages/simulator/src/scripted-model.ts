import { estimateRequest, PLAIN_CAPABILITIES, throwIfAborted } from "@longhaul/core/internal/models";
import { ESTIMATORS, measureContent, measureRequest } from "@longhaul/core/measure";
import type { ContentBlock } from "@longhaul/core/messages";
import type {
  CallOptions,
  Model,
  ModelCapabilities,
  ModelEvent,
  ModelReply,
  ModelRequest,
  ModelUsage,
  StopReason,
} from "@longhaul/core/models";
import { ModelError, untilAborted } from "@longhaul/core/models";

/** A reply with only the fields that matter to the test. All other fields have defaults. */
export interface ScriptedReply {
  readonly content: string | readonly ContentBlock[];
  readonly stopReason?: StopReason;
  readonly usage?: Partial<ModelUsage>;
  /** Error with which the call fails after it has streamed the content. */
  readonly failsWith?: ModelError;
  /** Makes the call hang after the content. Only an abort ends it. */
  readonly hangs?: boolean;
}

/** A text, a reply, or a failure. */
export type ScriptedAnswer = string | ScriptedReply | ModelError;

export type Script =
  | readonly ScriptedAnswer[]
  | ((request: ModelRequest, index: number) => ScriptedAnswer | Promise<ScriptedAnswer>);

export interface ScriptedModelOptions {
  readonly name?: string;
  readonly capabilities?: Partial<ModelCapabilities>;
}

export interface ScriptedModel extends Model {
  /** Received requests, oldest first. */
  readonly requests: readonly ModelRequest[];
}

/** Creates a model with scripted answers, for tests and examples. The model estimates token counts. */
export function scriptedModel(script: Script, options: ScriptedModelOptions = {}): ScriptedModel {
  const name = options.name ?? "scripted";
  const requests: ModelRequest[] = [];
  const answerTo = async (request: ModelRequest): Promise<ScriptedAnswer> => {
    const index = requests.push(request) - 1;
    const answer = typeof script === "function" ? await script(request, index) : script[index];
    if (answer !== undefined) return answer;
    throw new ModelError(
      { kind: "other", retry: false },
      `The call to ${name} failed: the script has no answer for call ${index + 1}.`,
      { remedy: "Add an answer to the script, or make fewer calls." },
    );
  };
  return {
    name,
    capabilities: { ...PLAIN_CAPABILITIES, ...options.capabilities },
    requests,
    stream: (request, call) => play(name, request, answerTo, call),
    countTokens: estimateRequest,
  };
}

async function* play(
  name: string,
  request: ModelRequest,
  answerTo: (request: ModelRequest) => Promise<ScriptedAnswer>,
  call: CallOptions | undefined,
): AsyncGenerator<ModelEvent> {
  throwIfAborted(call?.signal);
  const answer = await untilAborted(call?.signal, answerTo(request));
  if (answer instanceof ModelError) throw answer;
  const scripted: ScriptedReply = typeof answer === "string" ? { content: answer } : answer;
  const reply = replyOf(name, request, scripted);
  yield { type: "start", id: reply.id, model: name };
  for (const block of reply.content) {
    for (const event of eventsOf(block)) {
      throwIfAborted(call?.signal);
      yield event;
    }
  }
  if (scripted.hangs) await untilAborted(call?.signal, new Promise<never>(() => undefined));
  if (scripted.failsWith) throw scripted.failsWith;
  yield { type: "end", reply };
}

function* eventsOf(block: ContentBlock): Generator<ModelEvent> {
  if (block.type === "text") yield { type: "text", text: block.text };
  else if (block.type === "thinking") yield { type: "thinking", text: block.thinking };
  else if (block.type === "tool_use") {
    yield { type: "tool-call-start", id: block.id, name: block.name };
    yield { type: "tool-call-input", id: block.id, json: JSON.stringify(block.input) };
  }
  yield { type: "block", block };
}

function replyOf(name: string, request: ModelRequest, scripted: ScriptedReply): ModelReply {
  const content: readonly ContentBlock[] =
    typeof scripted.content === "string" ? [{ type: "text", text: scripted.content }] : scripted.content;
  const callsTools = content.some((block) => block.type === "tool_use");
  return {
    id: "scripted",
    model: name,
    content,
    stopReason: scripted.stopReason ?? (callsTools ? "tool_use" : "end_turn"),
    usage: {
      input_tokens: measureRequest(request, ESTIMATORS.o200k),
      output_tokens: measureContent(content, ESTIMATORS.o200k),
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      ...scripted.usage,
    },
    appliedEdits: [],
    changes: [],
  };
}
