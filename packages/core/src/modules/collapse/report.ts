import type { Entry } from "../../messages/entry.ts";
import { rawContent } from "../../messages/entry.ts";
import { type CollapsedSpan, isCollapsedSpan, isSettled } from "../../messages/stand-ins.ts";
import { contentText, figureField } from "../../messages/untrusted.ts";
import { messagesBehind } from "../../request/flatten/count-messages.ts";

/** A span as people see it. */
export interface SpanReport {
  readonly spanId: string;
  readonly messages: number;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Of what the summary says, without our words around it. */
  readonly firstLine: string;
  /** Not once a compaction has taken it over. */
  readonly canBeExpanded: boolean;
}

/** The spans that stand in a conversation, oldest first. */
export function collapsedIn(entries: readonly Entry[]): readonly SpanReport[] {
  return entries.filter(isCollapsedSpan).map(spanReport);
}

export function spanReport(span: CollapsedSpan): SpanReport {
  const { collapsed } = span;
  return {
    spanId: collapsed.spanId,
    messages: messagesBehind([span]),
    tokensBefore: figureField(collapsed, "tokensBefore"),
    tokensAfter: figureField(collapsed, "tokensAfter"),
    firstLine: firstLineOf(contentText(rawContent(span))),
    canBeExpanded: !isSettled(span),
  };
}

/** Headings say what is below them, and our own line in brackets stands above them all. */
function firstLineOf(text: string): string {
  const lines = text.split("\n").map((line) => line.trim());
  return lines.find((line) => line !== "" && !/^(?:#|\[These notes stand for)/.test(line)) ?? lines[0] ?? "";
}
