import { clip, quoted } from "../../../summary/builtin/clip.ts";
import { repliedTo } from "../../../summary/builtin/render/requests.ts";
import { lastSentences, withoutBold } from "../../../summary/builtin/sentences.ts";
import type { News } from "../news.ts";
import { behindLabel, LAST_WORDS, NOTHING_DONE, STATUS, USER_WAS_ASKED } from "../state-lines.ts";

/** A message this short means nothing without what it replies to. */
export const NEEDS_CONTEXT_CHARS = 60;

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
