import { asList, isRecord, type JsonRecord } from "@longhaul/core/internal/messages";
import type { ApiMessage } from "@longhaul/core/messages";
import type { CatalogModel } from "../answer/catalog.ts";
import { refuse } from "../wording/refuse.ts";
import { idPrefix, isUserMessage, storedInputItem } from "./input-items.ts";

/** Writes the summary of a compaction. Anything but a text with content is a model that wrote no summary. */
export type WriteSummary = (messages: readonly ApiMessage[], instructions: string | undefined) => unknown;

/**
 * Share of the window at which a compaction starts if the request names no threshold. The reference names no
 * default.
 */
const DEFAULT_THRESHOLD_SHARE = 0.8;

/** Returns the tokens at which the request asks for a compaction. Undefined if it asks for none. */
export function compactThreshold(
  { context_management }: JsonRecord,
  model: CatalogModel,
): number | undefined {
  const entry = asList(context_management).find((one) => isRecord(one) && one.type === "compaction");
  if (!isRecord(entry)) return undefined;
  const { compact_threshold } = entry;
  return typeof compact_threshold === "number"
    ? compact_threshold
    : Math.floor(model.maxInputTokens * DEFAULT_THRESHOLD_SHARE);
}

/** Writes the summary of a conversation, or refuses the request if there is none. */
export function summaryOf(messages: readonly ApiMessage[], write: WriteSummary): string {
  const summary = write(messages, undefined);
  return typeof summary === "string" && summary.trim() !== "" ? summary : refuse("compactionFailed");
}

export const compactionItem = (id: string, encrypted_content: string): JsonRecord => ({
  id,
  type: "compaction",
  encrypted_content,
});

/** Returns the output of `POST /v1/responses/compact`: all messages of the user, then the compaction. */
export function compactedOutput(
  items: readonly JsonRecord[],
  compaction: JsonRecord,
  newId: (prefix: string) => string,
): readonly JsonRecord[] {
  return [...items.filter(isUserMessage).map((item) => storedInputItem(item, newId)), compaction];
}

export const COMPACTION_PREFIX: string = idPrefix("compaction");
