import {
  type AssistantEntry,
  CLEARED_FIELD,
  type Entry,
  entryBlocks,
  isCompactBoundary,
  isEntry,
  isMicrocompactBoundary,
  isSummaryEntry,
  isSynthetic,
  responseIdOf,
  type Usage,
} from "./entry.ts";
import type { ToolResultBlock } from "./message.ts";
import { isCleared, isCollapseMark, isSnipEnd } from "./stand-ins.ts";
import { field, firstString, numberField, stringField } from "./untrusted.ts";

/** Facts about model responses: their reported usage, their model, and their open tool calls. */

/** Returns all tokens that the model read for this response, including cached tokens. */
export function inputTokens(usage: Usage): number {
  return usage.input_tokens + (usage.cache_creation_input_tokens ?? 0) + (usage.cache_read_input_tokens ?? 0);
}

/**
 * Returns the usage that an entry reports. Returns undefined for synthetic entries, for invalid figures and
 * for other entry types.
 */
export function reportedUsage(entry: Entry): Usage | undefined {
  if (entry.type !== "assistant" || !entry.message || isSynthetic(entry)) return undefined;
  const usage = entry.message.usage;
  if (!usage || !Number.isFinite(usage.input_tokens) || !Number.isFinite(usage.output_tokens))
    return undefined;
  return inputTokens(usage) > 0 ? usage : undefined;
}

/** Returns the model that wrote a response. Returns undefined for other entries and for synthetic text. */
export function respondingModel(entry: Entry | undefined): string | undefined {
  if (entry?.type !== "assistant" || isSynthetic(entry)) return undefined;
  return stringField(entry.message, "model");
}

/** Returns the model that one of our boundaries records. Returns undefined for other entries. */
export function recordedModel(entry: Entry): string | undefined {
  if (!isCompactBoundary(entry)) return undefined;
  return firstString(field(entry.compactMetadata, "longhaul"), "model");
}

/**
 * Returns true if the output figure is not final. Some versions wrote a response while it was still
 * streaming. Such a response has no stop reason. Its output is a few tokens and was never updated, but its
 * input figures are correct.
 */
export function isOutputProvisional(entry: AssistantEntry): boolean {
  return entry.message.stop_reason === null;
}

/**
 * Returns the tokens of the request that the provider cleared. The usage of the line does not include them.
 */
export function clearedTokensOf(entry: AssistantEntry): number {
  const tokens = field(entry, CLEARED_FIELD);
  return typeof tokens === "number" && Number.isFinite(tokens) ? Math.max(0, tokens) : 0;
}

/**
 * Returns the number of tokens by which the last usage report is too high. The reason is the change that this
 * mark records: cleared results, collapsed spans or removed messages. The result is negative if something was
 * restored. Returns undefined for other entries.
 */
export function savedTokensOf(entry: Entry): number | undefined {
  if (!isEntry(entry)) return undefined;
  if (isMicrocompactBoundary(entry)) return numberField(entry.microcompactMetadata, "tokensSaved");
  if (isSnipEnd(entry)) return numberField(entry.snip, "tokensSaved");
  return isCollapseMark(entry) ? numberField(entry.collapse, "tokensSaved") : undefined;
}

/**
 * If no model has seen the results of the newest response's tool calls yet, returns the index of that
 * response. The response and everything after it belong together. If all results have been seen, returns the
 * number of entries. Several entries with the same response id count as one response.
 */
export function firstUnseenIndex(entries: readonly Entry[]): number {
  const results = new Set<string>();
  let [first, responseId] = [entries.length, undefined as string | undefined];
  let hasUnseen = false;
  for (let at = entries.length - 1; at >= 0; at--) {
    const entry = entries[at];
    if (!isEntry(entry)) continue;
    if (!isModelOutput(entry)) {
      for (const block of resultsIn(entry)) if (!isCleared(block)) results.add(block.tool_use_id);
      continue;
    }
    if (entry.type !== "assistant" || isSummaryEntry(entry)) break;
    const id = responseIdOf(entry);
    const isFirstFound = first === entries.length;
    if (!isFirstFound && (id === undefined || id !== responseId)) break;
    [first, responseId] = [at, id];
    hasUnseen ||= entryBlocks(entry).some((block) => block.type === "tool_use" && results.has(block.id));
  }
  return hasUnseen ? first : entries.length;
}

/**
 * Returns true for a response, or for a summary of messages that a model has seen. An error text from the
 * host is neither. A snip marker does not count, because the messages that it replaces may all be user
 * messages.
 */
export function isModelOutput(entry: Entry): boolean {
  return entry.type === "assistant" ? !isSynthetic(entry) : isSummaryEntry(entry);
}

/**
 * Returns true if the newest response has a tool call without a result. Missing results of earlier responses
 * do not count.
 */
export function hasOpenCalls(entries: readonly Entry[]): boolean {
  const answered = new Set<string>();
  let newest: { readonly id: string | undefined } | undefined;
  for (let at = entries.length - 1; at >= 0; at--) {
    const entry = entries[at];
    if (!isEntry(entry)) continue;
    for (const block of resultsIn(entry)) answered.add(block.tool_use_id);
    if (entry.type !== "assistant") continue;
    const id = responseIdOf(entry);
    if (newest !== undefined && (id === undefined || id !== newest.id)) return false;
    newest = { id };
    const isOpen = entryBlocks(entry).some((block) => block.type === "tool_use" && !answered.has(block.id));
    if (isOpen) return true;
  }
  return false;
}

const resultsIn = (entry: Entry): readonly ToolResultBlock[] =>
  entry.type === "user" ? entryBlocks(entry).filter((block) => block.type === "tool_result") : [];
