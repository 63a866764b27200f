import type { QueryWord } from "./query-words.ts";
import { stemOf } from "./stem.ts";
import { isIdeograph, isWordUnit, WordScanner } from "./word-scanner.ts";

/** Weights of the forms of a word. A form that says less than the word itself counts less. */
export const FORM_WEIGHTS = {
  whole: 1,
  /** Other word with the same stem, or a compound with the word. */
  stem: 0.9,
  /** Other word for the same thing. */
  related: 0.4,
  /** Part of an identifier, which is only a hint. */
  part: 0.4,
  /** Word that contains the searched word. Such words count only if no word equals it. */
  piece: 0.5,
} as const;

const SHORTEST_PIECE = 3;

/**
 * Checks whether a text is too short for a search inside words. A single letter is too short, because it
 * occurs in very many words. A single ideograph is not, because it is a word.
 */
export const isTooShort = (text: string): boolean =>
  text.length < SHORTEST_PIECE && !isIdeograph(text.charCodeAt(0));

/** Place of a query word in a text. */
export interface FoundWord {
  /** Position of the word in the query. */
  readonly word: number;
  readonly weight: number;
  readonly from: number;
  readonly to: number;
}

type Form = Pick<FoundWord, "word" | "weight">;
/** Forms by text or by stem. A compound such as `homepage` is a form of two words. */
type Forms = Map<string, readonly Form[]>;

/** Maximum number of places in one text. Their order tells where the best passage is, not their number. */
const MAX_PLACES = 2_000;

/**
 * Finds the words of a query in texts. Splits the texts as the index does, so that both agree. Remembers which
 * of their words match, because most words repeat.
 */
export class WordFinder {
  readonly #forms: Forms = new Map();
  readonly #stems: Forms = new Map();
  /** Forms of each word so far, by its hash. */
  readonly #known = new Map<number, readonly Form[]>();
  /** Finds the first characters of all forms. Splits only words that have them, because most words do not. */
  readonly #starts: RegExp;
  readonly #scanner: WordScanner;
  readonly #words: readonly QueryWord[];
  #found: FoundWord[] = [];
  /** Position of the scanned part in the text. */
  #offset = 0;

  constructor(words: readonly QueryWord[]) {
    this.#words = words;
    for (const [word, { text, parts, stem, related, joined }] of words.entries()) {
      addForm(this.#forms, text, { word, weight: FORM_WEIGHTS.whole });
      for (const part of parts) addForm(this.#forms, part, { word, weight: FORM_WEIGHTS.part });
      addForm(this.#stems, stem, { word, weight: FORM_WEIGHTS.stem });
      for (const other of joined) addForm(this.#stems, stemOf(other), { word, weight: FORM_WEIGHTS.stem });
      for (const other of related)
        addForm(this.#stems, stemOf(other), { word, weight: FORM_WEIGHTS.related });
    }
    const starts = [...this.#forms.keys(), ...this.#stems.keys()].map(startOf);
    this.#starts = new RegExp([...new Set(starts)].join("|") || "(?!)", "gi");
    this.#scanner = new WordScanner({
      term: (hash, check, units, from, to) => this.#term(hash, check, units, from, to, 1),
      part: (hash, check, units, from, to) => this.#term(hash, check, units, from, to, FORM_WEIGHTS.part),
      long: () => undefined,
    });
  }

  /** Finds the words in a text, in the order of the text. If it has none, finds them inside other words. */
  find(text: string): readonly FoundWord[] {
    this.#found = [];
    const starts = this.#starts;
    starts.lastIndex = 0;
    for (let match = starts.exec(text), done = 0; match !== null; match = starts.exec(text)) {
      const { from, to } = runAround(text, match.index, done);
      this.#offset = from;
      this.#scanner.scan(text.slice(from, to));
      done = to;
      starts.lastIndex = Math.max(to, match.index + 1);
      if (this.#found.length >= MAX_PLACES) break;
    }
    return this.#found.length > 0 ? this.#found : this.#pieces(text);
  }

  #pieces(text: string): readonly FoundWord[] {
    const small = text.toLowerCase();
    // A letter whose small form has another length would shift the places.
    if (small.length !== text.length) return [];
    const found: FoundWord[] = [];
    for (const [word, { text: piece }] of this.#words.entries()) {
      if (isTooShort(piece)) continue;
      for (let at = small.indexOf(piece); at >= 0; at = small.indexOf(piece, at + piece.length)) {
        found.push({ word, weight: FORM_WEIGHTS.piece, from: at, to: at + piece.length });
        if (found.length >= MAX_PLACES) break;
      }
    }
    return found.sort((a, b) => a.from - b.from);
  }

  #term(hash: number, check: number, units: Uint16Array, from: number, to: number, share: number): void {
    if (this.#found.length >= MAX_PLACES) return;
    const key = hash * 2 ** 21 + (check & 0x1fffff);
    let forms = this.#known.get(key);
    if (forms === undefined) {
      const text = String.fromCharCode(...units.subarray(from, to));
      forms = bestForms([...(this.#forms.get(text) ?? []), ...(this.#stems.get(stemOf(text)) ?? [])]);
      this.#known.set(key, forms);
    }
    // Positions of a part count from the start of its whole term.
    const at = this.#offset + this.#scanner.position + (share < 1 ? from : 0);
    for (const { word, weight } of forms)
      this.#add({ word, weight: weight * share, from: at, to: at + to - from });
  }

  #add(found: FoundWord): void {
    const whole = this.#found.at(-1);
    // A part of an identifier that matches as a whole adds nothing.
    const isInside = whole !== undefined && whole.from <= found.from && whole.to >= found.to;
    if (isInside && whole.word === found.word && whole.weight >= found.weight) return;
    this.#found.push(found);
  }
}

const addForm = (forms: Forms, text: string, form: Form): unknown =>
  forms.set(text, [...(forms.get(text) ?? []), form]);

/** Keeps the best form for each word of the query. */
function bestForms(forms: readonly Form[]): readonly Form[] {
  const best = new Map<number, Form>();
  for (const form of forms) if (form.weight > (best.get(form.word)?.weight ?? 0)) best.set(form.word, form);
  return [...best.values()];
}

/** Length of the start of a form. A stem shares it with its words, except for the last letter of `try`. */
const START_CHARACTERS = 3;

/** Pattern of the start of a form. `tries` has the stem `try`. */
const startOf = (form: string): string =>
  form
    .slice(0, START_CHARACTERS)
    .replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")
    .replace(/^(..)[iy]$/, "$1[iy]");

/**
 * Returns the run of word characters around a position, with a color code that directly precedes it: in
 * `ESC[31mError`, only the code tells where the word starts.
 * @param least end of the previous run
 */
function runAround(text: string, at: number, least: number): { readonly from: number; readonly to: number } {
  let [from, to] = [at, at];
  while (from > least && isWordUnit(text.charCodeAt(from - 1))) from--;
  while (to < text.length && isWordUnit(text.charCodeAt(to))) to++;
  let code = from;
  while (code > least && /[\d;?]/.test(text.charAt(code - 1))) code--;
  const isColored = code - 2 >= least && text.startsWith(COLOR_START, code - 2);
  return { from: isColored ? code - 2 : from, to };
}

const COLOR_START = "\u001b[";
