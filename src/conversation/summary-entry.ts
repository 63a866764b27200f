import type { AssistantEntry, Entry, UserEntry } from "./entry.ts";
import { field } from "./fields.ts";

/** What stands in for messages that were compacted away: our own text, or the provider's signed block. */
export type SummaryEntry = UserEntry | (AssistantEntry & { readonly isCompactSummary: true });

export function isSummaryEntry(entry: Entry): entry is SummaryEntry {
  return (entry.type === "user" || entry.type === "assistant") && field(entry, "isCompactSummary") === true;
}
