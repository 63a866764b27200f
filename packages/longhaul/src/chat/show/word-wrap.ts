// Our own wrapping, not wrap-ansi: the text comes in pieces, and code and tables stay as they are.
import { textWidth } from "../../view/text-width.ts";

const FENCE = /^\s*(?:```|~~~)/;
/** Tables and code: broken they say nothing. */
const AS_IT_IS = /^(?: {4}|\t|\s*\|)/;
/** What follows a list's mark stands under its text. */
const LEAD = /^\s*(?:[-*+]\s+|\d{1,3}[.)]\s+)?/;

/** Breaks a text that comes in pieces between its words, where the terminal would break within one. */
export class WordWrap {
  readonly #width: () => number;
  /** Of the line as it was written, so far. */
  #line = "";
  /** Columns that are taken on the row. */
  #column = 0;
  /** What is not handed on yet: spaces and the beginning of a word. */
  #pending = "";
  #isInFence = false;

  constructor(width: () => number) {
    this.#width = width;
  }

  /** What can be shown by now. A word is held back until it is over, or as long as a row. */
  push(piece: string): string {
    let out = "";
    for (const character of piece) {
      if (character === "\n") out += this.#endLine();
      else {
        if (character === " " && !this.#pending.endsWith(" ")) out += this.#flush();
        this.#line += character;
        this.#pending += character;
        if (this.#isAsItIs() || textWidth(this.#pending) >= this.#width()) out += this.#flush();
      }
    }
    return out;
  }

  /** The text is over. */
  end(): string {
    const out = this.#flush();
    this.#reset();
    this.#isInFence = false;
    return out;
  }

  #endLine(): string {
    const out = `${this.#flush()}\n`;
    if (FENCE.test(this.#line)) this.#isInFence = !this.#isInFence;
    this.#reset();
    return out;
  }

  #reset(): void {
    this.#line = "";
    this.#column = 0;
    this.#pending = "";
  }

  #isAsItIs(): boolean {
    return this.#isInFence || FENCE.test(this.#line) || AS_IT_IS.test(this.#line);
  }

  #flush(): string {
    const pending = this.#pending;
    this.#pending = "";
    const width = textWidth(pending);
    // A word that is longer than a row comes in parts, which belong together.
    const isOver = pending.startsWith(" ") && this.#column > 0 && this.#column + width > this.#width();
    if (!isOver || this.#isAsItIs()) {
      this.#column += width;
      return pending;
    }
    const lead = " ".repeat(textWidth(LEAD.exec(this.#line)?.[0] ?? ""));
    const word = `${lead}${pending.trimStart()}`;
    this.#column = textWidth(word);
    return `\n${word}`;
  }
}

/** A text that is there whole. */
export function wrapped(text: string, width: number): string {
  const wrap = new WordWrap(() => width);
  return wrap.push(text) + wrap.end();
}
