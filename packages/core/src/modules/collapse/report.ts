import type { Entry } from "../../messages/entry.ts";
import { rawContent } from "../../messages/entry.ts";
import { type CollapsedSpan, isCollapsedSpan, isSettled } from "../../messages/stand-ins.ts";
import { contentText, numberField } from "../../messages/untrusted.ts";
import { countOriginalMessages } from "../../request/flatten/count-messages.ts";

/** A span in the form that users see. */
export interface SpanReport {
  readonly spanId: string;
  readonly messages: number;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** First line of the summary itself, without the text that we add around it. */
  readonly firstLine: string;
  /** False once a compaction has absorbed the span. */
  readonly canBeExpanded: boolean;
}

/** Lists the spans of a conversation, oldest first. */
export function collapsedIn(entries: readonly Entry[]): readonly SpanReport[] {
  return entries.filter(isCollapsedSpan).map(spanReport);
}

export function spanReport(span: CollapsedSpan): SpanReport {
  const { collapsed } = span;
  return {
    spanId: collapsed.spanId,
    messages: countOriginalMessages([span]),
    tokensBefore: numberField(collapsed, "tokensBefore"),
    tokensAfter: numberField(collapsed, "tokensAfter"),
    firstLine: firstLineOf(contentText(rawContent(span))),
    canBeExpanded: !isSettled(span),
  };
}

/**
 * Returns the first line of a span's own text. Skips headings and the line in brackets that we add above
 * them.
 */
function firstLineOf(text: string): string {
  const lines = text.split("\n").map((line) => line.trim());
  return (
    lines.find((line) => line !== "" && !/^(?:#|\[These notes (?:replace|stand for) )/.test(line)) ??
    lines[0] ??
    ""
  );
}
