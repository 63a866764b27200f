import { headOf } from "../../../conversation/text.ts";
import { clip, oneLine } from "../../../summary/clip.ts";
import {
  earlierItems,
  isRequest,
  parseMessageItem,
  proseSentences,
} from "../../../summary/readers/readers.ts";
import type { News } from "../news.ts";
import { keptItem, type NoteItem, ownItem } from "../note-item.ts";

const MAX_TITLE_CHARS = 100;
/** A shorter message could be anybody's. */
const LEAST_TITLE_CHARS = 12;
const SAYS_LITTLE_CHARS = 30;
const LOOKED_AT_CHARS = 1_000;
/** The line would be taken for a heading or an item. */
const MARKS_IN_FRONT = /^[^\p{L}\p{N}/`"'(]+/u;

/** What the person first asked for; set once. */
export function sessionTitle(before: readonly string[], { digest }: News): readonly NoteItem[] {
  if (before.length > 0) return before.map((item) => keptItem(item));
  const earlier = earlierItems(digest.earlier, "All User Messages").map(parseMessageItem);
  const said = digest.exchanges.filter(isRequest).map(({ message }) => message?.text ?? "");
  const titles = [...earlier, ...said].map(titleFrom).filter((title) => title !== "");
  const title = titles.find(({ length }) => length > LEAST_TITLE_CHARS) ?? titles[0];
  return title === undefined ? [] : [ownItem([title, clip(title, MAX_TITLE_CHARS / 2)])];
}

/** The first sentence; where it says little or only announces what follows, that too. */
function titleFrom(text: string): string {
  const lines = headOf(text, LOOKED_AT_CHARS)
    .split("\n")
    .map((line) => oneLine(line).replace(MARKS_IN_FRONT, ""))
    .filter((line) => line !== "" && !/^\w+\]$/.test(line));
  const [first = "", second = ""] = lines;
  const [sentence = first] = proseSentences(first);
  const saysEnough = sentence.length >= SAYS_LITTLE_CHARS && !/[:：]$/.test(sentence);
  const more = sentence === first ? `${first} ${second}` : first;
  return clip((saysEnough ? sentence : more).replace(/[\s.:;,]+$/, ""), MAX_TITLE_CHARS);
}
