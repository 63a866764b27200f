import type { Random } from "../../demo/random.ts";

/**
 * Maximum number of generated pieces of text. The limit is necessary because nested repetitions multiply. No
 * pattern of a tool input needs a longer text.
 */
const MAX_PIECES = 20_000;

const DIGITS = "0123456789";
const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const WORD = `${LETTERS}${DIGITS}_`;
const PRINTABLE: string = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)).join("");

/** Characters that each escape can produce. A word boundary produces no character. */
const PLAIN_ESCAPES = { d: DIGITS, w: WORD, s: " ", n: "\n", t: "\t", b: "" };
const ESCAPES: Readonly<Record<string, string>> = { ...PLAIN_ESCAPES, D: LETTERS, W: "-./ ", S: WORD };

/**
 * Error for pattern features that this file cannot generate (look-around, references). It never leaves this
 * file.
 */
class Unsupported extends Error {}

/**
 * Generates a text that should match the pattern. Returns undefined for unsupported patterns. Unbounded
 * repetitions exceed their minimum by at most `extraRepeats`.
 */
export function textMatching(pattern: string, random: Random, extraRepeats: number): string | undefined {
  try {
    return new PatternWriter(pattern, random, extraRepeats).write();
  } catch (error) {
    if (error instanceof Unsupported) return undefined;
    throw error;
  }
}

/**
 * Reads the pattern from left to right and writes matching text at the same time. It also reads alternatives
 * that are not selected, and drops their text.
 */
class PatternWriter {
  readonly #pattern: string;
  readonly #random: Random;
  readonly #extraRepeats: number;
  #at = 0;
  #pieces = 0;

  constructor(pattern: string, random: Random, extraRepeats: number) {
    this.#pattern = pattern;
    this.#random = random;
    this.#extraRepeats = extraRepeats;
  }

  write(): string {
    const text = this.#alternatives();
    if (this.#at < this.#pattern.length) throw new Unsupported();
    return text;
  }

  #alternatives(): string {
    const choices = [this.#sequence()];
    while (this.#peek() === "|") {
      this.#at++;
      choices.push(this.#sequence());
    }
    return choices[this.#random.between(0, choices.length - 1)] ?? "";
  }

  #sequence(): string {
    let text = "";
    for (let next = this.#peek(); next !== "" && next !== "|" && next !== ")"; next = this.#peek()) {
      text += this.#repeated();
    }
    return text;
  }

  /** Reads an atom again for each repetition. Otherwise `[a-z]{4}` would repeat one letter four times. */
  #repeated(): string {
    const start = this.#at;
    const once = this.#atom();
    const end = this.#at;
    const [low, high] = this.#quantifier();
    const after = this.#at;
    if (low === 1 && high === 1) return once;
    let text = "";
    for (let count = this.#random.between(low, high); count > 0; count--) {
      this.#at = start;
      text += this.#atom();
      if (this.#at !== end) throw new Unsupported();
    }
    this.#at = after;
    return text;
  }

  #quantifier(): readonly [low: number, high: number] {
    const rest = this.#pattern.slice(this.#at, this.#at + 24);
    const match = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/.exec(rest);
    if (match === null) return [1, 1];
    this.#at += match[0].length;
    if (match[0].startsWith("*")) return [0, this.#extraRepeats];
    if (match[0].startsWith("+")) return [1, 1 + this.#extraRepeats];
    if (match[0].startsWith("?")) return [0, 1];
    const low = Number(match[1]);
    if (match[2] === "") return [low, low];
    return [low, match[3] === "" ? low + this.#extraRepeats : Number(match[3])];
  }

  #atom(): string {
    if (++this.#pieces > MAX_PIECES) throw new Unsupported();
    const character = this.#take();
    if (character === "^" || character === "$") return "";
    if (character === ".") return this.#oneOf(WORD);
    if (character === "[") return this.#oneOf(this.#characterClass());
    if (character === "(") return this.#group();
    if (character === "\\") return this.#oneOf(this.#escape());
    if ("*+?{".includes(character)) throw new Unsupported();
    return character;
  }

  #group(): string {
    if (this.#peek() === "?") {
      const opening = /^\?(?::|<[A-Za-z_]\w*>)/.exec(this.#pattern.slice(this.#at, this.#at + 64));
      if (opening === null) throw new Unsupported();
      this.#at += opening[0].length;
    }
    const text = this.#alternatives();
    if (this.#take() !== ")") throw new Unsupported();
    return text;
  }

  #escape(): string {
    const letter = this.#take();
    const characters = ESCAPES[letter];
    if (characters !== undefined) return characters;
    if (letter === "" || /[A-Za-z0-9]/.test(letter)) throw new Unsupported();
    return letter;
  }

  #characterClass(): string {
    const isNegated = this.#peek() === "^";
    if (isNegated) this.#at++;
    let allowed = "";
    while (this.#peek() !== "]") {
      if (this.#peek() === "") throw new Unsupported();
      const from = this.#classCharacter();
      if (from.length === 1 && this.#peek() === "-" && this.#pattern.charAt(this.#at + 1) !== "]") {
        this.#at++;
        allowed += range(from, this.#classCharacter());
      } else allowed += from;
    }
    this.#at++;
    if (!isNegated) return allowed;
    return [...PRINTABLE].filter((character) => !allowed.includes(character)).join("");
  }

  #classCharacter(): string {
    const character = this.#take();
    return character === "\\" ? this.#escape() : character;
  }

  #oneOf(characters: string): string {
    return characters === "" ? "" : characters.charAt(this.#random.between(0, characters.length - 1));
  }

  #peek(): string {
    return this.#pattern.charAt(this.#at);
  }

  #take(): string {
    return this.#pattern.charAt(this.#at++);
  }
}

/**
 * Maximum number of characters that are taken from a range such as `a-z`. A longer range is truncated,
 * because any of its characters matches.
 */
const MAX_RANGE_CHARACTERS = 128;

function range(from: string, to: string): string {
  const first = from.charCodeAt(0);
  const count = to.charCodeAt(0) - first + 1;
  if (to.length !== 1 || count < 1) throw new Unsupported();
  return Array.from({ length: Math.min(count, MAX_RANGE_CHARACTERS) }, (_, index) =>
    String.fromCharCode(first + index),
  ).join("");
}
