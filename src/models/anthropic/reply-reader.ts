import type { ContentBlock } from "../../conversation/message.ts";
import { asList, field, isRecord, type JsonRecord, stringField } from "../../conversation/untrusted.ts";
import { failureWords } from "../failure-words.ts";
import { ModelError, type ModelFailure } from "../model-error.ts";
import type { ContextEdit, ModelEvent, ModelReply, RequestChange } from "../port.ts";
import { fitToShow } from "../provider-words.ts";
import { type BlockReader, readBlock } from "./block-reader.ts";
import { mergeUsage, stopReasonFromWire, usageFromWire } from "./usage.ts";

/** Makes the port's events out of those on the wire. Throws for an answer that is a refusal. */
export interface ReplyReader {
  read(wire: unknown): readonly ModelEvent[];
  /** Blocks that are complete. */
  readonly content: readonly ContentBlock[];
  readonly hasEnded: boolean;
}

interface ReplyState {
  id: string;
  model: string;
  usage: JsonRecord;
  stopReason: unknown;
  stopDetails: unknown;
  appliedEdits: readonly ContextEdit[];
  transformations: readonly unknown[];
  hasEnded: boolean;
  readonly content: ContentBlock[];
  /** The places that the blocks of `content` have on the wire. */
  readonly places: number[];
  readonly open: Map<unknown, BlockReader>;
}

export function createReplyReader(model: string, changes: readonly RequestChange[]): ReplyReader {
  const state: ReplyState = {
    id: "",
    model,
    usage: {},
    stopReason: undefined,
    stopDetails: undefined,
    appliedEdits: [],
    transformations: [],
    hasEnded: false,
    content: [],
    places: [],
    open: new Map(),
  };
  return {
    content: state.content,
    get hasEnded(): boolean {
      return state.hasEnded;
    },
    read: (wire) => readEvent(state, wire, changes),
  };
}

function readEvent(
  state: ReplyState,
  wire: unknown,
  changes: readonly RequestChange[],
): readonly ModelEvent[] {
  switch (field(wire, "type")) {
    case "message_start":
      return begin(state, field(wire, "message"));
    case "content_block_start":
      return beginBlock(state, field(wire, "index"), field(wire, "content_block"));
    case "content_block_delta":
      return state.open.get(field(wire, "index"))?.delta(field(wire, "delta")) ?? [];
    case "content_block_stop":
      return endBlock(state, field(wire, "index"));
    case "message_delta":
      takeDelta(state, wire);
      return [];
    case "message_stop":
      return end(state, changes);
    case "ping":
      return [{ type: "keep-alive" }];
    default:
      return [];
  }
}

function begin(state: ReplyState, message: unknown): readonly ModelEvent[] {
  state.id = stringField(message, "id") ?? "";
  state.model = stringField(message, "model") ?? state.model;
  state.stopReason = field(message, "stop_reason");
  takeShared(state, message);
  return [{ type: "start", id: state.id, model: state.model }];
}

function beginBlock(state: ReplyState, index: unknown, begun: unknown): readonly ModelEvent[] {
  if (!isRecord(begun)) return [];
  const reader = readBlock(begun);
  state.open.set(index, reader);
  return reader.start();
}

function endBlock(state: ReplyState, index: unknown): readonly ModelEvent[] {
  const block = state.open.get(index)?.finish();
  state.open.delete(index);
  if (block === undefined) return [];
  // Blocks that come side by side may end in another order than they stand in.
  const place = typeof index === "number" ? index : Number.POSITIVE_INFINITY;
  const after = state.places.findIndex((other) => other > place);
  const at = after < 0 ? state.places.length : after;
  state.places.splice(at, 0, place);
  state.content.splice(at, 0, block);
  return [{ type: "block", block }];
}

function takeDelta(state: ReplyState, wire: unknown): void {
  const delta = field(wire, "delta");
  state.stopReason = field(delta, "stop_reason") ?? state.stopReason;
  state.stopDetails = field(delta, "stop_details") ?? state.stopDetails;
  takeShared(state, wire);
}

/** What both the first and the last events may carry. */
function takeShared(state: ReplyState, wire: unknown): void {
  state.usage = mergeUsage(state.usage, field(wire, "usage"));
  const applied = field(field(wire, "context_management"), "applied_edits");
  if (Array.isArray(applied)) state.appliedEdits = applied.filter(isEdit);
  const transformations = asList(field(wire, "input_transformations"));
  if (transformations.length > 0) state.transformations = transformations;
}

const isEdit = (value: unknown): value is ContextEdit => isRecord(value) && typeof value.type === "string";

function end(state: ReplyState, changes: readonly RequestChange[]): readonly ModelEvent[] {
  // Some servers that speak this API never close their blocks.
  const late = [...state.open.keys()].flatMap((index) => endBlock(state, index));
  state.hasEnded = true;
  if (state.stopReason === "refusal") throw refusal(state);
  const reply: ModelReply = {
    id: state.id,
    model: state.model,
    content: [...state.content],
    stopReason: stopReasonFromWire(state.stopReason),
    usage: usageFromWire(state.usage),
    appliedEdits: state.appliedEdits,
    changes: [...changes, ...changesOfProvider(state.transformations)],
  };
  return [...late, { type: "end", reply }];
}

function refusal(state: ReplyState): ModelError {
  const category = stringField(state.stopDetails, "category");
  const explanation = stringField(state.stopDetails, "explanation");
  const failure: ModelFailure = { kind: "refused", ...(category === undefined ? {} : { category }) };
  const { message, ...remedy } = failureWords(failure, state.model, explanation && fitToShow(explanation));
  return new ModelError(failure, message, { ...remedy, partial: [...state.content] });
}

/** One change per reason. Mismatches that were merely noticed changed nothing. */
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
