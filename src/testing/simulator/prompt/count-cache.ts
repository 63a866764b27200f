/** Text kept for recognition, in each of the two halves. A long conversation is a few million characters. */
const HALF_CHARACTERS = 8_000_000;

/** A text shorter than this is counted sooner than it is found. */
const SHORTEST_KEPT = 32;

/**
 * Counts each text once. Two halves: when the younger is full it becomes the older, whose texts are let go
 * unless they were asked for again. So the memory is bounded, and what is in use stays.
 */
export class CountCache {
  readonly #count: (text: string) => number;
  readonly #halfCharacters: number;
  #young = new Map<string, number>();
  #old = new Map<string, number>();
  #youngCharacters = 0;

  constructor(count: (text: string) => number, halfCharacters: number = HALF_CHARACTERS) {
    this.#count = count;
    this.#halfCharacters = halfCharacters;
  }

  count(text: string): number {
    if (text.length < SHORTEST_KEPT) return text === "" ? 0 : this.#count(text);
    const young = this.#young.get(text);
    if (young !== undefined) return young;
    const tokens = this.#old.get(text) ?? this.#count(text);
    this.#keep(text, tokens);
    return tokens;
  }

  #keep(text: string, tokens: number): void {
    if (text.length > this.#halfCharacters) return;
    if (this.#youngCharacters + text.length > this.#halfCharacters) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#youngCharacters = 0;
    }
    this.#young.set(text, tokens);
    this.#youngCharacters += text.length;
  }
}
