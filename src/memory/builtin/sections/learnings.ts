import { clip, oneLine } from "../../../summary/clip.ts";
import { earlierItems, hasIdeographs, withoutBold } from "../../../summary/readers/readers.ts";
import type { News } from "../news.ts";
import { asBullet, foreignItem, keptItem, type NoteItem, ownItem } from "../note-item.ts";

/** A cause or a decision; below it a sentence tells of the moment. */
const LEAST_SCORE = 4;
const MAX_CHARS = 320;
const MAX_EARLIER_CHARS = 420;
const KEY_CHARS = 48;
const LEAST_CHARS = 60;
const MARKS_IN_FRONT = /^[^\p{L}\p{N}`"'(]+/u;

/** What the assistant found to be the cause of something, or decided. */
export function learnings(before: readonly string[], { digest }: News): readonly NoteItem[] {
  const slots = new Map<string, NoteItem>(before.map((item) => [keyOf(item), keptItem(item)]));
  for (const item of earlierItems(digest.earlier, "Problem Solving")) {
    const line = asBullet(clip(oneLine(item), MAX_EARLIER_CHARS));
    if (!slots.has(keyOf(line))) slots.set(keyOf(line), foreignItem(line));
  }
  for (const remark of digest.remarks) {
    if (remark.score < LEAST_SCORE || !saysWhat(remark.text)) continue;
    const line = `- ${clip(withoutBold(remark.text).replace(MARKS_IN_FRONT, ""), MAX_CHARS)}`;
    if (!slots.has(keyOf(line))) slots.set(keyOf(line), ownItem([line, clip(line, 160)], remark.score));
  }
  return [...slots.values()];
}

/** "The problem is the cache." means nothing to somebody who was not there. */
function saysWhat(text: string): boolean {
  return text.length >= LEAST_CHARS || text.includes("`") || hasIdeographs(text);
}

const keyOf = (line: string): string => line.slice(0, KEY_CHARS).toLowerCase();
