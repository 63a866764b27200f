import type { QueryWord } from "./query-words.ts";
import { stemOf } from "./stem.ts";
import { WordScanner } from "./word-scanner.ts";

/** Weights of the forms of a word. A form that says less than the word itself counts less. */
export const FORM_WEIGHTS = {
  whole: 1,
  /** Other word with the same stem. */
  stem: 0.9,
  /** Other word for the same thing. */
  related: 0.4,
  /** Part of an identifier, which is only a hint. */
  part: 0.4,
  /** Word that contains the searched word. Such words count only if no word equals it. */
  piece: 0.5,
} as const;

/** Place of a query word in a text. */
export interface FoundWord {
  /** Position of the word in the query. */
  readonly word: number;
  readonly weight: number;
  readonly from: number;
  readonly to: number;
}

type Form = Pick<FoundWord, "word" | "weight">;

/** Maximum number of places in one text. Their order tells where the best passage is, not their number. */
const MAX_PLACES = 2_000;

/**
 * Finds the words of a query in texts. Splits the texts as the index does, so that both agree. Remembers which
 * of their words match, because most words repeat.
 */
export class WordFinder {
  readonly #forms = new Map<string, Form>();
  readonly #stems = new Map<string, Form>();
  /** Form of each word so far, by its hash, or null if it matches no word. */
  readonly #known = new Map<number, Form | null>();
  /** First two characters of all forms and stems. Most words of a text can be skipped by them. */
  readonly #starts = new Set<number>();
  readonly #scanner: WordScanner;
  readonly #words: readonly QueryWord[];
  #found: FoundWord[] = [];

  constructor(words: readonly QueryWord[]) {
    this.#words = words;
    const add = (forms: Map<string, Form>, text: string, form: Form): void => {
      const known = forms.get(text);
      if (known === undefined || known.weight < form.weight) forms.set(text, form);
    };
    for (const [word, { text, parts, stem, related }] of words.entries()) {
      add(this.#forms, text, { word, weight: FORM_WEIGHTS.whole });
      for (const part of parts) add(this.#forms, part, { word, weight: FORM_WEIGHTS.part });
      add(this.#stems, stem, { word, weight: FORM_WEIGHTS.stem });
      for (const other of related) add(this.#stems, stemOf(other), { word, weight: FORM_WEIGHTS.related });
    }
    for (const text of [...this.#forms.keys(), ...this.#stems.keys()]) {
      this.#starts.add(startOf(text.charCodeAt(0), text.charCodeAt(1)));
    }
    this.#scanner = new WordScanner({
      term: (hash, check, units, from, to) => this.#term(hash, check, units, from, to, 1),
      part: (hash, check, units, from, to) => this.#term(hash, check, units, from, to, FORM_WEIGHTS.part),
      long: () => undefined,
    });
  }

  /** Finds the words in a text, in the order of the text. */
  find(text: string): readonly FoundWord[] {
    this.#found = [];
    this.#scanner.scan(text);
    return this.#found;
  }

  /** Finds words that contain the words of the query. Use it if a text has no whole word. */
  findPieces(text: string): readonly FoundWord[] {
    const small = text.toLowerCase();
    // A letter whose small form has another length would shift the places.
    if (small.length !== text.length) return [];
    const found: FoundWord[] = [];
    for (const [word, { text: piece }] of this.#words.entries()) {
      for (let at = small.indexOf(piece); at >= 0; at = small.indexOf(piece, at + piece.length)) {
        found.push({ word, weight: FORM_WEIGHTS.piece, from: at, to: at + piece.length });
        if (found.length >= MAX_PLACES) break;
      }
    }
    return found.sort((a, b) => a.from - b.from);
  }

  #term(hash: number, check: number, units: Uint16Array, from: number, to: number, share: number): void {
    if (this.#found.length >= MAX_PLACES) return;
    if (!this.#starts.has(startOf(units[from] as number, to - from > 1 ? (units[from + 1] as number) : 0)))
      return;
    const key = hash * 2 ** 21 + (check & 0x1fffff);
    let form = this.#known.get(key);
    if (form === undefined) {
      const text = String.fromCharCode(...units.subarray(from, to));
      form = this.#forms.get(text) ?? this.#stems.get(stemOf(text)) ?? null;
      this.#known.set(key, form);
    }
    if (form === null) return;
    const start = this.#scanner.position;
    const weight = form.weight * share;
    const previous = this.#found.at(-1);
    // A part of an identifier that matches as a whole adds nothing.
    if (
      share < 1 &&
      previous?.word === form.word &&
      previous.from <= start + from &&
      previous.to >= start + to
    )
      return;
    const at = share < 1 ? start + from : start;
    this.#found.push({ word: form.word, weight, from: at, to: at + to - from });
  }
}

/** Combines the first two characters of a word. A stem starts with the same characters as its words. */
const startOf = (first: number, second: number): number => first * 2 ** 16 + (second || 0);
