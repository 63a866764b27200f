import {
  field,
  isRecord,
  type JsonRecord,
  listField,
  numberField,
  stringField,
} from "@longhaul/core/internal/messages";
import {
  encodeProviderData,
  isInvalidInput,
  parsedInput,
  requiredMetadata,
  toInputObject,
} from "@longhaul/core/internal/models";
import type { ContentBlock, ThinkingBlock } from "@longhaul/core/messages";
import type {
  ContextEdit,
  ModelEvent,
  ModelFailure,
  ModelUsage,
  RequestChange,
  StopReason,
  UsageIteration,
} from "@longhaul/core/models";
import type { Dialect, Flavor } from "./dialect.ts";
import { mergeOptions } from "./mapping.ts";
import { canonicalToolId, unusedToolId } from "./wire-tool-ids.ts";

interface OpenPart {
  text: string;
  metadata: JsonRecord;
}

interface OpenCall {
  readonly id: string;
  readonly name: string;
  /** Input so far. Empty if the pieces are not JSON and the input arrives as a whole at the end. */
  json: string;
  readonly isJson: boolean;
  isDone: boolean;
}

/** Reads the parts of one stream, of any SDK version, and converts them into the port's events. */
export class ReplyReader {
  readonly content: ContentBlock[] = [];
  /** The provider's metadata about the whole reply, once it has arrived. */
  finish: JsonRecord | undefined;
  /** True if a part of the reply has arrived. A later failure then cuts the reply off. */
  hasStarted = false;
  #statedFinish: unknown;
  readonly #dialect: Dialect;
  readonly #usedIds: Set<string>;
  readonly #texts = new Map<string, OpenPart>();
  readonly #thoughts = new Map<string, OpenPart>();
  readonly #calls = new Map<string, OpenCall>();

  constructor(dialect: Dialect, usedIds: Iterable<string>) {
    this.#dialect = dialect;
    this.#usedIds = new Set(usedIds);
  }

  /** Complete blocks for the error of a failed call. Omits a tool call whose input was cut off. */
  get complete(): readonly ContentBlock[] {
    return this.content.filter((block) => block.type !== "tool_use" || !isInvalidInput(block.input));
  }

  read(part: JsonRecord): readonly ModelEvent[] {
    const handler = typeof part.type === "string" ? HANDLERS[part.type] : undefined;
    if (handler === undefined) return [];
    if (part.type !== "raw" && part.type !== "ping") this.hasStarted = true;
    return handler(this, part);
  }

  /**
   * Throws the error of an error part, with one exception. If the SDK only complains that a complete reply
   * lacks a required tool call, throws nothing. In that case, the reply keeps the provider's finish reason.
   */
  throwUnlessToolChoice(error: unknown): void {
    if (!/ToolChoiceViolation/.test(stringField(error, "name") ?? "")) throw error;
    this.#statedFinish = field(error, "finishReason");
  }

  textPiece(part: JsonRecord): readonly ModelEvent[] {
    const thought = this.#closeThoughts();
    const open = extend(this.#texts, part);
    const text = pieceOf(part);
    open.text += text;
    return text === "" ? thought : [...thought, { type: "text", text }];
  }

  textEnd(part: JsonRecord): readonly ModelEvent[] {
    const open = extend(this.#texts, part);
    this.#texts.delete(idOf(part));
    if (open.text === "") return [];
    return this.#complete(textBlock(open.text, open.metadata), open.metadata);
  }

  thoughtPiece(part: JsonRecord): readonly ModelEvent[] {
    const open = extend(this.#thoughts, part);
    const text = pieceOf(part);
    open.text += text;
    return text === "" ? [] : [{ type: "thinking", text }];
  }

  thoughtEnd(part: JsonRecord): readonly ModelEvent[] {
    const open = extend(this.#thoughts, part);
    this.#thoughts.delete(idOf(part));
    if (open.text === "" && Object.keys(open.metadata).length === 0) return [];
    return this.#complete(thinkingBlock(open.text, open.metadata, this.#dialect), undefined);
  }

  callStart(part: JsonRecord): readonly ModelEvent[] {
    if (part.providerExecuted === true || this.#calls.has(idOf(part))) return [];
    // Some providers close a text only at the very end. Closing the text here keeps it before the tool call.
    const closed = [...this.#closeThoughts(), ...this.#closeTexts()];
    const { id, name } = this.#openCall(part);
    return [...closed, { type: "tool-call-start", id, name }];
  }

  callPiece(part: JsonRecord): readonly ModelEvent[] {
    const call = this.#calls.get(idOf(part));
    const json = pieceOf(part);
    if (call === undefined || !call.isJson || json === "") return [];
    call.json += json;
    return [{ type: "tool-call-input", id: call.id, json }];
  }

  callEnd(part: JsonRecord): readonly ModelEvent[] {
    if (part.providerExecuted === true) {
      return this.#complete(serverCallBlock(part, this.#idFor(idOf(part))), part.providerMetadata);
    }
    const events: ModelEvent[] = [...this.callStart(part)];
    const call = this.#calls.get(idOf(part)) ?? this.#openCall(part);
    if (call.isDone) return events;
    const input = toInputObject(part.input);
    if (call.json === "" && Object.keys(input).length > 0) {
      events.push({ type: "tool-call-input", id: call.id, json: JSON.stringify(input) });
    }
    call.isDone = true;
    const block: ContentBlock = { type: "tool_use", id: call.id, name: call.name, input };
    return [...events, ...this.#complete(block, part.providerMetadata)];
  }

  serverResult(part: JsonRecord): readonly ModelEvent[] {
    // Our tools have no `execute` function. An error of such a tool means that the call was malformed, and an
    // earlier part already reported that.
    if (part.providerExecuted !== true) return [];
    return this.#complete(serverResultBlock(part, canonicalToolId(idOf(part))), undefined);
  }

  file(part: JsonRecord): readonly ModelEvent[] {
    const block = fileBlock(part.file);
    return block === undefined ? [] : this.#complete(block, part.providerMetadata);
  }

  /** Ends the step, and closes everything that the server left open. */
  stepEnd(part: JsonRecord): readonly ModelEvent[] {
    this.finish = this.#statedFinish === undefined ? part : { ...part, finishReason: this.#statedFinish };
    if (endingOf(this.finish, false).kind === "cut-off") return [];
    const events: ModelEvent[] = [];
    for (const id of [...this.#thoughts.keys()]) events.push(...this.thoughtEnd({ id }));
    events.push(...this.#closeTexts());
    for (const call of this.#calls.values()) {
      if (call.isDone) continue;
      call.isDone = true;
      const input = parsedInput(call.json);
      events.push(...this.#complete({ type: "tool_use", id: call.id, name: call.name, input }, undefined));
    }
    return events;
  }

  /** Closes open thinking, except for providers that may still send its signature. */
  #closeThoughts(): readonly ModelEvent[] {
    if (this.#dialect.flavor !== "compatible") return [];
    return [...this.#thoughts.keys()].flatMap((id) => this.thoughtEnd({ id }));
  }

  #closeTexts(): readonly ModelEvent[] {
    return [...this.#texts.keys()].flatMap((id) => this.textEnd({ id }));
  }

  #complete(block: ContentBlock, metadata: unknown): readonly ModelEvent[] {
    const carrier = carrierBlock(metadata, this.#dialect);
    const blocks = carrier === undefined ? [block] : [carrier, block];
    this.content.push(...blocks);
    return blocks.map((complete): ModelEvent => ({ type: "block", block: complete }));
  }

  #openCall(part: JsonRecord): OpenCall {
    const call: OpenCall = {
      id: this.#idFor(idOf(part)),
      name: stringField(part, "toolName") ?? "",
      json: "",
      isJson: part.inputEncoding !== "text",
      isDone: false,
    };
    this.#calls.set(idOf(part), call);
    return call;
  }

  #idFor(wireId: string): string {
    const id = unusedToolId(wireId === "" ? "" : canonicalToolId(wireId), this.#usedIds);
    this.#usedIds.add(id);
    return id;
  }
}

type Handler = (reader: ReplyReader, part: JsonRecord) => readonly ModelEvent[];

const HANDLERS: Readonly<Record<string, Handler>> = {
  "text-start": (reader, part) => reader.textPiece(part),
  "text-delta": (reader, part) => reader.textPiece(part),
  "text-end": (reader, part) => reader.textEnd(part),
  "reasoning-start": (reader, part) => reader.thoughtPiece(part),
  "reasoning-delta": (reader, part) => reader.thoughtPiece(part),
  "reasoning-end": (reader, part) => reader.thoughtEnd(part),
  "tool-input-start": (reader, part) => reader.callStart(part),
  "tool-input-delta": (reader, part) => reader.callPiece(part),
  "tool-call": (reader, part) => reader.callEnd(part),
  "tool-result": (reader, part) => reader.serverResult(part),
  "tool-error": (reader, part) => reader.serverResult(part),
  file: (reader, part) => reader.file(part),
  "finish-step": (reader, part) => reader.stepEnd(part),
  ping: () => [{ type: "keep-alive" }],
  raw: (_, part) => (field(part.rawValue, "type") === "ping" ? [{ type: "keep-alive" }] : []),
};

const idOf = (part: JsonRecord): string => stringField(part, "toolCallId") ?? stringField(part, "id") ?? "";

/**
 * Returns the text of a stream part. Version 5 uses `delta` in some places where later versions use `text`.
 */
const pieceOf = (part: JsonRecord): string => stringField(part, "text") ?? stringField(part, "delta") ?? "";

/**
 * Returns the open part that this part continues. Merges the metadata of both, because providers send
 * metadata with the start, a piece or the end.
 */
function extend(open: Map<string, OpenPart>, part: JsonRecord): OpenPart {
  const id = idOf(part);
  const found = open.get(id) ?? { text: "", metadata: {} };
  const metadata = part.providerMetadata;
  if (isRecord(metadata)) found.metadata = mergeOptions(found.metadata, metadata) ?? {};
  open.set(id, found);
  return found;
}

/** Converts a text to the canonical form. A summary that the provider wrote arrives as text with metadata. */
function textBlock(text: string, metadata: unknown): ContentBlock {
  const anthropic = field(metadata, "anthropic");
  if (stringField(anthropic, "type") === "compaction") {
    const signature = stringField(anthropic, "signature");
    const block = { type: "compaction", content: text, ...(signature === undefined ? {} : { signature }) };
    return block as unknown as ContentBlock;
  }
  const citations = field(anthropic, "citations");
  return { type: "text", text, ...(Array.isArray(citations) && citations.length > 0 ? { citations } : {}) };
}

function thinkingBlock(thinking: string, metadata: JsonRecord, dialect: Dialect): ContentBlock {
  if (dialect.flavor !== "anthropic") {
    return {
      type: "thinking",
      thinking,
      signature: encodeProviderData({ maker: dialect.namespace, metadata }),
    };
  }
  const anthropic = metadata.anthropic;
  const data = stringField(anthropic, "redactedData");
  if (data !== undefined) return { type: "redacted_thinking", data };
  return { type: "thinking", thinking, signature: stringField(anthropic, "signature") ?? "" };
}

/**
 * Creates a block for metadata that later requests must send back to the provider together with the next
 * block. Most metadata needs no such block.
 */
function carrierBlock(metadata: unknown, dialect: Dialect): ThinkingBlock | undefined {
  const missed = requiredMetadata(metadata);
  if (missed === undefined || dialect.flavor === "anthropic") return undefined;
  const memory = { maker: dialect.namespace, metadata: missed, belongsToNextBlock: true };
  return { type: "thinking", thinking: "", signature: encodeProviderData(memory) };
}

/** Converts an image that the model created. */
function fileBlock(file: unknown): ContentBlock | undefined {
  const data = stringField(file, "base64");
  if (data === undefined) return undefined;
  const mediaType = stringField(file, "mediaType") ?? "application/octet-stream";
  const type = mediaType.startsWith("image/") ? "image" : "document";
  return { type, source: { type: "base64", media_type: mediaType, data } };
}

/** Converts a call that the provider made and answered itself. */
function serverCallBlock(part: JsonRecord, id: string): ContentBlock {
  const block = { type: "server_tool_use", id, name: part.toolName, input: toInputObject(part.input) };
  return block as unknown as ContentBlock;
}

function serverResultBlock(part: JsonRecord, id: string): ContentBlock {
  const content = part.type === "tool-error" ? { error: String(part.error) } : part.output;
  return {
    type: `${String(part.toolName)}_tool_result`,
    tool_use_id: id,
    content,
  } as unknown as ContentBlock;
}

/**
 * Reads usage in the forms of versions 5, 6 and 7 and of the providers. `input_tokens` excludes tokens read
 * from or written to a cache. Zero means that the server reported nothing.
 */
export function usageOf(usage: unknown, metadata: unknown, flavor: Flavor): ModelUsage {
  const details = field(usage, "inputTokenDetails");
  const input = field(usage, "inputTokens");
  const output = field(usage, "outputTokens");
  const anthropic = field(metadata, "anthropic");
  const cached = field(usage, "cachedInputTokens");
  const cacheRead = firstNumber(field(details, "cacheReadTokens"), field(input, "cacheRead"), cached) ?? 0;
  const cacheWrite =
    firstNumber(
      field(details, "cacheWriteTokens"),
      field(input, "cacheWrite"),
      field(anthropic, "cacheCreationInputTokens"),
    ) ?? 0;
  // Version 5 passed on Anthropic's figure, which excludes the cached tokens.
  const isWithoutCached = flavor === "anthropic" && details === undefined && !isRecord(input);
  const total = firstNumber(input, field(input, "total")) ?? 0;
  const uncached = isWithoutCached ? total : Math.max(0, total - cacheRead - cacheWrite);
  const iterations = listField(anthropic, "iterations").map(iterationOf);
  return {
    input_tokens: firstNumber(field(details, "noCacheTokens"), field(input, "noCache")) ?? uncached,
    output_tokens: firstNumber(output, field(output, "total")) ?? 0,
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cacheRead,
    ...(iterations.length === 0 ? {} : { iterations }),
  };
}

const firstNumber = (...values: readonly unknown[]): number | undefined =>
  values.find((value): value is number => typeof value === "number" && Number.isFinite(value));

/** Converts Anthropic's usage of one iteration within the call. The names of its fields are in camel case. */
const iterationOf = (item: unknown): UsageIteration => ({
  type: String(field(item, "type") ?? "message"),
  input_tokens: numberField(item, "inputTokens"),
  output_tokens: numberField(item, "outputTokens"),
  cache_creation_input_tokens: numberField(item, "cacheCreationInputTokens"),
  cache_read_input_tokens: numberField(item, "cacheReadInputTokens"),
});

/** End of a call. It is derived from the finish reasons of the SDK and of the provider. */
type Ending =
  | { readonly kind: "stopped"; readonly reason: StopReason }
  | Extract<ModelFailure, { kind: "refused" | "cut-off" | "other" }>;

/**
 * Determines how a call ended.
 * @param calls true if the reply contains a tool call. Some servers report `stop` even for such a reply.
 */
export function endingOf(finish: JsonRecord, calls: boolean): Ending {
  const provider = stringField(finish, "rawFinishReason");
  switch (finish.finishReason) {
    case "tool-calls":
      return stopped(calls ? "tool_use" : "other");
    case "length":
      return stopped(provider === WINDOW_FULL ? WINDOW_FULL : "max_tokens");
    case "content-filter":
      return refusal(provider, finish.providerMetadata);
    case "error":
      return { kind: "other", retry: true };
    case "interrupted":
      return { kind: "cut-off" };
    case "stop":
      if (provider === "stop_sequence" || provider === "pause_turn") return stopped(provider);
      return stopped(calls ? "tool_use" : "end_turn");
    default:
      if (provider === "compaction") return stopped("compaction");
      // Providers start with `other` and keep it if the stream ends without a reason.
      return provider === undefined ? { kind: "cut-off" } : stopped(calls ? "tool_use" : "other");
  }
}

const WINDOW_FULL = "model_context_window_exceeded";

const stopped = (reason: StopReason): Ending => ({ kind: "stopped", reason });

/** Words that say only that the model refused. */
const PLAIN_REFUSAL = /^(refusal|content[_-]filter)$/i;

function refusal(provider: string | undefined, metadata: unknown): Ending {
  const stated = stringField(field(field(metadata, "anthropic"), "stopDetails"), "category");
  const category = stated ?? (provider !== undefined && PLAIN_REFUSAL.test(provider) ? undefined : provider);
  return category === undefined ? { kind: "refused" } : { kind: "refused", category };
}

/**
 * Finds the reply's id, which the SDK reports only at the end. The provider's first raw chunk contains it: in
 * `message` (Anthropic), in `response` (OpenAI), at the top level (chat completions) or under another name
 * (Google).
 */
export function answerIdIn(
  chunk: unknown,
): { readonly id: string; readonly model: string | undefined } | undefined {
  for (const place of [field(chunk, "message"), field(chunk, "response"), chunk]) {
    const id = stringField(place, "id") ?? stringField(place, "responseId");
    if (id === undefined || id === "") continue;
    return { id, model: stringField(place, "model") ?? stringField(place, "modelVersion") };
  }
  return undefined;
}

/** Returns the settings that the SDK reports as unsupported. */
export function warningsIn(part: JsonRecord): readonly RequestChange[] {
  return listField(part, "warnings").map((warning) => {
    const feature = stringField(warning, "feature") ?? stringField(warning, "setting");
    const words = [feature, stringField(warning, "details") ?? stringField(warning, "message")];
    return { type: "not-supported", what: words.filter(Boolean).join(": ") || "a setting" };
  });
}

export function appliedEditsIn(metadata: unknown): readonly ContextEdit[] {
  const edits = listField(field(field(metadata, "anthropic"), "contextManagement"), "appliedEdits");
  return edits.filter(isRecord).map((edit) => withSnakeFields(edit) as ContextEdit);
}

const withSnakeFields = (edit: JsonRecord): JsonRecord =>
  Object.fromEntries(Object.entries(edit).map(([name, value]) => [snakeCase(name), value]));

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
