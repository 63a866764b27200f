import { isQueueOperation, stringField, timeOf } from "@longhaul/core/internal/messages";
import type { CountText } from "@longhaul/core/measure";
import { messageId } from "../transcript/message-queue.ts";
import type { DocumentKind } from "./documents.ts";
import type { IndexedSession, ReadDocument } from "./indexed-session.ts";
import type { Match } from "./pattern.ts";
import type { RecallPiece } from "./query.ts";
import { FLAGS } from "./segment.ts";

/** Assumed maximum of characters per token. Few tokens are longer. */
const CHARACTERS_PER_TOKEN = 6;

/** Returns the end of the part that fits the budget. Prefers whole lines. The end is always after `from`. */
export function fittingEnd(text: string, from: number, budgetTokens: number, countTokens: CountText): number {
  let length = Math.min(text.length - from, Math.max(1, budgetTokens) * CHARACTERS_PER_TOKEN);
  for (;;) {
    const end = goodEnd(text, from, from + length);
    const tokens = countTokens(text.slice(from, end));
    if (tokens <= budgetTokens || length <= 1) return end;
    length = Math.max(1, Math.min(length - 1, Math.floor(((end - from) * budgetTokens * 0.97) / tokens)));
  }
}

/** Counts the tokens of a text, up to a limit. Does not count the rest of a long text. */
export function tokensUpTo(text: string, limit: number, countTokens: CountText): number {
  if (text.length > limit * CHARACTERS_PER_TOKEN) return limit;
  return Math.min(limit, countTokens(text));
}

/** If the end of a line is near, returns its position. Never splits a surrogate pair. */
function goodEnd(text: string, from: number, to: number): number {
  if (to >= text.length) return text.length;
  const line = text.lastIndexOf("\n", to - 1) + 1;
  return line > from + (to - from) * 0.7 ? line : wholeCharacter(text, to);
}

/** Moves forward past a split surrogate pair, so that the result is never empty. */
function wholeCharacter(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at + 1 : at;
}

/**
 * Returns the part of a text around the matches, as large as the budget allows.
 * @param matches ranges in the whole text
 */
export function excerptAround(
  text: string,
  matches: readonly Match[],
  budgetTokens: number,
  countTokens: CountText,
  place?: number,
): { readonly from: number; readonly to: number; readonly matches: readonly Match[] } {
  const whole = fittingEnd(text, 0, budgetTokens, countTokens);
  if (whole >= text.length) return { from: 0, to: text.length, matches };
  const focus = place ?? densest(matches, whole);
  // Puts a third of the excerpt before the match, for context. Shortens this third if it has too many tokens.
  let lead = Math.min(focus, Math.floor(whole / 3));
  while (countTokens(text.slice(focus - lead, focus)) > budgetTokens / 3) lead = Math.floor(lead / 2);
  const before = focus - lead;
  const line = text.lastIndexOf("\n", focus - 1) + 1;
  const start = line > before ? line : wholeCharacter(text, before);
  const from = focus < whole * 0.8 ? 0 : start;
  const to = from === 0 ? whole : fittingEnd(text, from, budgetTokens, countTokens);
  return { from, to, matches: matches.filter(([a, b]) => a >= from && b <= to) };
}

/** Returns the position where the most matches are close together. */
function densest(matches: readonly Match[], width: number): number {
  let [best, most] = [matches[0]?.[0] ?? 0, 0];
  for (const [nth, [start]] of matches.entries()) {
    let count = 0;
    for (let at = nth; at < matches.length && (matches[at]?.[0] ?? 0) < start + width / 2; at++) count++;
    if (count > most) [best, most] = [start, count];
  }
  return best;
}

/** Formats a document, or a part of it, for display. */
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
    isInContext: session.isInContext(number),
    text: document.text.slice(from, to),
    from,
    to,
    length: document.text.length,
  };
}

const WHO: Readonly<Record<DocumentKind, (tool: string) => string>> = {
  user: () => "user",
  assistant: () => "assistant",
  thinking: () => "assistant, thinking",
  call: (tool) => `${tool} call`,
  result: (tool) => `${tool} result`,
  attachment: (tool) => `attachment (${tool})`,
  system: (tool) => `host (${tool})`,
  summary: () => "summary",
  other: () => "other content",
};

function whoOf({ kind, tool, flags }: ReadDocument["record"]): string {
  const isHost = kind === "user" && (flags & FLAGS.meta) !== 0;
  const name = isHost ? "host" : WHO[kind](tool ?? "a tool");
  return (flags & FLAGS.sidechain) === 0 ? name : `subagent: ${name}`;
}
