import { LonghaulError } from "@longhaul/core/errors";
import { collapsedIn, type SpanReport, spanReport } from "@longhaul/core/internal/collapse";
import {
  type CollapsedSpan,
  contentText,
  entryBlocks,
  isCollapsedSpan,
  timeOf,
} from "@longhaul/core/internal/messages";
import type { ContentBlock, Entry } from "@longhaul/core/messages";
import { sentContent } from "@longhaul/core/request";
import type { Session } from "@longhaul/sessions";
import { messagesOfSpan } from "@longhaul/sessions/internal";
import { chooseId } from "./message-choice.ts";
import type { Terminal } from "./terminal.ts";
import { formatCount, formatTime, ID_SHOWN, plural } from "./view/numbers.ts";
import { type Columns, factsTitle, titled } from "./view/sections.ts";
import { fitText, oneLine, shownText } from "./view/text-width.ts";

/** Output format of `inspect --span --json`. */
interface SpanMessagesReport extends SpanReport {
  /** Original messages of the span, as in the file. */
  readonly entries: readonly Entry[];
}

/** All spans of a conversation. */
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

const LIST_SPANS = "`longhaul inspect SESSION` lists the collapsed spans.";
const NO_SPANS = "This session has no collapsed span. Choose another session.";

/**
 * Finds a span by its id, or by the beginning of the id. Also finds spans that are no longer in the context.
 */
export function spanMessages(session: Session, wanted: string): SpanMessagesReport {
  const spans = session.entries.filter(isCollapsedSpan);
  const chosen = chooseId([...new Set(spans.map(({ collapsed }) => collapsed.spanId))], wanted, {
    many: "collapsed spans",
    whereToLook: LIST_SPANS,
    facts: { span: wanted },
    notFound: () =>
      new LonghaulError(
        "span-not-found",
        `No collapsed span found: no span of this session has an id that starts with ${wanted}.`,
        {
          remedy: spans.length === 0 ? NO_SPANS : LIST_SPANS,
          facts: { span: wanted },
        },
      ),
  });
  // A file can contain several lines for the same span. The last line counts.
  const span = spans.findLast(({ collapsed }) => collapsed.spanId === chosen) as CollapsedSpan;
  return { ...spanReport(span), entries: messagesOfSpan(span, session) };
}

const ROWS_SHOWN = 12;
const COLUMNS: Columns = [
  "span",
  { title: ">messages", rank: 1 },
  ">before",
  ">now",
  { title: "summary", cut: "end", least: 10 },
];

export function collapseSection(collapse: CollapseReport, terminal: Terminal): string {
  const { spans, messages, tokensBefore, tokensAfter } = collapse;
  const rows = spans
    .slice(-ROWS_SHOWN)
    .map((span) => [
      fitText(span.spanId.slice(0, ID_SHOWN), ID_SHOWN),
      formatCount(span.messages),
      formatCount(span.tokensBefore),
      formatCount(span.tokensAfter),
      span.firstLine,
    ]);
  const total = `(${plural(messages, "message")}, ${formatCount(tokensBefore)} tokens → ${formatCount(tokensAfter)}, --span ID shows one)`;
  return titled(
    `${plural(spans.length, "collapsed span")} ${terminal.colors.dim(total)}`,
    COLUMNS,
    rows,
    terminal,
  );
}

/** Prints all messages of the span. The terminal wraps long lines. This is for reading and for pipes. */
export function spanView(span: SpanMessagesReport, terminal: Terminal): string {
  const { colors } = terminal;
  const facts = `${plural(span.messages, "message")}, ${formatCount(span.tokensBefore)} tokens, collapsed to ${formatCount(span.tokensAfter)}`;
  const title = factsTitle("Span", span.spanId, facts, terminal);
  const messages = span.entries.flatMap((entry) => {
    const text = textOf(entry);
    if (text === "") return [];
    const when = colors.dim(formatTime(timeOf(entry)));
    return [`${colors.bold(oneLine(entry.type))} ${when}\n${shownText(text)}`];
  });
  return [title, ...messages].join("\n\n");
}

function textOf(entry: Entry): string {
  if (entry.type === "attachment") return contentText(sentContent(entry));
  if (entry.type !== "user" && entry.type !== "assistant") return "";
  return entryBlocks(entry)
    .map(blockText)
    .filter((text) => text !== "")
    .join("\n");
}

function blockText(block: ContentBlock): string {
  switch (block.type) {
    case "text":
      return contentText([block]);
    case "tool_use":
      return `→ ${block.name} ${JSON.stringify(block.input)}`;
    case "tool_result":
      return `← ${contentText(block.content)}`;
    case "thinking":
      return `[thinking] ${block.thinking ?? ""}`.trimEnd();
    default:
      return `[${oneLine(block.type)}]`;
  }
}
