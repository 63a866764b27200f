import { contentText, isRecord, isSummaryEntry } from "@longhaul/core/internal/messages";
import { unwrapSummary, withoutQuotedFacts } from "@longhaul/core/internal/summary";
import type { Entry } from "@longhaul/core/messages";
import { flatten } from "@longhaul/core/request";

/** Texts of a context. An exam grades the claims of a summary, and kept messages claim nothing. */
export interface ContextText {
  /** False if the context has no summary, as after a policy that only removes messages. */
  readonly hasSummary: boolean;
  /** Text of the summaries as their author wrote them. */
  readonly summary: string;
  /** The same text with the facts that longhaul quoted from the transcript. */
  readonly withFacts: string;
  /** All other text of the next request: kept messages and restored content. */
  readonly rest: string;
}

export function contextTextOf(entries: readonly Entry[]): ContextText {
  // The sentences that a program writes around a summary are not part of it.
  const summaries = entries
    .filter(isSummaryEntry)
    .map(({ message }) => unwrapSummary(contentText(message?.content)));
  const rest = entries.filter((entry) => !isSummaryEntry(entry));
  return {
    hasSummary: summaries.length > 0,
    summary: summaries.map(withoutQuotedFacts).join("\n\n"),
    withFacts: summaries.join("\n\n"),
    rest: textOf(rest),
  };
}

/** Returns the text that the model would see in these entries: all strings of all blocks. */
function textOf(entries: readonly Entry[]): string {
  if (entries.length === 0) return "";
  return flatten(entries)
    .flatMap(({ content }) => [...stringsIn(content)])
    .join("\n");
}

/** Names of block fields that contain types, ids or encoded data instead of readable text. */
const NON_TEXT_FIELDS: ReadonlySet<string> = new Set([
  "type",
  "id",
  "tool_use_id",
  "signature",
  "data",
  "source",
]);

function* stringsIn(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  else if (Array.isArray(value)) for (const item of value) yield* stringsIn(item);
  else if (isRecord(value)) {
    for (const [name, item] of Object.entries(value)) if (!NON_TEXT_FIELDS.has(name)) yield* stringsIn(item);
  }
}
