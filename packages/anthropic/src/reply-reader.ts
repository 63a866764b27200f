import {
  asList,
  field,
  isRecord,
  type JsonRecord,
  numberField,
  stringField,
} from "@longhaul/core/internal/messages";
import { createModelError, parsedInput, sanitizeErrorText } from "@longhaul/core/internal/models";
import type { ContentBlock, Usage } from "@longhaul/core/messages";
import type {
  ContextEdit,
  ModelError,
  ModelEvent,
  ModelFailure,
  ModelReply,
  ModelUsage,
  RequestChange,
  StopReason,
  UsageIteration,
} from "@longhaul/core/models";

/** Converts wire events into the port's events. */
export class ReplyReader {
  /** Complete blocks. */
  readonly content: ContentBlock[] = [];
  hasEnded = false;
  /** Wire index of each block in `content`. */
  readonly #places: number[] = [];
  readonly #open = new Map<unknown, BlockReader>();
  readonly #changes: readonly RequestChange[];
  #id = "";
  #model: string;
  #usage: JsonRecord = {};
  #stopReason: unknown;
  #stopDetails: unknown;
  #appliedEdits: readonly ContextEdit[] = [];
  #transformations: readonly unknown[] = [];

  /** @param changes parts that the sent request lacks. The reader reports them with the reply. */
  constructor(model: string, changes: readonly RequestChange[]) {
    this.#model = model;
    this.#changes = changes;
  }

  /** Reads one wire event. Throws if the reply is a refusal. */
  read(wire: unknown): readonly ModelEvent[] {
    switch (field(wire, "type")) {
      case "message_start":
        return this.#begin(field(wire, "message"));
      case "content_block_start":
        return this.#beginBlock(field(wire, "index"), field(wire, "content_block"));
      case "content_block_delta":
        return this.#open.get(field(wire, "index"))?.delta(field(wire, "delta")) ?? [];
      case "content_block_stop":
        return this.#endBlock(field(wire, "index"));
      case "message_delta":
        this.#takeDelta(wire);
        return [];
      case "message_stop":
        return this.#end();
      case "ping":
        return [{ type: "keep-alive" }];
      default:
        return [];
    }
  }

  #begin(message: unknown): readonly ModelEvent[] {
    this.#id = stringField(message, "id") ?? "";
    this.#model = stringField(message, "model") ?? this.#model;
    this.#stopReason = field(message, "stop_reason");
    this.#takeShared(message);
    return [{ type: "start", id: this.#id, model: this.#model }];
  }

  #beginBlock(index: unknown, begun: unknown): readonly ModelEvent[] {
    if (!isRecord(begun)) return [];
    const reader = readBlock(begun);
    this.#open.set(index, reader);
    return reader.start();
  }

  #endBlock(index: unknown): readonly ModelEvent[] {
    const block = this.#open.get(index)?.finish();
    this.#open.delete(index);
    if (block === undefined) return [];
    // Blocks that arrive interleaved may end in a different order than their indexes.
    const place = typeof index === "number" ? index : Number.POSITIVE_INFINITY;
    const after = this.#places.findIndex((other) => other > place);
    const at = after < 0 ? this.#places.length : after;
    this.#places.splice(at, 0, place);
    this.content.splice(at, 0, block);
    return [{ type: "block", block }];
  }

  #takeDelta(wire: unknown): void {
    const delta = field(wire, "delta");
    this.#stopReason = field(delta, "stop_reason") ?? this.#stopReason;
    this.#stopDetails = field(delta, "stop_details") ?? this.#stopDetails;
    this.#takeShared(wire);
  }

  /** Reads fields that both the first and the last events may carry. */
  #takeShared(wire: unknown): void {
    this.#usage = mergeUsage(this.#usage, field(wire, "usage"));
    const applied = field(field(wire, "context_management"), "applied_edits");
    if (Array.isArray(applied)) this.#appliedEdits = applied.filter(isEdit);
    const transformations = asList(field(wire, "input_transformations"));
    if (transformations.length > 0) this.#transformations = transformations;
  }

  #end(): readonly ModelEvent[] {
    // Some servers that implement this API never close their blocks.
    const late = [...this.#open.keys()].flatMap((index) => this.#endBlock(index));
    this.hasEnded = true;
    if (this.#stopReason === "refusal") throw this.#refusal();
    const reply: ModelReply = {
      id: this.#id,
      model: this.#model,
      content: [...this.content],
      stopReason: STOP_REASONS.has(this.#stopReason) ? (this.#stopReason as StopReason) : "other",
      usage: usageFromWire(this.#usage),
      appliedEdits: this.#appliedEdits,
      changes: [...this.#changes, ...changesOfProvider(this.#transformations)],
    };
    return [...late, { type: "end", reply }];
  }

  #refusal(): ModelError {
    const category = stringField(this.#stopDetails, "category");
    const explanation = stringField(this.#stopDetails, "explanation");
    const failure: ModelFailure = { kind: "refused", ...(category === undefined ? {} : { category }) };
    return createModelError(failure, this.#model, {
      providerMessage: explanation && sanitizeErrorText(explanation),
      partial: [...this.content],
    });
  }
}

/** Known stop reasons. The API may add others. */
const STOP_REASONS: ReadonlySet<unknown> = new Set<StopReason>([
  "end_turn",
  "max_tokens",
  "stop_sequence",
  "tool_use",
  "pause_turn",
  "compaction",
  "model_context_window_exceeded",
]);

const isEdit = (value: unknown): value is ContextEdit => isRecord(value) && typeof value.type === "string";

/** Lists one change per reason. Skips mismatches that the provider noticed without changing anything. */
function changesOfProvider(transformations: readonly unknown[]): readonly RequestChange[] {
  const dropped = new Map<string, number>();
  for (const transformation of transformations) {
    if (field(transformation, "type") !== "thinking_dropped") continue;
    const reason = stringField(transformation, "reason") ?? "unknown";
    dropped.set(reason, (dropped.get(reason) ?? 0) + 1);
  }
  return [...dropped].map(([reason, blocks]) => ({
    type: "thinking-left-out",
    blocks,
    reason: `dropped by the provider: ${reason}`,
  }));
}

/** Merges usage. Later figures replace earlier ones. Fields that a later event omits keep their values. */
function mergeUsage(earlier: JsonRecord, later: unknown): JsonRecord {
  if (!isRecord(later)) return earlier;
  const said = Object.entries(later).filter(([, value]) => value !== null && value !== undefined);
  return { ...earlier, ...Object.fromEntries(said) };
}

/**
 * Converts usage. Keeps fields that we do not name (cache lifetimes, service tier …) for callers that know
 * them.
 */
function usageFromWire(wire: JsonRecord): ModelUsage {
  const { iterations, ...rest } = wire;
  return {
    ...rest,
    ...tokensFromWire(wire),
    cache_creation_input_tokens: numberField(wire, "cache_creation_input_tokens"),
    cache_read_input_tokens: numberField(wire, "cache_read_input_tokens"),
    ...(Array.isArray(iterations) ? { iterations: iterations.filter(isRecord).map(iterationFromWire) } : {}),
  };
}

const iterationFromWire = (wire: JsonRecord): UsageIteration => ({
  ...mergeUsage({}, wire),
  type: stringField(wire, "type") ?? "message",
  ...tokensFromWire(wire),
});

const tokensFromWire = (wire: JsonRecord): Usage => ({
  input_tokens: numberField(wire, "input_tokens"),
  output_tokens: numberField(wire, "output_tokens"),
});

/** Reads one block of a reply while it arrives. */
interface BlockReader {
  /** Returns events for the content in the block's start event. */
  start(): readonly ModelEvent[];
  delta(delta: unknown): readonly ModelEvent[];
  /**
   * Returns the whole block. For an empty block, returns undefined, because the API refuses an empty text
   * block in the next request.
   */
  finish(): ContentBlock | undefined;
}

function readBlock(begun: JsonRecord): BlockReader {
  switch (begun.type) {
    case "text":
      return textReader(begun);
    case "thinking":
      return thinkingReader(begun);
    case "tool_use":
      return callReader(begun, true);
    case "server_tool_use":
    case "mcp_tool_use":
      return callReader(begun, false);
    default:
      return wholeReader(begun);
  }
}

function textReader(begun: JsonRecord): BlockReader {
  let text = stringField(begun, "text") ?? "";
  let citations = asList(begun.citations);
  return {
    start: () => pieces("text", text),
    delta: (delta) => {
      if (field(delta, "type") === "citations_delta") citations = [...citations, field(delta, "citation")];
      const piece = stringField(delta, "text") ?? "";
      text += piece;
      return pieces("text", piece);
    },
    finish: () => {
      if (text === "") return undefined;
      return { ...begun, type: "text", text, ...(citations.length === 0 ? {} : { citations }) };
    },
  };
}

function thinkingReader(begun: JsonRecord): BlockReader {
  let thinking = stringField(begun, "thinking") ?? "";
  let signature = stringField(begun, "signature") ?? "";
  return {
    start: () => pieces("thinking", thinking),
    delta: (delta) => {
      signature = stringField(delta, "signature") ?? signature;
      const piece = stringField(delta, "thinking") ?? "";
      thinking += piece;
      return pieces("thinking", piece);
    },
    finish: () => ({ ...begun, type: "thinking", thinking, signature }),
  };
}

/**
 * Reads a tool call.
 * @param isOurs true if the caller runs the tool. For tools that the provider runs, only the blocks are
 * reported.
 */
function callReader(begun: JsonRecord, isOurs: boolean): BlockReader {
  const id = stringField(begun, "id") ?? "";
  const name = stringField(begun, "name") ?? "";
  const whole = isRecord(begun.input) && Object.keys(begun.input).length > 0 ? begun.input : undefined;
  let json = "";
  const inputEvents = (piece: string): readonly ModelEvent[] =>
    isOurs && piece !== "" ? [{ type: "tool-call-input", id, json: piece }] : [];
  return {
    start: () => {
      const begin: readonly ModelEvent[] = isOurs ? [{ type: "tool-call-start", id, name }] : [];
      return whole === undefined ? begin : [...begin, ...inputEvents(JSON.stringify(whole))];
    },
    delta: (delta) => {
      const piece = stringField(delta, "partial_json") ?? "";
      json += piece;
      return whole === undefined ? inputEvents(piece) : [];
    },
    finish: () => ({ ...begun, input: whole ?? parsedInput(json) }) as unknown as ContentBlock,
  };
}

/**
 * Reads results of server tools and unknown block types, which arrive complete. A summary written at the
 * threshold arrives as one delta with the whole text. A summary written on demand is complete in the start
 * event.
 */
function wholeReader(begun: JsonRecord): BlockReader {
  let block = begun;
  return {
    start: () => [],
    delta: (delta) => {
      if (field(delta, "type") === "compaction_delta" && isRecord(delta)) {
        const { type: _, ...fields } = delta;
        block = { ...block, ...fields };
      }
      return [];
    },
    finish: () => block as unknown as ContentBlock,
  };
}

const pieces = (type: "text" | "thinking", text: string): readonly ModelEvent[] =>
  text === "" ? [] : [{ type, text }];
