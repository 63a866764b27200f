import { collapsedIn, type SpanReport, spanReport } from "../compact/collapse/report.ts";
import { type CollapsedSpan, isCollapsedSpan } from "../conversation/collapsed.ts";
import type { Entry } from "../conversation/entry.ts";
import { LonghaulError } from "../errors.ts";
import { messagesOfSpan } from "../host/session-history.ts";
import type { Session } from "../transcript/session.ts";

/** The shape that `inspect --span --json` prints. */
export interface SpanMessagesReport extends SpanReport {
  /** What it stands for, as it is in the file. */
  readonly entries: readonly Entry[];
}

/** The spans of a conversation together. */
export interface CollapseReport {
  readonly spans: readonly SpanReport[];
  readonly messages: number;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

export function collapseReport({ conversation }: Pick<Session, "conversation">): CollapseReport {
  const spans = collapsedIn(conversation);
  const total = (field: "messages" | "tokensBefore" | "tokensAfter"): number =>
    spans.reduce((sum, span) => sum + span[field], 0);
  return {
    spans,
    messages: total("messages"),
    tokensBefore: total("tokensBefore"),
    tokensAfter: total("tokensAfter"),
  };
}

/** The span that a person means by its id or the beginning of it; also one that is no longer in the context. */
export function spanMessages(session: Session, wanted: string): SpanMessagesReport {
  const spans = new Map<string, CollapsedSpan>();
  for (const entry of session.entries) if (isCollapsedSpan(entry)) spans.set(entry.collapsed.spanId, entry);
  const ids = [...spans.keys()].filter((id) => id.startsWith(wanted));
  const [only = "", ...others] = ids.includes(wanted) ? [wanted] : ids;
  const span = spans.get(only);
  if (span === undefined || others.length > 0) throw notChosen(wanted, ids.length, spans.size);
  return { ...spanReport(span), entries: messagesOfSpan(span, session) };
}

function notChosen(wanted: string, found: number, all: number): LonghaulError {
  const message =
    found > 1
      ? `${found} spans begin like ${wanted}.`
      : `No collapsed span of the session begins like ${wanted}.`;
  const remedy =
    all === 0 ? "Nothing was collapsed in this session." : "`longhaul inspect SESSION` lists the spans.";
  return new LonghaulError("message-not-found", message, { remedy, facts: { span: wanted } });
}
