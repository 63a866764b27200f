import type { Entry } from "../../conversation/entry.ts";
import { rawContent } from "../../conversation/entry.ts";
import { messagesBehind } from "../../conversation/flatten/count-messages.ts";
import { type CollapsedSpan, isCollapsedSpan, isSettled } from "../../conversation/stand-ins.ts";
import { contentText, figureField } from "../../conversation/untrusted.ts";

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
