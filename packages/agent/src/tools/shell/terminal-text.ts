/**
 * Our own reader of control characters: packages such as strip-ansi remove colors, but do not replay what a carriage
 * return or a backspace writes over, and want the whole text at once.
 */

/** A line is held back until it is whole, as a carriage return may void it; not longer than this, whatever comes. */
const LONGEST_HELD_CHARS = 16_384;

/**
 * Sequences that a terminal obeys: colours and cursor moves, titles and links, character sets. Their length is bounded,
 * so that the beginning of one that never ends is not held back for ever.
 */
const SEQUENCE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: terminals' control characters are the point
  /(?:\u001b\[|\u009b)[0-?]{0,64}[ -/]{0,8}[@-~]|\u001b[\]PX^_][^\u0007\u001b]{0,4000}(?:\u0007|\u001b\\)|\u001b[ -/]{0,8}[0-OQ-WYZ\\`-~]/g;
/** One whose end has not come yet. */
const BEGUN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: terminals' control characters are the point
  /(?:(?:\u001b\[|\u009b)[0-?]{0,64}[ -/]{0,8}|\u001b[\]PX^_][^\u0007\u001b]{0,4000}\u001b?|\u001b[ -/]{0,8})$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals' control characters are the point
const ANY_CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;
/** All but tabs and what moves within or between lines. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals' control characters are the point
const OTHER_CONTROLS = /[\u0000-\u0007\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;
const BACKSPACE = "\b";
const MOVES = new RegExp(`([\\r\\n${BACKSPACE}])`);

/**
 * What a person would read on a terminal in the end: without colours, and of a line that was written over again and
 * again (a progress bar) only its last state. The same text comes out in whatever pieces it came in.
 */
export class TerminalText {
  #begun = "";
  #line = "";
  #isReturned = false;

  /** The line that is being written. */
  get line(): string {
    return this.#line;
  }

  /** What is settled by this piece. */
  add(piece: string): string {
    const text = this.#begun + piece;
    this.#begun = "";
    if (!this.#isReturned && !ANY_CONTROL.test(text)) return this.#addPlain(text);
    const begunAt = BEGUN.exec(text)?.index ?? text.length;
    this.#begun = text.slice(begunAt);
    const written = text.slice(0, begunAt).replace(SEQUENCE, "").replace(OTHER_CONTROLS, "");
    return written
      .split(MOVES)
      .map((part) => this.#write(part))
      .join("");
  }

  /** What was held back. Nothing of it can be voided any more. */
  flush(): string {
    const rest = this.#line;
    this.#line = "";
    return rest;
  }

  #addPlain(text: string): string {
    const lineEnd = text.lastIndexOf("\n") + 1;
    const settled = lineEnd === 0 ? "" : this.flush() + text.slice(0, lineEnd);
    this.#line += text.slice(lineEnd);
    return settled + this.#surplus();
  }

  #write(part: string): string {
    if (part === "\n") {
      this.#isReturned = false;
      return `${this.flush()}\n`;
    }
    if (part === "\r") this.#isReturned = true;
    else if (part === BACKSPACE) this.#line = this.#line.slice(0, -1);
    else if (part !== "") {
      // Nothing is voided before something is written over it: `\r\n` is but the end of a line.
      if (this.#isReturned) this.#line = "";
      this.#isReturned = false;
      this.#line += part;
    }
    return this.#surplus();
  }

  #surplus(): string {
    const length = this.#line.length;
    if (length <= LONGEST_HELD_CHARS) return "";
    // Whole steps, so that it does not depend on the pieces in which it came.
    const settled = Math.floor((length - 1) / LONGEST_HELD_CHARS) * LONGEST_HELD_CHARS;
    const surplus = this.#line.slice(0, settled);
    this.#line = this.#line.slice(settled);
    return surplus;
  }
}
