import type { ApiMessage } from "../../../conversation/message.ts";
import { field, isRecord, type JsonRecord, stringField } from "../../../conversation/untrusted.ts";
import type { ApiRefusal, ReplyBlock } from "../exchange.ts";
import { refusal } from "../wording/refuse.ts";
import type { PrefixWalk } from "./bound-prefix.ts";
import { compactionBlock, signSummary } from "./compaction-block.ts";
import type { Conversation } from "./conversation.ts";
import type { Sealer } from "./seal.ts";
import { toolChanges } from "./tool-changes.ts";

/** The trigger of an edit that names none, as documented. */
const DEFAULT_TRIGGER_TOKENS = 150_000;

/** The inner call ended without a summary; the client sees why. */
export interface NoSummary {
  readonly stopReason: "max_tokens" | "model_context_window_exceeded" | "tool_use" | "refusal" | "end_turn";
  readonly stopDetails?: JsonRecord;
}

/**
 * Writes the summary of a compaction. Undefined or blank: the model answered with something else. To play a
 * provider that cannot summarise now, throw {@link compactionUnavailable}.
 */
export type Summarise = (
  messages: readonly ApiMessage[],
  instructions: string | undefined,
) => string | NoSummary | undefined;

/** The cost of a summarising call: listed by itself, never part of the usage at the top. */
export interface CompactionIteration {
  readonly type: "compaction";
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly cache_creation: null;
}

export interface CompactionOutcome {
  readonly kind: "threshold" | "on-demand";
  /** To be put first in the reply. */
  readonly blocks: readonly ReplyBlock[];
  /** Set when nothing is answered after them. */
  readonly end: { readonly stopReason: string; readonly stopDetails?: JsonRecord } | undefined;
  readonly iteration: CompactionIteration;
}

/** To be thrown by a test's summariser: the answer that asks the client to try again. */
export const compactionUnavailable = (): ApiRefusal => refusal("compactionUnavailable");

export interface Summariser {
  readonly summarise: Summarise;
  readonly countText: (text: string) => number;
}

export interface ThresholdEdit {
  readonly triggerTokens: number;
  readonly pauses: boolean;
  readonly instructions: string | undefined;
}

/** Undefined when the request has no such edit. */
export function readThresholdEdit(edits: readonly JsonRecord[]): ThresholdEdit | undefined {
  const edit = edits.find(({ type }) => type === "compact_20260112");
  if (edit === undefined) return undefined;
  const value = field(edit.trigger, "value");
  const triggerTokens = typeof value === "number" ? value : DEFAULT_TRIGGER_TOKENS;
  const pauses = edit.pause_after_compaction === true;
  return { triggerTokens, pauses, instructions: instructionsOf(edit) };
}

/** A compaction that finds no summary leaves a block without content, and the answer goes on regardless. */
export function compactAtThreshold(
  shown: { readonly messages: readonly ApiMessage[]; readonly tokens: number },
  edit: ThresholdEdit,
  { summarise, countText }: Summariser,
): CompactionOutcome {
  const summary = summarise(shown.messages, edit.instructions);
  const content = typeof summary === "string" && summary.trim() !== "" ? summary : null;
  return {
    kind: "threshold",
    blocks: [compactionBlock(content)],
    end: edit.pauses ? { stopReason: "compaction" } : undefined,
    iteration: iterationOf(shown.tokens, content, edit.instructions, countText),
  };
}

export interface CompactionRequest {
  readonly sent: Conversation;
  readonly shown: { readonly messages: readonly ApiMessage[]; readonly tokens: number };
  readonly body: JsonRecord;
  /** Undefined when the model does not bind thinking: kept thinking does not outlive such a summary. */
  readonly walk: PrefixWalk | undefined;
}

/** The whole conversation becomes one signed block, and nothing is answered. */
export function compactOnDemand(
  { sent, shown, body, walk }: CompactionRequest,
  sealer: Sealer,
  { summarise, countText }: Summariser,
): CompactionOutcome {
  const instructions = instructionsOf(body.compaction);
  const summary = summarise(shown.messages, instructions);
  const content = typeof summary === "string" && summary.trim() !== "" ? summary : null;
  const iteration = iterationOf(shown.tokens, content, instructions, countText);
  if (content === null) {
    const end = typeof summary === "object" ? summary : { stopReason: "end_turn" };
    return { kind: "on-demand", blocks: [], end, iteration };
  }
  const changes = toolChanges(sent.messages, sent.tools);
  const signature = signSummary(sealer, { content, toolChanges: changes }, walk);
  const block = compactionBlock(content, { signature, tool_changes: changes });
  return { kind: "on-demand", blocks: [block], end: { stopReason: "compaction" }, iteration };
}

/** Empty instructions count as none. */
function instructionsOf(config: unknown): string | undefined {
  const instructions = isRecord(config) ? stringField(config, "instructions") : undefined;
  return instructions === undefined || instructions.trim() === "" ? undefined : instructions;
}

function iterationOf(
  tokens: number,
  content: string | null,
  instructions: string | undefined,
  countText: (text: string) => number,
): CompactionIteration {
  return {
    type: "compaction",
    input_tokens: tokens + countText(instructions ?? ""),
    output_tokens: countText(content ?? ""),
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 0,
    cache_creation: null,
  };
}
