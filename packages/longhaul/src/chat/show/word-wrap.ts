// This file wraps text without wrap-ansi for two reasons. The text arrives in pieces. Code and tables must
// stay unchanged.
import { textWidth } from "../../view/text-width.ts";

const FENCE = /^\s*(?:```|~~~)/;
/** Matches lines of tables and code, which are unreadable if they are wrapped. */
const AS_IT_IS = /^(?: {4}|\t|\s*\|)/;
/**
 * Matches the start of a line up to its text. Wrapped rows are indented by the width of this match, so that
 * they start below the text of a list item.
 */
const LEAD = /^\s*(?:[-*+]\s+|\d{1,3}[.)]\s+)?/;

/** Wraps a streamed text between words, because the terminal would break lines within a word. */
export class WordWrap {
  readonly #width: () => number;
  /** The current line of the original text so far. */
  #line = "";
  /** Used columns of the current row. */
  #column = 0;
  /** Text that is held back: spaces and the beginning of a word. */
  #pending = "";
  #isInFence = false;

  constructor(width: () => number) {
    this.#width = width;
  }

  /** Adds a piece and returns the text to show. Holds a word back until it ends or fills a row. */
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

  /** Ends the text and returns the part that was held back. */
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
    // Only a part that begins with a space may start a new row, because the parts of a very long word belong
    // together.
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

/** Wraps a complete text. */
export function wrapped(text: string, width: number): string {
  const wrap = new WordWrap(() => width);
  return wrap.push(text) + wrap.end();
}
