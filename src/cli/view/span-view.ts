import { timeOf } from "../../conversation/copies.ts";
import type { Entry } from "../../conversation/entry.ts";
import { entryBlocks } from "../../conversation/entry.ts";
import { sentContent } from "../../conversation/flatten/attachment-content.ts";
import type { ContentBlock } from "../../conversation/message.ts";
import { contentText } from "../../conversation/untrusted.ts";
import type { CollapseReport, SpanMessagesReport } from "../span-report.ts";
import type { Terminal } from "../terminal.ts";
import { formatCount, formatTime, plural } from "./numbers.ts";
import { fitText, foldText, oneLine, shownText } from "./text-width.ts";
import { titled } from "./titled-table.ts";

/** As much of an id as tells spans apart in practice. */
const ID_SHOWN = 8;
const ROWS_SHOWN = 12;

export function collapseSection(collapse: CollapseReport, terminal: Terminal): string {
  const { spans, messages, tokensBefore, tokensAfter } = collapse;
  const rows = spans
    .slice(-ROWS_SHOWN)
    .map((span) => [
      fitText(span.spanId.slice(0, ID_SHOWN), ID_SHOWN),
      formatCount(span.messages),
      formatCount(span.tokensBefore),
      formatCount(span.tokensAfter),
      fitText(span.firstLine, terminal.width - 44),
    ]);
  const total = `(${plural(messages, "message")}, ${formatCount(tokensBefore)} tokens → ${formatCount(tokensAfter)}; --span ID shows one)`;
  return titled(
    `${plural(spans.length, "collapsed span")} ${terminal.colours.dim(total)}`,
    [
      { title: "span" },
      { title: "messages", align: "right" },
      { title: "before", align: "right" },
      { title: "now", align: "right" },
      { title: "what it was about" },
    ],
    rows,
    terminal,
  );
}

/** All that was said in it. Long lines are the terminal's to break: this is for reading and for pipes. */
export function spanView(span: SpanMessagesReport, { colours, width }: Terminal): string {
  const facts = `${plural(span.messages, "message")}, ${formatCount(span.tokensBefore)} tokens, collapsed to ${formatCount(span.tokensAfter)}`;
  const title = `${colours.bold("Span")} ${fitText(span.spanId, width - 5)}\n${colours.dim(foldText(facts, width))}`;
  const messages = span.entries.flatMap((entry) => {
    const text = textOf(entry);
    if (text === "") return [];
    const when = colours.dim(formatTime(timeOf(entry)));
    return [`${colours.bold(oneLine(entry.type))} ${when}\n${shownText(text)}`];
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
