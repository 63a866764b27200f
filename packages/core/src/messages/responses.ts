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
import { field, figureField, firstString, stringField } from "./untrusted.ts";

/** Facts about responses of the model: the usage they report, who wrote them, and which calls wait for a result. */

/** All that the model read for this response. Cached tokens occupy the window as well. */
export function inputTokens(usage: Usage): number {
  return usage.input_tokens + (usage.cache_creation_input_tokens ?? 0) + (usage.cache_read_input_tokens ?? 0);
}

/** The usage an entry reports; undefined for other entries, synthetic ones and what a file got wrong. */
export function reportedUsage(entry: Entry): Usage | undefined {
  if (entry.type !== "assistant" || !entry.message || isSynthetic(entry)) return undefined;
  const usage = entry.message.usage;
  if (!usage || !Number.isFinite(usage.input_tokens) || !Number.isFinite(usage.output_tokens))
    return undefined;
  return inputTokens(usage) > 0 ? usage : undefined;
}

/** The model that wrote a response; undefined for other entries and for text in the model's name. */
export function respondingModel(entry: Entry | undefined): string | undefined {
  if (entry?.type !== "assistant" || isSynthetic(entry)) return undefined;
  return stringField(entry.message, "model");
}

/** The model that a boundary of ours records; undefined for other entries. */
export function recordedModel(entry: Entry): string | undefined {
  if (!isCompactBoundary(entry)) return undefined;
  return firstString(field(entry.compactMetadata, "longhaul"), "model");
}

/**
 * Some versions wrote a response down while it was still streaming: no stop reason, and an output
 * figure of a few tokens that was never brought up to date. The input figures are right all the same.
 */
export function isOutputProvisional(entry: AssistantEntry): boolean {
  return entry.message.stop_reason === null;
}

/** Tokens of the request that the usage of a line does not include, because the provider cleared them by itself. */
export function clearedBefore(entry: AssistantEntry): number {
  const tokens = field(entry, CLEARED_FIELD);
  return typeof tokens === "number" && Number.isFinite(tokens) ? Math.max(0, tokens) : 0;
}

/**
 * What a mark says that the last reported usage overstates: results that were cleared since, spans that were
 * collapsed, messages that were removed. Below 0 where something came back. Undefined for what is no such mark.
 */
export function savedTokens(entry: Entry): number | undefined {
  if (!isEntry(entry)) return undefined;
  if (isMicrocompactBoundary(entry)) return figureField(entry.microcompactMetadata, "tokensSaved");
  if (isSnipEnd(entry)) return figureField(entry.snip, "tokensSaved");
  return isCollapseMark(entry) ? figureField(entry.collapse, "tokensSaved") : undefined;
}

/**
 * Index of the newest response, where results of its calls follow that no model has seen. It and all after it belong
 * together. The number of entries where every result has been seen. A response is one even where it is stored as
 * several entries with results between them.
 */
export function unseenFrom(entries: readonly Entry[]): number {
  const results = new Set<string>();
  let [first, responseId] = [entries.length, undefined as string | undefined];
  let hasUnseen = false;
  for (let at = entries.length - 1; at >= 0; at--) {
    const entry = entries[at];
    if (!isEntry(entry)) continue;
    if (!showsModelSpoke(entry)) {
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
 * A response, or a summary of messages that a model has seen. An error made up by the host is neither. A marker of a
 * snip says nothing: it may stand for words of the user alone.
 */
export function showsModelSpoke(entry: Entry): boolean {
  return entry.type === "assistant" ? !isSynthetic(entry) : isSummaryEntry(entry);
}

/** True if the newest response waits for a result. Results that an earlier one never got do not count any more. */
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
