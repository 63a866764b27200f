import {
  contentBlocks,
  field,
  isRecord,
  type JsonRecord,
  stringField,
} from "@longhaul/core/internal/messages";
import type { ApiMessage, CacheControl, ContentBlock } from "@longhaul/core/messages";
import type { ApiRefusal } from "../../exchange.ts";
import { withoutMarks } from "../../prompt/block-equality.ts";
import { type Sealer, shortDigest } from "../../sealer.ts";
import { BETAS } from "../wording/betas.ts";
import { refusal, refuse } from "../wording/refuse.ts";
import type { PrefixWalk, SummarizedPrefix } from "./bound-prefix.ts";
import {
  asCompaction,
  blockPath,
  type CompactionBlock,
  type Conversation,
  hasSummary,
  keepBlocks,
} from "./conversation.ts";
import { toolChanges } from "./tool-changes.ts";

/** Default trigger of the edit `compact_20260112`, as documented. */
const DEFAULT_TRIGGER_TOKENS = 150_000;

/** Outcome of a summarizing call that returned no summary. The client sees the stop reason. */
interface NoSummary {
  readonly stopReason: "max_tokens" | "model_context_window_exceeded" | "tool_use" | "refusal" | "end_turn";
  readonly stopDetails?: JsonRecord;
}

/**
 * Function that writes the summary of a compaction. To simulate a model that answers without a summary,
 * return undefined or a blank text. To simulate a provider that cannot summarize now, throw {@link
 * compactionUnavailable}.
 */
export type Summarize = (
  messages: readonly ApiMessage[],
  instructions: string | undefined,
) => string | NoSummary | undefined;

/** Usage of a summarizing call. It is listed separately and never part of the top-level usage. */
interface CompactionIteration {
  readonly type: "compaction";
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_input_tokens: 0;
  readonly cache_creation_input_tokens: 0;
  readonly cache_creation: null;
}

export interface CompactionOutcome {
  readonly kind: "threshold" | "on-demand";
  /** Blocks at the start of the reply. */
  readonly blocks: readonly ContentBlock[];
  /** Stop reason of the reply if no answer follows the blocks. Otherwise undefined. */
  readonly end: { readonly stopReason: string; readonly stopDetails?: JsonRecord } | undefined;
  readonly iteration: CompactionIteration;
}

/** Creates the error that asks the client to retry. The summarizer of a test can throw this error. */
export const compactionUnavailable = (): ApiRefusal => refusal("compactionUnavailable");

interface Summarizer {
  readonly summarize: Summarize;
  readonly countText: (text: string) => number;
}

interface ThresholdEdit {
  readonly triggerTokens: number;
  readonly pauses: boolean;
  readonly instructions: string | undefined;
}

/** Reads the edit that compacts at a threshold. Returns undefined if the request has no such edit. */
export function readThresholdEdit(edits: readonly JsonRecord[]): ThresholdEdit | undefined {
  const edit = edits.find(({ type }) => type === "compact_20260112");
  if (edit === undefined) return undefined;
  const value = field(edit.trigger, "value");
  const triggerTokens = typeof value === "number" ? value : DEFAULT_TRIGGER_TOKENS;
  const pauses = edit.pause_after_compaction === true;
  return { triggerTokens, pauses, instructions: instructionsOf(edit) };
}

/**
 * Compacts at the threshold. If there is no summary, the compaction block has no content, and the answer
 * follows as usual.
 */
export function compactAtThreshold(
  shown: ShownMessages,
  edit: ThresholdEdit,
  summarizer: Summarizer,
): CompactionOutcome {
  const { content, iteration } = write(shown, edit.instructions, summarizer);
  const end = edit.pauses ? { stopReason: "compaction" } : undefined;
  return { kind: "threshold", blocks: [compactionBlock(content)], end, iteration };
}

interface ShownMessages {
  readonly messages: readonly ApiMessage[];
  readonly tokens: number;
}

interface CompactionRequest {
  readonly sent: Conversation;
  readonly shown: ShownMessages;
  readonly body: JsonRecord;
  /**
   * Walk to the end of the conversation. Undefined if the model does not bind thinking. After a summary by
   * such a model, kept thinking is invalid.
   */
  readonly walk: PrefixWalk | undefined;
}

/** Turns the whole conversation into one signed block, without an answer. */
export function compactOnDemand(
  { sent, shown, body, walk }: CompactionRequest,
  sealer: Sealer,
  summarizer: Summarizer,
): CompactionOutcome {
  const { summary, content, iteration } = write(shown, instructionsOf(body.compaction), summarizer);
  if (content === null) {
    const end = typeof summary === "object" ? summary : { stopReason: "end_turn" };
    return { kind: "on-demand", blocks: [], end, iteration };
  }
  const changes = toolChanges(sent.messages, sent.tools);
  const signature = signSummary(sealer, { content, toolChanges: changes }, walk);
  const block = compactionBlock(content, { signature, tool_changes: changes });
  return { kind: "on-demand", blocks: [block], end: { stopReason: "compaction" }, iteration };
}

/** Reads the instructions for the summary. Returns undefined for blank instructions. */
function instructionsOf(config: unknown): string | undefined {
  const instructions = isRecord(config) ? stringField(config, "instructions") : undefined;
  return instructions === undefined || instructions.trim() === "" ? undefined : instructions;
}

/** Calls the summarizer. Returns the summary and the usage of the call. */
function write(
  { messages, tokens }: ShownMessages,
  instructions: string | undefined,
  { summarize, countText }: Summarizer,
): {
  readonly summary: ReturnType<Summarize>;
  readonly content: string | null;
  readonly iteration: CompactionIteration;
} {
  const summary = summarize(messages, instructions);
  const content = typeof summary === "string" && summary.trim() !== "" ? summary : null;
  const iteration: CompactionIteration = {
    type: "compaction",
    input_tokens: tokens + countText(instructions ?? ""),
    output_tokens: countText(content ?? ""),
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 0,
    cache_creation: null,
  };
  return { summary, content, iteration };
}

const KIND = "compaction";
const FIELDS_BEFORE_DIGESTS = 5;

/** Creates a compaction block as the provider returns it. The client must send the block back unchanged. */
function compactionBlock(content: string | null, more: JsonRecord = {}): ContentBlock {
  const block: JsonRecord = { type: "compaction", content, encrypted_content: null, ...more };
  return block as unknown as ContentBlock;
}

/** Signs a summary: its text and the messages that it replaces. */
function signSummary(
  sealer: Sealer,
  summary: { readonly content: string; readonly toolChanges: unknown },
  /**
   * Walk to the end of the summarized messages. Undefined if the summarizing model does not bind thinking.
   */
  walk: PrefixWalk | undefined,
): string {
  return sealer.seal([
    KIND,
    shortDigest(summary.content),
    digestOfChanges(summary.toolChanges),
    walk?.toolsDigest ?? "",
    walk?.systemDigest ?? "",
    ...(walk?.digests ?? []),
  ]);
}

interface SummarySignature extends SummarizedPrefix {
  readonly contentDigest: string;
  readonly changesDigest: string;
}

export function readSummarySignature(sealer: Sealer, signature: string): SummarySignature | undefined {
  const seal = sealer.open(signature);
  if (seal === undefined || seal.fields[0] !== KIND) return undefined;
  const [, contentDigest = "", changesDigest = "", toolsDigest = "", systemDigest = ""] = seal.fields;
  const digests = seal.fields.slice(FIELDS_BEFORE_DIGESTS);
  return { contentDigest, changesDigest, toolsDigest, systemDigest, digests };
}

const digestOfChanges = (changes: unknown): string =>
  shortDigest(JSON.stringify(withoutMarks(changes ?? [])) ?? "");

interface FoundBlock {
  readonly message: number;
  readonly index: number;
  readonly block: CompactionBlock;
  readonly path: string;
}

/**
 * Returns the messages that the model sees. The last summary comes first and replaces everything before it.
 * Blocks of failed compactions are removed.
 */
export function resolveSummaries(messages: readonly ApiMessage[]): readonly ApiMessage[] {
  const found = findBlocks(messages);
  if (found.length === 0) return messages;
  const last = found.findLast(({ block }) => hasSummary(block));
  const shown = last === undefined ? messages : fromSummary(messages, last);
  return keepBlocks(shown, (block) => asCompaction(block) === undefined);
}

/**
 * Finds all compaction blocks. Loops by index for speed, because it reads the whole conversation of every
 * request.
 */
function findBlocks(messages: readonly ApiMessage[]): readonly FoundBlock[] {
  const found: FoundBlock[] = [];
  for (let message = 0; message < messages.length; message++) {
    const content = messages[message]?.content;
    if (typeof content === "string") continue;
    const blocks = contentBlocks(content);
    for (let index = 0; index < blocks.length; index++) {
      const given = blocks[index];
      const block = given === undefined ? undefined : asCompaction(given);
      if (block !== undefined) found.push({ message, index, block, path: blockPath(message, index) });
    }
  }
  return found;
}

/**
 * Refuses summaries that differ from those that the provider returned. Only summaries of threshold
 * compactions have no signature, so an unsigned summary requires the beta for threshold compaction.
 */
export function checkSummaries(
  messages: readonly ApiMessage[],
  sealer: Sealer,
  rules: { readonly betas: ReadonlySet<string>; readonly acceptsForeign: boolean },
): void {
  const needsSignature = !rules.betas.has(BETAS.thresholdCompaction);
  for (const { block, path } of findBlocks(messages)) {
    if (!hasSummary(block)) continue;
    const isSigned = typeof block.signature === "string";
    const signature = isSigned ? readSummarySignature(sealer, String(block.signature)) : undefined;
    if (signature !== undefined) checkSignature(block, signature, path);
    else if (isSigned ? !rules.acceptsForeign : needsSignature) refuse("compactionSignature", { path });
  }
}

function checkSignature(block: CompactionBlock, signature: SummarySignature, path: string): void {
  if (shortDigest(String(block.content)) !== signature.contentDigest) refuse("compactionContent", { path });
  if (digestOfChanges(block.tool_changes) !== signature.changesDigest) {
    refuse("compactionToolChanges", { path });
  }
}

function fromSummary(
  messages: readonly ApiMessage[],
  { message, index, block }: FoundBlock,
): readonly ApiMessage[] {
  const own = messages[message];
  const rest = contentBlocks(own?.content).slice(index + 1);
  const after = own === undefined || rest.length === 0 ? [] : [{ ...own, content: rest }];
  return [...summaryMessages(block), ...after, ...messages.slice(message + 1)];
}

/**
 * Returns the messages that replace everything before a compaction block: the summary, and the tool changes
 * before the block.
 */
export function summaryMessages(block: CompactionBlock): readonly ApiMessage[] {
  const text = typeof block.content === "string" ? block.content : "";
  const mark = block.cache_control as CacheControl | null | undefined;
  const content: ContentBlock[] = [{ type: "text", text, ...(mark == null ? {} : { cache_control: mark }) }];
  const changes = Array.isArray(block.tool_changes) ? block.tool_changes : [];
  const summary: ApiMessage = { role: "user", content };
  return changes.length === 0 ? [summary] : [summary, { role: "system", content: changes }];
}
