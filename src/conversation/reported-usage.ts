import { isCollapseMark } from "./collapsed.ts";
import {
  type AssistantEntry,
  CLEARED_FIELD,
  type Entry,
  isCompactBoundary,
  isEntry,
  isMicrocompactBoundary,
  isSynthetic,
  type Usage,
} from "./entry.ts";
import { isSnipEnd } from "./snipped.ts";
import { field, figureField, firstString, stringField } from "./untrusted.ts";

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
