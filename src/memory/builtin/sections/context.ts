import { clip, quoted } from "../../../summary/builtin/clip.ts";
import type { Exchange } from "../../../summary/builtin/exchange.ts";
import { repliedTo } from "../../../summary/builtin/render/requests.ts";
import { lastSentences } from "../../../summary/builtin/sentences.ts";
import type { News } from "../news.ts";
import { behindLabel, LAST_WORDS } from "../state-lines.ts";

/** A message this short means nothing without what it replies to. */
export const NEEDS_CONTEXT_CHARS = 60;

/** What a short message replies to: said in the new entries, or as the notes have it. */
export function shortReplyContext(exchange: Exchange, { digest, before }: News, maxChars = 160): string {
  if ((exchange.message?.text.length ?? 0) > NEEDS_CONTEXT_CHARS) return "";
  const at = digest.exchanges.indexOf(exchange);
  const said = at > 0 ? repliedTo(digest.exchanges[at - 1], maxChars) : wordsBefore(before.items, maxChars);
  return said === undefined ? "" : ` (in reply to: ${said})`;
}

function wordsBefore(items: readonly string[], maxChars: number): string | undefined {
  const words = behindLabel(items, LAST_WORDS);
  const closing = words === undefined ? "" : lastSentences(words.replace(/^"|"$/g, ""), 2).join(" ");
  return closing === "" ? undefined : quoted(clip(closing, maxChars));
}
