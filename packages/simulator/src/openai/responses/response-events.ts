import { asList, field, isRecord, type JsonRecord } from "@longhaul/core/internal/messages";
import { pieces } from "../../reply/pieces.ts";
import type { BrokenEvents } from "../../server/delivery.ts";
import { NOT_YET, type ResponseObject } from "./response-object.ts";

interface ResponseEvent {
  readonly type: string;
  readonly sequence_number: number;
  readonly [field: string]: unknown;
}

export interface EventOptions {
  /** True for a background response, whose stream also reports that it was queued. */
  readonly isQueued: boolean;
  /** True for a compaction on demand, which reports each piece of its summary without the text. */
  readonly reportsCompacting: boolean;
  /** False if the client turned off the padding of deltas. */
  readonly obfuscates: boolean;
  /** Sequence number after which the stream starts. A client that reconnects sends it. */
  readonly startingAfter?: number;
  /** Called after the last event, unless the client disconnects before it. */
  readonly onEnd?: () => void;
}

/** Length to which `obfuscation` pads a delta. A delta that is longer gets an empty padding. */
const PADDED_LENGTH = 32;
const PADDING = "x9Kq3ZtVb7LmR2wYc5HjNd8PsF4gTuQe";
/** Event with incomplete JSON. */
const TORN =
  'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","item_id":"msg_\n\n';

const encodeEvent = (event: ResponseEvent): string =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

/** A stream of a response, and the events that a fault sends instead of its rest. */
export interface ResponseStream {
  readonly events: Iterable<string>;
  readonly broken: BrokenEvents;
}

export function responseStream(response: ResponseObject, options: EventOptions): ResponseStream {
  const counter: Counter = { next: 0 };
  return {
    events: encoded(response, options, counter),
    broken: {
      // The fault strikes after the next event was made and before it is sent, so its number is free.
      get overloaded() {
        return failure(response, OVERLOAD, Math.max(0, counter.next - 1));
      },
      torn: TORN,
    },
  };
}

interface Counter {
  next: number;
}

function* encoded(response: ResponseObject, options: EventOptions, counter: Counter): Generator<string> {
  for (const { type, ...fields } of bareEvents(response, options)) {
    const sequence_number = counter.next++;
    if (sequence_number <= (options.startingAfter ?? -1)) continue;
    yield encodeEvent({ type, sequence_number, ...fields });
  }
  options.onEnd?.();
}

interface BareEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

function* bareEvents(response: ResponseObject, options: EventOptions): Generator<BareEvent> {
  const started = { ...response, ...NOT_YET, output: [] };
  if (options.isQueued) yield { type: "response.queued", response: { ...started, status: "queued" } };
  yield { type: "response.created", response: started };
  yield { type: "response.in_progress", response: started };
  for (const [index, item] of response.output.entries()) yield* itemEvents(item, index, options);
  yield { type: `response.${response.status}`, response };
}

function* itemEvents(item: JsonRecord, output_index: number, options: EventOptions): Generator<BareEvent> {
  const place = { item_id: item.id, output_index };
  const added = (changes: JsonRecord): BareEvent => {
    const status = item.status === undefined ? {} : { status: "in_progress" };
    return { type: "response.output_item.added", output_index, item: { ...item, ...status, ...changes } };
  };
  const deltas = function* (type: string, text: unknown, more: JsonRecord = {}): Generator<BareEvent> {
    for (const delta of pieces(typeof text === "string" ? text : "")) {
      const obfuscation = options.obfuscates
        ? { obfuscation: PADDING.slice(delta.length, PADDED_LENGTH) }
        : {};
      yield { type, ...place, ...more, delta, ...obfuscation };
    }
  };
  if (item.type === "message") {
    yield added({ content: [] });
    for (const [index, part] of records(item.content).entries())
      yield* partEvents(part, index, place, deltas);
  } else if (item.type === "reasoning") {
    yield added({ summary: [] });
    for (const [index, part] of records(item.summary).entries())
      yield* summaryEvents(part, index, place, deltas);
  } else if (item.type === "function_call") {
    yield added({ arguments: "" });
    const { name, arguments: text } = item;
    yield* deltas("response.function_call_arguments.delta", text);
    yield { type: "response.function_call_arguments.done", ...place, name, arguments: text };
  } else if (item.type === "custom_tool_call") {
    yield added({ input: "" });
    yield* deltas("response.custom_tool_call_input.delta", item.input);
    yield { type: "response.custom_tool_call_input.done", ...place, input: item.input };
  } else if (item.type === "shell_call") {
    yield added({ action: { ...(isRecord(item.action) ? item.action : {}), commands: [] } });
    yield* commandEvents(item.action, output_index);
  } else {
    yield added(item.type === "compaction" ? { encrypted_content: "" } : {});
    if (item.type === "compaction" && options.reportsCompacting)
      yield { type: "response.compaction.compacting", ...place };
  }
  yield { type: "response.output_item.done", output_index, item };
}

const records = (value: unknown): readonly JsonRecord[] =>
  Array.isArray(value) ? value.filter(isRecord) : [];

type Deltas = (type: string, text: unknown, more?: JsonRecord) => Generator<BareEvent>;

/** Events of one content part of a message: a text or a refusal. */
function* partEvents(
  part: JsonRecord,
  content_index: number,
  item: JsonRecord,
  deltas: Deltas,
): Generator<BareEvent> {
  const place = { ...item, content_index };
  if (part.type === "refusal") {
    yield { type: "response.content_part.added", ...place, part: { ...part, refusal: "" } };
    yield* deltas("response.refusal.delta", part.refusal, { content_index });
    yield { type: "response.refusal.done", ...place, refusal: part.refusal };
  } else {
    yield { type: "response.content_part.added", ...place, part: { ...part, text: "" } };
    yield* deltas("response.output_text.delta", part.text, { content_index, logprobs: [] });
    yield { type: "response.output_text.done", ...place, text: part.text, logprobs: [] };
  }
  yield { type: "response.content_part.done", ...place, part };
}

/** Events of the commands of a built-in shell. The types of openai 7.55 list them, without `item_id`. */
function* commandEvents(action: unknown, output_index: number): Generator<BareEvent> {
  for (const [command_index, command] of asList(field(action, "commands")).entries()) {
    const place = { output_index, command_index };
    yield { type: "response.shell_call_command.added", ...place, command: "" };
    for (const delta of pieces(String(command)))
      yield { type: "response.shell_call_command.delta", ...place, delta };
    yield { type: "response.shell_call_command.done", ...place, command };
  }
}

function* summaryEvents(
  part: JsonRecord,
  summary_index: number,
  item: JsonRecord,
  deltas: Deltas,
): Generator<BareEvent> {
  const place = { ...item, summary_index };
  yield { type: "response.reasoning_summary_part.added", ...place, part: { ...part, text: "" } };
  yield* deltas("response.reasoning_summary_text.delta", part.text, { summary_index });
  yield { type: "response.reasoning_summary_text.done", ...place, text: part.text };
  yield { type: "response.reasoning_summary_part.done", ...place, part };
}

/** An error that ends a stream. */
export interface StreamError {
  readonly type: string;
  readonly code: string;
  readonly message: string;
  readonly param: string | null;
}

/** Overload in the middle of a stream, as captured from the API in anomalyco/opencode#25730. */
const OVERLOAD: StreamError = {
  type: "service_unavailable_error",
  code: "server_is_overloaded",
  message: "Our servers are currently overloaded. Please try again later.",
  param: null,
};

/** Stream of a request that the API refuses only after the stream has begun. */
export function failedStream(response: ResponseObject, error: StreamError): ResponseStream {
  const started = { ...response, ...NOT_YET, output: [] };
  const begun = ["response.created", "response.in_progress"].map((type, sequence_number) =>
    encodeEvent({ type, sequence_number, response: started }),
  );
  const ended = failure(response, error, begun.length);
  return { events: [...begun, ended], broken: { overloaded: ended, torn: TORN } };
}

/**
 * Events that end a failed stream: an `error` event, and `response.failed`. In the captures of the API, the error
 * is nested in its event, against the type of the official SDK.
 */
function failure(response: ResponseObject, error: StreamError, sequence_number: number): string {
  const { code, message } = error;
  const failed = { ...response, ...NOT_YET, status: "failed", output: [], error: { code, message } };
  return (
    encodeEvent({ type: "error", sequence_number, error }) +
    encodeEvent({ type: "response.failed", sequence_number: sequence_number + 1, response: failed })
  );
}
