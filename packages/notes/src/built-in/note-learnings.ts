import { clip, earlierItems, hasIdeographs, oneLine, withoutBold } from "@longhaul/core/internal/summary";
import type { News } from "./news.ts";
import { asBullet, foreignItem, keptItem, type NoteItem, ownItem } from "./note-items.ts";

/** The section "Learnings". */

/** A cause or a decision; below it a sentence tells of the moment. */
const LEAST_SCORE = 4;
const MAX_LEARNING_CHARS = 320;
const MAX_EARLIER_LEARNING_CHARS = 420;
/** Two learnings that begin with the same characters are one. */
const KEY_CHARS = 48;
/** "The problem is the cache." means nothing to somebody who was not there. */
const LEAST_LEARNING_CHARS = 60;
/** Bullets, arrows and emoji before the first word. */
const MARKS_IN_FRONT = /^[^\p{L}\p{N}`"'(]+/u;

/**
 * Causes that the assistant found, and its decisions. Of two with the same beginning, the notes win over an earlier
 * summary, and that wins over a new remark.
 */
export function learnings(before: readonly string[], { digest }: News): readonly NoteItem[] {
  const slots = new Map<string, NoteItem>();
  const keyOfLine = (line: string): string => line.slice(0, KEY_CHARS).toLowerCase();
  const add = (line: string, item: NoteItem): void => {
    if (!slots.has(keyOfLine(line))) slots.set(keyOfLine(line), item);
  };
  for (const item of before) slots.set(keyOfLine(item), keptItem(item));
  for (const item of earlierItems(digest.earlier, "Problem Solving")) {
    const line = asBullet(clip(oneLine(item), MAX_EARLIER_LEARNING_CHARS));
    add(line, foreignItem(line));
  }
  for (const { text, score } of digest.remarks) {
    const saysWhat = text.length >= LEAST_LEARNING_CHARS || text.includes("`") || hasIdeographs(text);
    if (score < LEAST_SCORE || !saysWhat) continue;
    const line = `- ${clip(withoutBold(text).replace(MARKS_IN_FRONT, ""), MAX_LEARNING_CHARS)}`;
    add(line, ownItem([line, clip(line, 160)], score));
  }
  return [...slots.values()];
}
