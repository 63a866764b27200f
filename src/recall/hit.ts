import { timeOf } from "../conversation/copies.ts";
import { isQueueOperation } from "../conversation/queued.ts";
import { stringField } from "../conversation/untrusted.ts";
import { messageId } from "../transcript/message-queue.ts";
import type { IndexedSession, ReadDocument } from "./open-session.ts";
import type { RecallPiece } from "./query.ts";
import { FLAGS } from "./segment-writer.ts";
import { STANDING } from "./standing.ts";

/** A document, or a part of it, as it is shown. */
export function pieceOf(
  session: IndexedSession,
  { number, record, entry, document }: ReadDocument,
  from: number,
  to: number,
): RecallPiece {
  return {
    id: isQueueOperation(entry) ? messageId(entry) : stringField(entry, "uuid"),
    timestamp: timeOf(entry),
    kind: document.kind,
    who: whoOf(record),
    tool: document.kind === "call" || document.kind === "result" ? record.tool : undefined,
    toolUseId: document.toolUseId,
    file: record.path,
    isError: (record.flags & FLAGS.error) !== 0,
    isInContext: ((session.standing[number] as number) & STANDING.inContext) !== 0,
    text: document.text.slice(from, to),
    from,
    to,
    length: document.text.length,
  };
}

function whoOf({ kind, tool, flags }: ReadDocument["record"]): string {
  const name = namedBy(kind, tool ?? "a tool", (flags & FLAGS.meta) !== 0);
  return (flags & FLAGS.sidechain) === 0 ? name : `subagent: ${name}`;
}

function namedBy(kind: ReadDocument["record"]["kind"], tool: string, isMeta: boolean): string {
  switch (kind) {
    case "user":
      return isMeta ? "host" : "user";
    case "thinking":
      return "assistant, thinking";
    case "call":
      return `call of ${tool}`;
    case "result":
      return `result of ${tool}`;
    case "attachment":
      return `attachment (${tool})`;
    case "system":
      return `host (${tool})`;
    case "other":
      return "other content";
    default:
      return kind;
  }
}
