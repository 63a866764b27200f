/**
 * Our own reader of control characters. Packages such as strip-ansi remove colors, but they do not replay
 * what a carriage return or a backspace overwrites, and they need the whole text at once.
 */

/**
 * Maximum length of a line that is held back. A line is held back until it is complete, because output after
 * a carriage return may overwrite it. Longer lines are released anyway.
 */
const LONGEST_HELD_CHARS = 16_384;

/**
 * Sequences that a terminal interprets: colors and cursor moves, titles and links, character sets. Their
 * length is bounded, so that an unfinished one is not held back forever.
 */
const SEQUENCE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: terminals' control characters are the point
  /(?:\u001b\[|\u009b)[0-?]{0,64}[ -/]{0,8}[@-~]|\u001b[\]PX^_][^\u0007\u001b]{0,4000}(?:\u0007|\u001b\\)|\u001b[ -/]{0,8}[0-OQ-WYZ\\`-~]/g;
/** Pattern of an unfinished sequence. */
const BEGUN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: terminals' control characters are the point
  /(?:(?:\u001b\[|\u009b)[0-?]{0,64}[ -/]{0,8}|\u001b[\]PX^_][^\u0007\u001b]{0,4000}\u001b?|\u001b[ -/]{0,8})$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals' control characters are the point
const ANY_CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;
/** Control characters except tabs and those that move within or between lines. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals' control characters are the point
const OTHER_CONTROLS = /[\u0000-\u0007\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;
const BACKSPACE = "\b";
const MOVES = new RegExp(`([\\r\\n${BACKSPACE}])`);

/**
 * Converter of terminal output into the text that a person finally sees. The text has no colors. Of an
 * overwritten line, such as a progress bar, it has only the last state. The result does not depend on how the
 * input is split into pieces.
 */
export class TerminalText {
  #begun = "";
  #line = "";
  #isReturned = false;

  /** Returns the line that is still being written. */
  get line(): string {
    return this.#line;
  }

  /** Adds a piece and returns the text that became final. */
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

  /**
   * Returns the line that was held back because later output could overwrite it. After this call, the line is
   * final.
   */
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
      // Only a character after the carriage return overwrites the line, because `\r\n` is an ordinary line
      // end.
      if (this.#isReturned) this.#line = "";
      this.#isReturned = false;
      this.#line += part;
    }
    return this.#surplus();
  }

  #surplus(): string {
    const length = this.#line.length;
    if (length <= LONGEST_HELD_CHARS) return "";
    // Releases only multiples of the length limit, so that the result does not depend on how the input is
    // split.
    const settled = Math.floor((length - 1) / LONGEST_HELD_CHARS) * LONGEST_HELD_CHARS;
    const surplus = this.#line.slice(0, settled);
    this.#line = this.#line.slice(settled);
    return surplus;
  }
}
