import { clip, earlierItems, hasIdeographs, oneLine, withoutBold } from "@longhaul/core/internal/summary";
import type { UpdateInput } from "./news.ts";
import { asBullet, foreignItem, keptItem, type NoteItem, ownItem } from "./note-items.ts";

/** This file writes the section "Learnings" of the built-in notes. */

/**
 * Minimum score of a sentence about a cause or a decision. Sentences with a lower score matter only when they
 * are written.
 */
const MIN_SCORE = 4;
const MAX_LEARNING_CHARS = 320;
const MAX_EARLIER_LEARNING_CHARS = 420;
/** Learnings that start with the same characters count as one. */
const KEY_CHARS = 48;
/** A shorter sentence, such as "The problem is the cache.", means nothing without its context. */
const MIN_LEARNING_CHARS = 60;
/** Bullets, arrows and emoji before the first word. */
const MARKS_IN_FRONT = /^[^\p{L}\p{N}`"'(]+/u;

/**
 * Lists causes that the assistant found, and its decisions. If two sentences begin alike, keeps only one. The
 * sentence in the notes has priority over the sentence in an earlier summary.
 */
export function learnings(before: readonly string[], { digest }: UpdateInput): readonly NoteItem[] {
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
    const saysWhat = text.length >= MIN_LEARNING_CHARS || text.includes("`") || hasIdeographs(text);
    if (score < MIN_SCORE || !saysWhat) continue;
    const line = `- ${clip(withoutBold(text).replace(MARKS_IN_FRONT, ""), MAX_LEARNING_CHARS)}`;
    add(line, ownItem([line, clip(line, 160)], score));
  }
  return [...slots.values()];
}
