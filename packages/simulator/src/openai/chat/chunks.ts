import type { JsonRecord } from "@longhaul/core/internal/messages";
import { pieces } from "../../reply/pieces.ts";
import type { BrokenEvents } from "../../server/delivery.ts";
import { refusal } from "../wording/refuse.ts";
import type { Completion, CompletionCall, CompletionChoice } from "./completion.ts";

const encodeChunk = (chunk: unknown): string => `data: ${JSON.stringify(chunk)}\n\n`;
const DONE = "data: [DONE]\n\n";

/** Events of this API that a fault sends. */
export function brokenChunks(): BrokenEvents {
  const { message, type, details } = refusal("overloaded");
  return {
    overloaded: encodeChunk({ error: { message, type, ...details } }),
    torn: 'data: {"id":"chatcmpl-torn","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"con\n\n',
  };
}

export interface ChunkOptions {
  /** True for `stream_options.include_usage`: a last chunk has the usage, and the others have a null. */
  readonly includesUsage: boolean;
  /** False for `stream_options.include_obfuscation: false`: deltas then have no padding. */
  readonly obfuscates: boolean;
}

/** Length to which `obfuscation` pads a delta. A delta that is longer gets an empty padding. */
const PADDED_LENGTH = 32;
const PADDING = "k7Wd2LqXv9TzB4mRc8HjNf5YpGs3uQeA";

/** Yields the chunks of a completion, as they are sent. */
export function* encodedChunks(completion: Completion, options: ChunkOptions): Generator<string> {
  const { choices, usage, object: _, ...head } = completion;
  const { includesUsage, obfuscates } = options;
  const chunk = (fields: JsonRecord): string =>
    encodeChunk({
      ...head,
      object: "chat.completion.chunk",
      ...(includesUsage ? { usage: null } : {}),
      ...fields,
    });
  for (const choice of choices) {
    const { index } = choice;
    for (const delta of deltas(choice))
      yield chunk({
        choices: [{ index, delta, logprobs: null, finish_reason: null }],
        ...(obfuscates ? { obfuscation: paddingFor(delta) } : {}),
      });
    yield chunk({
      choices: [{ index, delta: {}, logprobs: null, finish_reason: choice.finish_reason }],
    });
  }
  if (includesUsage) yield chunk({ choices: [], usage });
  yield DONE;
}

/** Pads a delta, so that the size of an event does not show the length of its text. */
const paddingFor = (delta: JsonRecord): string =>
  PADDING.slice(0, Math.max(0, PADDED_LENGTH - JSON.stringify(delta).length));

function* deltas({ message }: CompletionChoice): Generator<JsonRecord> {
  const {
    role,
    content,
    refusal: refused,
    annotations: _,
    tool_calls: calls = [],
    function_call: called,
    ...raw
  } = message;
  yield { role, content: content === null ? null : "", refusal: null };
  for (const text of pieces(content ?? "")) yield { content: text };
  for (const text of pieces(refused ?? "")) yield { refusal: text };
  for (const [index, call] of calls.entries()) yield* callDeltas(call, index);
  if (called !== undefined) {
    yield { function_call: { name: called.name, arguments: "" } };
    for (const part of pieces(called.arguments)) yield { function_call: { arguments: part } };
  }
  if (Object.keys(raw).length > 0) yield raw;
}

/** The first delta of a call has its id and its name. The others have only pieces of its input. */
function* callDeltas(call: CompletionCall, index: number): Generator<JsonRecord> {
  const { id, type } = call;
  if (call.type === "custom") {
    yield { tool_calls: [{ index, id, type, custom: { name: call.custom.name, input: "" } }] };
    for (const input of pieces(call.custom.input)) yield { tool_calls: [{ index, custom: { input } }] };
    return;
  }
  yield { tool_calls: [{ index, id, type, function: { name: call.function.name, arguments: "" } }] };
  for (const part of pieces(call.function.arguments))
    yield { tool_calls: [{ index, function: { arguments: part } }] };
}
