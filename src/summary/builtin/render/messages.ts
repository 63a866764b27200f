import { type Piece, rising, WORTH_A_LINE } from "../budget.ts";
import type { SessionDigest } from "../digest.ts";
import { earlierItems } from "../read/earlier.ts";
import { type HumanMessage, messageKey } from "../read/human.ts";
import { AFTER_INTERRUPTION, messageForms, parseMessageItem } from "./message-item.ts";
import { currentRequest } from "./requests.ts";

/** Stands for a long message that is given in full under the first heading. */
const SEE_CURRENT_REQUEST = "- (the current request: see 1)";
/** Up to this length repeating the current request is cheaper than looking it up. */
const REPEATED_UP_TO_CHARS = 500;

const SHORT_ANSWER_CHARS = 12;

const NEWEST_IMPORTANCE = 500;
const OLDEST_IMPORTANCE = WORTH_A_LINE;
/** What the session began with says what it is about, however old it is. */
const FIRST_IMPORTANCE = 490;

/** Every message of a person, oldest first, those of earlier summaries included. */
export function renderMessages(digest: SessionDigest): Piece[] {
  const current = currentRequest(digest)?.message;
  const now = digest.exchanges.flatMap((exchange) => exchange.message ?? []);
  const before = withoutRepeats(earlierMessages(digest), now);
  const count = before.length + now.length;
  const importanceAt = (position: number): number => {
    if (position === 0) return FIRST_IMPORTANCE;
    return rising(OLDEST_IMPORTANCE, NEWEST_IMPORTANCE, position, count);
  };
  const stillCurrent = current === undefined ? requestInFull(digest) : undefined;
  return [
    ...before.map((text, index): Piece => {
      const forms = text === stillCurrent && isLong(text) ? [SEE_CURRENT_REQUEST] : messageForms(text);
      return { forms, importance: importanceAt(index) };
    }),
    ...now.map((message, index): Piece => {
      const isShownAbove = message === current && isLong(message.text);
      const forms = isShownAbove ? [SEE_CURRENT_REQUEST] : messageForms(message.text, prefixOf(message));
      return { forms, importance: importanceAt(before.length + index) };
    }),
  ];
}

function withoutRepeats(before: readonly string[], now: readonly HumanMessage[]): readonly string[] {
  if (before.length === 0) return before;
  const known = new Set(now.map((message) => messageKey(message.text)));
  return before.filter((text) => !isRepeat(messageKey(text), known));
}

function isLong(text: string): boolean {
  return text.length > REPEATED_UP_TO_CHARS;
}

function prefixOf(message: HumanMessage): string {
  return message.afterInterruption ? AFTER_INTERRUPTION : "";
}

/** What an earlier summary of ours gives in full under its first heading: always its first item. */
function requestInFull(digest: SessionDigest): string {
  return parseMessageItem(earlierItems(digest.earlier, "Primary Request and Intent")[0] ?? "");
}

/** Those that earlier summaries tell of, each once. */
export function earlierMessages(digest: SessionDigest): string[] {
  const seen = new Set<string>();
  return earlierItems(digest.earlier, "All User Messages")
    .map((item) => (item === SEE_CURRENT_REQUEST ? requestInFull(digest) : parseMessageItem(item)))
    .filter((text) => {
      const key = messageKey(text);
      return text !== "" && !isRepeat(key, seen) && Boolean(seen.add(key));
    });
}

/** The same long text twice is one message that two summaries list; a second "yes" is a second message. */
function isRepeat(key: string, seen: ReadonlySet<string>): boolean {
  return key.length > SHORT_ANSWER_CHARS && seen.has(key);
}
