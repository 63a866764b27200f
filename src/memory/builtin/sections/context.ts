import { clip, quoted } from "../../../summary/clip.ts";
import {
  lastSentences,
  NEEDS_CONTEXT_CHARS,
  repliedTo,
  withoutBold,
} from "../../../summary/readers/readers.ts";
import type { News } from "../news.ts";
import { behindLabel, LAST_WORDS, NOTHING_DONE, STATUS, USER_WAS_ASKED } from "../state-lines.ts";

/** What a short message replies to, in brackets: said in the new entries, or as the notes have it. */
export function replyContext(
  message: string,
  index: number,
  { digest, before }: News,
  maxChars: number,
): string {
  if (message.length > NEEDS_CONTEXT_CHARS) return "";
  const said = index > 0 ? repliedTo(digest.exchanges[index - 1], maxChars) : wordsIn(before.items, maxChars);
  return said === undefined ? "" : ` (in reply to: ${withoutBold(said)})`;
}

function wordsIn(items: readonly string[], maxChars: number): string | undefined {
  const [status = "", question] = behindLabel(items, STATUS)?.split(USER_WAS_ASKED) ?? [];
  if (status === NOTHING_DONE) return undefined;
  if (question !== undefined) return clip(question, maxChars);
  const words = behindLabel(items, LAST_WORDS)?.replace(/^"|"$/g, "") ?? "";
  const closing = lastSentences(words, 2).filter((sentence) => !sentence.includes("|"));
  return closing.length === 0 ? undefined : quoted(clip(closing.join(" "), maxChars));
}
