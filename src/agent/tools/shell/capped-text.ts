import { headOf, tailOf } from "../../../index.ts";

export interface LeftOut {
  readonly characters: number;
  readonly lines: number;
}

/** What went wrong stands at the end more often than at the beginning. */
const HEAD_SHARE = 1 / 3;

/** The beginning and the end of a text of any length, in bounded memory. */
export class CappedText {
  readonly #limit: number;
  #head = "";
  #tail = "";
  #length = 0;
  #lineEnds = 0;
  #last = "";

  constructor(limitChars: number) {
    this.#limit = limitChars;
  }

  get length(): number {
    return this.#length;
  }

  get lines(): number {
    return this.#lineEnds + (this.#last === "" || this.#last === "\n" ? 0 : 1);
  }

  add(text: string): void {
    if (text === "") return;
    if (this.#head.length < this.#limit) this.#head += text.slice(0, this.#limit - this.#head.length);
    this.#tail += text;
    // Cut now and then, not each time: pieces may be single characters.
    if (this.#tail.length > 2 * this.#limit) this.#tail = this.#tail.slice(-this.#limit);
    this.#length += text.length;
    this.#lineEnds += lineEndsIn(text);
    this.#last = text.slice(-1);
  }

  /** All of it, or head and tail with these words between them: never more than the limit. */
  render(words: (leftOut: LeftOut) => string): string {
    if (this.#length <= this.#limit) return this.#head;
    const longest = words({ characters: this.#length, lines: this.lines }).length;
    const room = Math.max(0, this.#limit - longest);
    const head = headOf(this.#head, Math.floor(room * HEAD_SHARE));
    const tail = tailOf(this.#tail, room - head.length);
    const lines = this.#lineEnds - lineEndsIn(head) - lineEndsIn(tail);
    return head + words({ characters: this.#length - head.length - tail.length, lines }) + tail;
  }
}

function lineEndsIn(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count++;
  return count;
}
