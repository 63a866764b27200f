import { clip, oneLine } from "../../summary/clip.ts";
import { withClosedFence } from "./body.ts";

/** One item of a section, at the lengths it can have. */
export interface NoteItem {
  /** Longest first. The last is the least that makes sense. */
  readonly forms: readonly string[];
  /**
   * How many newer items it outlives when there is no room. Counted in items: so the order in which two of them go
   * does not depend on what comes after them, and many small updates keep what one large update keeps.
   */
  readonly worth: number;
  /** Written by a model or a person: it goes after all of ours that are older. */
  readonly isForeign: boolean;
}

/** Never goes while any other item is there. */
export const PINNED: number = Number.POSITIVE_INFINITY;
/** Somebody thought about it; ours came from structure alone. */
const FOREIGN_WORTH = 10;
/** A reader of the file takes the one for a line's end and the other for nothing. */
const UNSEEN = /\r\n?|\uFEFF/g;
const BRIEF_CHARS = 160;

export function ownItem(forms: readonly string[], worth = 0): NoteItem {
  return { forms: [...new Set(forms)], worth, isForeign: false };
}

/** An item that stands in the notes and stays as it is; shortened only where there is no room. */
export function keptItem(text: string, worth = 0): NoteItem {
  return ownItem([text, clip(oneLine(text), BRIEF_CHARS)], worth);
}

/** A text of others as an item: what hangs below its first line is indented, so that it stays one. */
export function asBullet(text: string): string {
  const item = text.replace(/\n(?=\S)/g, "\n  ");
  return /^[-*•]\s/.test(item) ? item : `- ${item}`;
}

export function foreignItem(text: string): NoteItem {
  return { ...keptItem(text, FOREIGN_WORTH), isForeign: true };
}

/** An item that cannot reach beyond itself: no line of it can be taken for a heading, and no code is left open. */
export function contained(item: NoteItem, headings: ReadonlySet<string>): NoteItem {
  const isHeading = (line: string): boolean => headings.has(line.trimEnd());
  const forms = item.forms.map((form) => {
    const closed = withClosedFence(form.replace(UNSEEN, " "));
    if (!closed.includes("#")) return closed;
    return closed
      .split("\n")
      .map((line) => (isHeading(line) ? `  ${line}` : line))
      .join("\n");
  });
  return { ...item, forms };
}
