import { type Piece, WORTH_A_LINE } from "../budget.ts";
import type { SessionDigest } from "../digest.ts";
import { earlierItems } from "../read/earlier.ts";
import { type HumanMessage, messageKey } from "../read/human.ts";
import { AFTER_INTERRUPTION, messageForms, parseMessageItem } from "./message-item.ts";
import { currentRequest } from "./requests.ts";

/** Stands for a long message that is given in full under the first heading. */
const SEE_CURRENT_REQUEST = "- (the current request: in full under 1)";
/** Up to this length repeating the current request is cheaper than looking it up. */
const REPEATED_UP_TO_CHARS = 500;

const NEWEST_IMPORTANCE = 500;
const OLDEST_IMPORTANCE = WORTH_A_LINE;
/** What the session began with says what it is about, however old it is. */
const FIRST_IMPORTANCE = 490;

/** Every message of a person, oldest first, those of earlier summaries included. */
export function renderMessages(digest: SessionDigest): Piece[] {
  const current = currentRequest(digest)?.message;
  const now = digest.exchanges.flatMap((exchange) => exchange.message ?? []);
  const known = new Set(now.map((message) => messageKey(message.text)));
  const before = earlierMessages(digest).filter((text) => !known.has(messageKey(text)));
  const count = before.length + now.length;
  const importanceAt = (position: number): number => {
    if (position === 0) return FIRST_IMPORTANCE;
    return OLDEST_IMPORTANCE + ((NEWEST_IMPORTANCE - OLDEST_IMPORTANCE) * (position + 1)) / count;
  };
  return [
    ...before.map((text, index): Piece => ({ forms: messageForms(text), importance: importanceAt(index) })),
    ...now.map((message, index): Piece => {
      const isRepeated = message === current && message.text.length > REPEATED_UP_TO_CHARS;
      const forms = isRepeated ? [SEE_CURRENT_REQUEST] : messageForms(message.text, prefixOf(message));
      return { forms, importance: importanceAt(before.length + index) };
    }),
  ];
}

function prefixOf(message: HumanMessage): string {
  return message.afterInterruption ? AFTER_INTERRUPTION : "";
}

function earlierMessages(digest: SessionDigest): string[] {
  const requestInFull = earlierItems(digest.earlier, "Primary Request and Intent")[0] ?? "";
  const seen = new Set<string>();
  return earlierItems(digest.earlier, "All User Messages")
    .map((item) => parseMessageItem(item === SEE_CURRENT_REQUEST ? requestInFull : item))
    .filter((text) => {
      const key = messageKey(text);
      return text !== "" && !isTrivialRepeat(key, seen) && Boolean(seen.add(key));
    });
}

/** The same long text twice is one message that two summaries list; a second "yes" is a second message. */
function isTrivialRepeat(key: string, seen: ReadonlySet<string>): boolean {
  return key.length > 12 && seen.has(key);
}
