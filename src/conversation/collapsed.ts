import type { CollapseMark, Entry, UserEntry } from "./entry.ts";
import { isEntry, rawContent } from "./entry.ts";
import { contentText, field, stringField, stringListField } from "./untrusted.ts";

/** What stands where a span of old messages was collapsed: its summary, and which messages those were. */
export interface CollapsedSpan extends UserEntry {
  readonly collapsed: CollapseRecord;
}

export interface CollapseRecord {
  /** By which it can be expanded again. */
  readonly spanId: string;
  readonly messages: number;
  /** Everything that stood there, in its order: messages, and spans and markers of earlier times. */
  readonly uuids: readonly string[];
  /** What its messages held, and what the summary holds, in tokens. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** The model ties thinking to the history before it: that of messages after the span went with it. */
  readonly bindsThinking?: boolean;
  /** Results in it that had been cleared: where its messages are kept they are whole. */
  readonly clearedToolUseIds?: readonly string[];
  /** A compaction took it over, or a change of the host moved its line: its messages can be read but not put back. */
  readonly isSettled?: boolean;
}

/** One without a summary stands for nothing, whatever it claims. */
export function isCollapsedSpan(entry: Entry): entry is CollapsedSpan {
  if (!isEntry(entry) || entry.type !== "user") return false;
  return stringField(field(entry, "collapsed"), "spanId") !== undefined && hasText(entry);
}

const hasText = (entry: UserEntry): boolean => contentText(rawContent(entry)).trim() !== "";

/** Uuids of what this entry stands for; none where it is no span. */
export function collapsedUuids(entry: Entry): readonly string[] {
  return isCollapsedSpan(entry) ? stringListField(entry.collapsed, "uuids") : [];
}

export function isCollapseMark(entry: Entry): entry is CollapseMark {
  if (!isEntry(entry) || entry.type !== "system") return false;
  return entry.subtype === "collapse_committed" || entry.subtype === "collapse_expanded";
}

/** The spans that this line ends the commit of; none where it is no such line. */
export function committedSpanIds(entry: Entry): readonly string[] {
  return spanIdsOf(entry, "collapse_committed");
}

/** The spans that this line takes back; none where it is no such line. */
export function expandedSpanIds(entry: Entry): readonly string[] {
  return spanIdsOf(entry, "collapse_expanded");
}

function spanIdsOf(entry: Entry, subtype: CollapseMark["subtype"]): readonly string[] {
  if (!isCollapseMark(entry) || entry.subtype !== subtype) return [];
  return stringListField(entry.collapse, "spanIds");
}
