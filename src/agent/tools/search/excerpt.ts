import { headOf, tailOf } from "../../../index.ts";
import type { PatternMatch } from "../../../node.ts";

export interface ExcerptLimits {
  /** Lines before and after each match. */
  readonly before: number;
  readonly after: number;
  /** Kept at most; matches are counted on. */
  readonly mostRows: number;
}

export interface Row {
  /** Counted from 1. */
  readonly number: number;
  readonly text: string;
  readonly isMatch: boolean;
}

/** Of a line: enough to see what it is. Lines that machines wrote have millions. */
const LONGEST_ROW_CHARS = 400;
/** Before the match, where a line is cut. */
const LEAD_CHARS = 120;

/** The lines that match, with some before and after, out of lines that come one by one. */
export class Excerpt {
  readonly #limits: ExcerptLimits;
  readonly #recent: Row[] = [];
  #afterLeft = 0;
  #number = 0;
  readonly rows: Row[] = [];
  matches = 0;

  constructor(limits: ExcerptLimits) {
    this.#limits = limits;
  }

  /** Whether lines after the last match are still to come. */
  get isOpen(): boolean {
    return this.#afterLeft > 0 && this.rows.length < this.#limits.mostRows;
  }

  add(line: string, match: PatternMatch | undefined): void {
    this.#number++;
    if (match !== undefined) this.matches++;
    const { before, after, mostRows } = this.#limits;
    if (this.rows.length >= mostRows) return;
    if (match !== undefined) {
      this.rows.push(...this.#recent.splice(0), this.#row(line, match));
      this.#afterLeft = after;
    } else if (this.#afterLeft > 0) {
      this.#afterLeft--;
      this.rows.push(this.#row(line, undefined));
    } else if (before > 0) {
      this.#recent.push(this.#row(line, undefined));
      if (this.#recent.length > before) this.#recent.shift();
    }
  }

  #row(line: string, match: PatternMatch | undefined): Row {
    return { number: this.#number, text: cut(line, match?.[0] ?? 0), isMatch: match !== undefined };
  }
}

/** The part of a long line around its match. */
function cut(line: string, matchStart: number): string {
  if (line.length <= LONGEST_ROW_CHARS) return line;
  const start = Math.max(0, Math.min(matchStart - LEAD_CHARS, line.length - LONGEST_ROW_CHARS));
  // Cut from both sides, so that no character is halved.
  const part = headOf(tailOf(line, line.length - start), LONGEST_ROW_CHARS);
  const isEnd = start + LONGEST_ROW_CHARS >= line.length;
  return `${start > 0 ? "…" : ""}${part}${isEnd ? "" : "…"}`;
}
