import type { ContentBlock, ThinkingBlock } from "../../conversation/message.ts";
import { field, isRecord, type JsonRecord, stringField } from "../../conversation/untrusted.ts";
import { callInput, isBrokenInput, parsedInput } from "../canonical-form.ts";
import type { ModelEvent } from "../port.ts";
import type { Dialect } from "./dialect.ts";
import { mergeOptions } from "./mapping.ts";
import { missedMetadata, packMemory } from "./provider-memory.ts";
import { endingOf } from "./reply-facts.ts";
import { canonicalToolId, unusedToolId } from "./wire-tool-ids.ts";

interface OpenPart {
  text: string;
  metadata: JsonRecord;
}

interface OpenCall {
  readonly id: string;
  readonly name: string;
  /** The input so far; empty when the pieces are not JSON and it comes whole at the end. */
  json: string;
  readonly isJson: boolean;
  isDone: boolean;
}

/** Follows the parts of one stream, of whichever version, and says what they mean as events of the port. */
export class ReplyReader {
  readonly content: ContentBlock[] = [];
  /** The provider's facts about the answer as a whole, as soon as it came. */
  finish: JsonRecord | undefined;
  /** Something of the answer has come: a failure from here on cuts it off. */
  hasBegun = false;
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

  /** The blocks that came whole: without a call that was broken off, where the call as a whole failed. */
  get complete(): readonly ContentBlock[] {
    return this.content.filter((block) => block.type !== "tool_use" || !isBrokenInput(block.input));
  }

  read(part: JsonRecord): readonly ModelEvent[] {
    const handler = typeof part.type === "string" ? HANDLERS[part.type] : undefined;
    if (handler === undefined) return [];
    if (part.type !== "raw" && part.type !== "ping") this.hasBegun = true;
    return handler(this, part);
  }

  /**
   * Throws the error of an error part, unless it is only the SDK's judgement of a complete answer: that no
   * tool was called though one was asked for. The answer then ends as its provider said.
   */
  overrule(error: unknown): void {
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
    // Some providers close a text only at the very end; what comes before a call stays before it.
    const said = [...this.#closeThoughts(), ...this.#closeTexts()];
    const { id, name } = this.#openCall(part);
    return [...said, { type: "tool-call-start", id, name }];
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
    const input = callInput(part.input);
    if (call.json === "" && Object.keys(input).length > 0) {
      events.push({ type: "tool-call-input", id: call.id, json: JSON.stringify(input) });
    }
    call.isDone = true;
    const block: ContentBlock = { type: "tool_use", id: call.id, name: call.name, input };
    return [...events, ...this.#complete(block, part.providerMetadata)];
  }

  serverResult(part: JsonRecord): readonly ModelEvent[] {
    // Ours have no way to run: an error of one says that the call itself was malformed, and that came before.
    if (part.providerExecuted !== true) return [];
    return this.#complete(serverResultBlock(part, canonicalToolId(idOf(part))), undefined);
  }

  file(part: JsonRecord): readonly ModelEvent[] {
    const block = fileBlock(part.file);
    return block === undefined ? [] : this.#complete(block, part.providerMetadata);
  }

  /** The step is over: what a server did not bother to close is closed. */
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

  /** Leaves thinking to its provider to close as long as a signature may still come. */
  #closeThoughts(): readonly ModelEvent[] {
    if (this.#dialect.flavour !== "compatible") return [];
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

/** Version 5 had `delta` in some places where the later ones have `text`. */
const pieceOf = (part: JsonRecord): string => stringField(part, "text") ?? stringField(part, "delta") ?? "";

/** The part that this one belongs to, with its metadata added: providers give it at any of the three. */
function extend(open: Map<string, OpenPart>, part: JsonRecord): OpenPart {
  const id = idOf(part);
  const found = open.get(id) ?? { text: "", metadata: {} };
  const metadata = part.providerMetadata;
  if (isRecord(metadata)) found.metadata = mergeOptions(found.metadata, metadata) ?? {};
  open.set(id, found);
  return found;
}

/** A text in the canonical form; a summary of the provider's own comes as text with a note. */
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
  if (dialect.flavour !== "anthropic") {
    return { type: "thinking", thinking, signature: packMemory({ maker: dialect.namespace, metadata }) };
  }
  const anthropic = metadata.anthropic;
  const data = stringField(anthropic, "redactedData");
  if (data !== undefined) return { type: "redacted_thinking", data };
  return { type: "thinking", thinking, signature: stringField(anthropic, "signature") ?? "" };
}

/** Holds what the block after it must bring back to its provider. Nothing, for most. */
function carrierBlock(metadata: unknown, dialect: Dialect): ThinkingBlock | undefined {
  const missed = missedMetadata(metadata);
  if (missed === undefined || dialect.flavour === "anthropic") return undefined;
  const memory = { maker: dialect.namespace, metadata: missed, isForNext: true };
  return { type: "thinking", thinking: "", signature: packMemory(memory) };
}

/** A picture that the model made. */
function fileBlock(file: unknown): ContentBlock | undefined {
  const data = stringField(file, "base64");
  if (data === undefined) return undefined;
  const mediaType = stringField(file, "mediaType") ?? "application/octet-stream";
  const type = mediaType.startsWith("image/") ? "image" : "document";
  return { type, source: { type: "base64", media_type: mediaType, data } };
}

/** A call that the provider made and answered itself. */
function serverCallBlock(part: JsonRecord, id: string): ContentBlock {
  const block = { type: "server_tool_use", id, name: part.toolName, input: callInput(part.input) };
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
