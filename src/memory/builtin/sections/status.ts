import { clip, oneLine, quoted } from "../../../summary/clip.ts";
import {
  condensed,
  endsWithQuestion,
  isRequest,
  lastSentences,
  nextMove,
  type SessionDigest,
} from "../../../summary/readers/readers.ts";
import { NOTHING_DONE, USER_WAS_ASKED } from "../state-lines.ts";

const MAX_QUOTE_CHARS = 300;
const MAX_WORDS_CHARS = 900;
/** A next step stands at the end, if anywhere. */
const CLOSING_SENTENCES = 8;
const NAMES_NEXT =
  /^(?:next|then|remaining|still)\b|\b(?:next steps?|next up|remaining (?:work|steps?|tasks?|items?)|still (?:to do|needs?|need to|open|missing|pending)|not yet|follow-?up)\b|下一步|接下来|следующ|次に|다음/i;
const IN_THE_MIDDLE = "in the middle of it";

/** Who has the next move, as far as the record shows it. `before` is what the notes say, about the same request. */
export function statusOf(digest: SessionDigest, before: string | undefined): string | undefined {
  const move = nextMove(digest, lastText(digest));
  switch (move?.kind) {
    case "answer-awaited":
      return `waiting for the user's answer to: ${quoted(clip(oneLine(move.question), MAX_QUOTE_CHARS))}`;
    case "message-unanswered":
      return NOTHING_DONE;
    case "work-under-way":
      if (move.said === undefined) return before?.startsWith(IN_THE_MIDDLE) ? before : IN_THE_MIDDLE;
      return `${IN_THE_MIDDLE}; the assistant had last said: ${quoted(clip(move.said, MAX_QUOTE_CHARS))}`;
    case "reply-awaited":
      return `answered, and ${USER_WAS_ASKED}${quoted(clip(move.question, MAX_QUOTE_CHARS))}`;
    case "todos-open":
      return "under way; open items below";
    case "agents-running":
      return "waiting for the background agents below";
    case "all-done":
      return "looks done; nothing further was asked";
    default:
      return before;
  }
}

/** A next step in the assistant's own words, where it stopped. */
export function namedNext(digest: SessionDigest): string | undefined {
  if (digest.lastActor !== "agent") return undefined;
  const named = lastSentences(lastText(digest) ?? "", CLOSING_SENTENCES).findLast(
    (sentence) => NAMES_NEXT.test(sentence) && !endsWithQuestion(sentence),
  );
  return named === undefined ? undefined : quoted(clip(named, MAX_QUOTE_CHARS));
}

/** Undefined also where the status quotes them. */
export function lastWords(digest: SessionDigest): string | undefined {
  const text = lastText(digest);
  if (text === undefined) return undefined;
  const words = withoutRules(condensed(text));
  const isToldAbove = digest.lastActor === "tool" && words.length <= MAX_QUOTE_CHARS;
  return isToldAbove ? undefined : quoted(clip(words, MAX_WORDS_CHARS));
}

/** What was said before the latest request is told only until something is done about that. */
function lastText({ exchanges, lastActor }: SessionDigest): string | undefined {
  const from = lastActor === "person" ? 0 : Math.max(0, exchanges.findLastIndex(isRequest));
  return exchanges
    .slice(from)
    .findLast(({ texts }) => texts.length > 0)
    ?.texts.at(-1)?.text;
}

/** A table's rule says nothing on one line. */
const withoutRules = (text: string): string =>
  text.replace(/\|(?:\s*:?-{2,}:?\s*\|)+/g, "|").replace(/\|(?:\s*\|)+/g, "|");
