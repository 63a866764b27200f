import { isRecord, type JsonRecord } from "@longhaul/core/internal/messages";
import type { ContentBlock } from "@longhaul/core/messages";
import { pieces } from "../../reply/pieces.ts";
import type { BrokenEvents } from "../../server/delivery.ts";
import { TEXTS } from "../wording/texts.ts";

/** A complete answer of `POST /v1/messages`. */
export interface ReplyMessage {
  readonly id: string;
  readonly type: "message";
  readonly role: "assistant";
  readonly model: string;
  readonly content: readonly ContentBlock[];
  readonly stop_reason: string;
  readonly stop_sequence: string | null;
  readonly stop_details: JsonRecord | null;
  readonly usage: JsonRecord & { readonly output_tokens: number };
  readonly container: null;
  readonly diagnostics: JsonRecord | null;
  readonly context_management?: JsonRecord | null;
  readonly input_transformations?: readonly JsonRecord[];
}

export interface StreamEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

export interface StreamShape {
  /**
   * True for an on-demand compaction. Its start event contains the complete block. A threshold compaction
   * instead sends the content in one delta.
   */
  readonly isCompactionWhole: boolean;
}

/** Output tokens that `message_start` reports, although nothing is written yet. */
const OUTPUT_TOKENS_AT_START = 1;

export const encodeEvent = (event: StreamEvent): string =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

/** Events of this API that a fault sends. */
export const BROKEN_EVENTS: BrokenEvents = {
  overloaded: encodeEvent({
    type: "error",
    error: { type: "overloaded_error", message: TEXTS.overloaded.text },
  }),
  torn: 'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"ty\n\n',
};

/** Yields the stream events of a message, as they are sent. */
export function* encodedEvents(message: ReplyMessage, shape: StreamShape): Generator<string> {
  for (const event of streamEvents(message, shape)) yield encodeEvent(event);
}

/** Yields the stream events of a message. */
export function* streamEvents(message: ReplyMessage, shape: StreamShape): Generator<StreamEvent> {
  yield startOf(message);
  yield { type: "ping" };
  for (const [index, block] of message.content.entries()) yield* blockEvents(index, block, message, shape);
  const { stop_reason, stop_sequence, stop_details, container, usage } = message;
  yield {
    type: "message_delta",
    delta: { stop_reason, stop_sequence, stop_details, container },
    usage: cumulativeUsage(usage),
    ...(message.context_management === undefined ? {} : { context_management: message.context_management }),
  };
  yield { type: "message_stop" };
}

function startOf(message: ReplyMessage): StreamEvent {
  const { context_management: _atTheEnd, ...known } = message;
  const { output_tokens_details: _later, iterations: _laterToo, ...usage } = message.usage;
  return {
    type: "message_start",
    message: {
      ...known,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      usage: { ...usage, output_tokens: Math.min(OUTPUT_TOKENS_AT_START, message.usage.output_tokens) },
    },
  };
}

/** Returns the usage fields of `message_delta`. The other usage fields are sent only in `message_start`. */
function cumulativeUsage(usage: ReplyMessage["usage"]): JsonRecord {
  const { cache_creation: _c, service_tier: _s, inference_geo: _i, speed: _p, ...cumulative } = usage;
  return cumulative;
}

function* blockEvents(
  index: number,
  block: ContentBlock,
  message: ReplyMessage,
  shape: StreamShape,
): Generator<StreamEvent> {
  const start = (content_block: unknown): StreamEvent => ({
    type: "content_block_start",
    index,
    content_block,
  });
  const delta = (fields: JsonRecord): StreamEvent => ({ type: "content_block_delta", index, delta: fields });
  const fields: JsonRecord = { ...block };
  if (block.type === "text") {
    yield start({ ...block, text: "" });
    for (const text of pieces(block.text)) yield delta({ type: "text_delta", text });
  } else if (block.type === "tool_use") {
    const isCut = index === message.content.length - 1 && isCutShort(message);
    yield start({ ...block, input: {} });
    yield delta({ type: "input_json_delta", partial_json: "" });
    for (const partial_json of pieces(inputText(block.input, isCut))) {
      yield delta({ type: "input_json_delta", partial_json });
    }
  } else if (block.type === "thinking") {
    yield start({ ...block, thinking: "", signature: "" });
    for (const thinking of pieces(block.thinking)) yield delta({ type: "thinking_delta", thinking });
    yield delta({ type: "signature_delta", signature: block.signature });
  } else if (fields.type === "compaction" && !shape.isCompactionWhole) {
    const encrypted_content = fields.encrypted_content ?? null;
    yield start({ ...fields, content: null, encrypted_content: null });
    yield delta({ type: "compaction_delta", content: fields.content ?? null, encrypted_content });
  } else {
    yield start(fields);
  }
  yield { type: "content_block_stop", index };
}

const isCutShort = ({ stop_reason }: ReplyMessage): boolean =>
  stop_reason === "max_tokens" || stop_reason === "model_context_window_exceeded";

/** Returns the input of a tool call as JSON. If the input was cut, leaves out the closing brace. */
function inputText(input: unknown, isCut: boolean): string {
  if (isRecord(input) && Object.keys(input).length === 0) return isCut ? "" : "{}";
  const text = JSON.stringify(input);
  return isCut ? text.slice(0, -1) : text;
}
