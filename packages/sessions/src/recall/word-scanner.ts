/**
 * Maximum indexed length of a term. A longer term is data, such as base64. Only its beginning is indexed,
 * because nobody searches for all of it.
 */
export const LONGEST_TERM = 64;
/** Maximum number of parts of an identifier. Anything with more is data. */
const MAX_PARTS = 12;

/**
 * Receiver of every term of a text. The characters of the term, in lower case, are in `units`, between the
 * positions `from` and `to`. They are valid only during the call. The parts of a term arrive after the whole
 * term.
 */
export interface TermSink {
  term(hash: number, check: number, units: Uint16Array, from: number, to: number): void;
  part(hash: number, check: number, units: Uint16Array, from: number, to: number): void;
  /** Called if a term was too long and only its beginning was reported. */
  long(): void;
}

const SEPARATOR = 0;
const SMALL = 1;
const CAPITAL = 2;
const UNDERSCORE = 3;
/**
 * Class of characters in scripts that have no spaces between words. Every two neighboring characters form a
 * term. The two halves of an emoji form a term too.
 */
const IDEOGRAPH = 4;

const UNDERSCORE_CODE = 0x5f;
const ESCAPE_CODE = 0x1b;
const BRACKET_CODE = 0x5b;

/** Skips a color code. In `ESC[31mError`, the code directly precedes a word and would become part of it. */
function afterEscape(units: Uint16Array, at: number, end: number): number {
  if (units[at + 1] !== BRACKET_CODE) return at + 1;
  let next = at + 2;
  while (next < end && (units[next] as number) >= 0x20 && (units[next] as number) < 0x40) next++;
  return Math.min(end, next + 1);
}

const ASCII_CLASSES: Readonly<Uint8Array> = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (/[a-z0-9]/.test(character)) return SMALL;
  if (/[A-Z]/.test(character)) return CAPITAL;
  return character === "_" ? UNDERSCORE : SEPARATOR;
});

/** Lower-case letter of each ASCII character, or 0 if the character is not part of a word. */
const ASCII_SMALL: Readonly<Uint8Array> = ASCII_CLASSES.map((kind, code) =>
  kind === SEPARATOR ? 0 : kind === CAPITAL ? code | 0x20 : code,
);

/** Checks whether this character continues a word. */
const isWordLetter = (code: number): boolean =>
  code < 128 ? ASCII_SMALL[code] !== 0 : classOf(code) === SMALL;

/**
 * Checks whether this character can be part of a term. If a query starts or ends with such a character, its
 * first or last term may be incomplete. The text may contain a longer term there.
 */
export const isWordUnit = (code: number): boolean =>
  (code < 128 ? ASCII_CLASSES[code] : classOf(code)) !== SEPARATOR;

/** Checks whether every pair of neighboring characters of this kind forms a term. */
export const isIdeograph = (code: number): boolean => code >= 128 && classOf(code) === IDEOGRAPH;

/**
 * Returns the class of a character. Uses ranges instead of Unicode tables. This is sufficient, because index
 * and query both use this function and only have to agree.
 */
function classOf(code: number): number {
  if (code < 0xaa) return SEPARATOR;
  if (code < 0x2000) return code === 0xd7 || code === 0xf7 || isLatinSign(code) ? SEPARATOR : SMALL;
  if (code < 0x2c00) return code >= 0x2070 && code < 0x2190 ? SMALL : SEPARATOR;
  if (code < 0x2e80) return SMALL;
  if (code >= 0x3000 && code <= 0x3004) return SEPARATOR;
  if (code >= 0x3008 && code <= 0x3020) return SEPARATOR;
  if (code >= 0xe000 && code <= 0xf8ff) return SEPARATOR;
  if (code >= 0xfe10 && code <= 0xfe6f) return SEPARATOR;
  if (code >= 0xff00) return isFullWidthSign(code) ? SEPARATOR : IDEOGRAPH;
  // The range of `SMALL` contains scripts with spaces between words. Hangul is above this range. It is
  // searched in pairs, like ideographs.
  return code >= 0xa4d0 && code < 0xac00 ? SMALL : IDEOGRAPH;
}

const isLatinSign = (code: number): boolean => code < 0xc0 && code !== 0xaa && code !== 0xb5 && code !== 0xba;

const isFullWidthSign = (code: number): boolean =>
  code <= 0xff0f || (code >= 0xff1a && code <= 0xff20) || (code >= 0xff5b && code <= 0xff65) || code > 0xffdc;

/** Converts each character separately. As a result, a part of a text has the same terms as the whole text. */
function smallLetter(code: number): number {
  const small = String.fromCharCode(code).toLowerCase();
  return small.length === 1 ? small.charCodeAt(0) : code;
}

const HASH_START = 0x811c9dc5 | 0;
const CHECK_START = 0x9747b28c | 0;

function mixed(hash: number): number {
  let mix = hash ^ (hash >>> 16);
  mix = Math.imul(mix, 0x85ebca6b);
  mix ^= mix >>> 13;
  mix = Math.imul(mix, 0xc2b2ae35);
  return (mix ^ (mix >>> 16)) >>> 0;
}

/** Maximum size of a buffer that is kept. Longer texts are rare, so their buffer is released. */
const KEPT_INPUT_UNITS = 1 << 20;

function inputFor(length: number): { readonly bytes: Buffer; readonly units: Uint16Array } {
  const bytes = Buffer.allocUnsafeSlow(2 * Math.max(1 << 16, length));
  return { bytes, units: new Uint16Array(bytes.buffer, 0, bytes.length / 2) };
}

/** Returns two hashes of a term. Together they identify it. */
export function termHashes(term: string): { readonly hash: number; readonly check: number } {
  let hash = HASH_START;
  let check = CHECK_START;
  for (let at = 0; at < term.length; at++) {
    const code = term.charCodeAt(at);
    hash = Math.imul(hash ^ code, 0x01000193);
    check = (Math.imul(check ^ code, 0x5bd1e995) + 0x3c6ef372) | 0;
  }
  return { hash: mixed(hash), check: mixed(check) };
}

/**
 * Splits text into terms, which are words in lower case. For names such as `getUserName`, `get_user_name` and
 * `HTTPServer`, both the whole name and its parts are terms. In scripts without spaces, every pair of
 * neighbors is a term. The class is optimized for speed, because splitting the text is most of the cost of an
 * index.
 */
export class WordScanner {
  readonly #sink: TermSink;
  readonly #units = new Uint16Array(LONGEST_TERM);
  readonly #pair = new Uint16Array(2);
  readonly #starts = new Uint8Array(MAX_PARTS);
  readonly #ends = new Uint8Array(MAX_PARTS);
  #input = inputFor(0);
  /** Start of the current term in the scanned text. Valid while the sink receives the term. */
  position = 0;

  constructor(sink: TermSink) {
    this.#sink = sink;
  }

  scan(text: string): void {
    // Reads the text as numbers, because accessing each character of a string takes several times as long.
    if (text.length > this.#input.units.length) this.#input = inputFor(text.length);
    const { bytes, units } = this.#input;
    bytes.write(text, 0, "utf16le");
    const end = text.length;
    for (let at = 0; at < end; ) {
      const code = units[at] as number;
      const kind = code < 128 ? ASCII_CLASSES[code] : classOf(code);
      if (kind === SEPARATOR) at = code === ESCAPE_CODE ? afterEscape(units, at, end) : at + 1;
      else at = kind === IDEOGRAPH ? this.#ideographs(units, at, end) : this.#word(units, at, end);
    }
    if (end > KEPT_INPUT_UNITS) this.#input = inputFor(0);
  }

  #word(text: Uint16Array, start: number, end: number): number {
    const units = this.#units;
    const stop = Math.min(end, start + LONGEST_TERM);
    let hash = HASH_START;
    let check = CHECK_START;
    let hasParts = false;
    let at = start;
    for (; at < stop; at++) {
      const code = text[at] as number;
      let small = code;
      if (code < 128) {
        small = ASCII_SMALL[code] as number;
        if (small === 0) break;
        if ((small !== code && at > start) || code === UNDERSCORE_CODE) hasParts = true;
      } else {
        if (classOf(code) !== SMALL) break;
        small = smallLetter(code);
      }
      units[at - start] = small;
      hash = Math.imul(hash ^ small, 0x01000193);
      check = (Math.imul(check ^ small, 0x5bd1e995) + 0x3c6ef372) | 0;
    }
    this.position = start;
    this.#sink.term(mixed(hash), mixed(check), units, 0, at - start);
    if (hasParts) this.#parts(text, start, at - start);
    if (at < stop || at === end || !isWordLetter(text[at] as number)) return at;
    this.#sink.long();
    while (at < end && isWordLetter(text[at] as number)) at++;
    return at;
  }

  /**
   * Reports the parts of a term. Reads the original text, because only there capitals are visible. If the
   * only part is the whole term, reports nothing.
   */
  #parts(text: Uint16Array, start: number, length: number): void {
    let count = 0;
    let from = 0;
    let before = SEPARATOR;
    for (let at = 0; at <= length; at++) {
      const code = at < length ? (text[start + at] as number) : UNDERSCORE_CODE;
      const kind = (code < 128 ? ASCII_CLASSES[code] : SMALL) as number;
      let to = -1;
      if (kind === UNDERSCORE || (kind === CAPITAL && before === SMALL)) to = at;
      // If several capitals precede a small letter, the last capital starts the next part: `HTTPServer`.
      else if (kind === SMALL && before === CAPITAL && at - from > 1) to = at - 1;
      before = kind;
      if (to < 0) continue;
      if (to > from) {
        if (to - from === length || count === MAX_PARTS) return;
        this.#starts[count] = from;
        this.#ends[count++] = to;
      }
      from = kind === UNDERSCORE ? to + 1 : to;
    }
    for (let nth = 0; nth < count; nth++)
      this.#emit(this.#units, this.#starts[nth] as number, this.#ends[nth] as number, true);
  }

  /** Computes the hashes of a term, or of a part of a term, and reports it. */
  #emit(units: Uint16Array, from: number, to: number, isPart: boolean): void {
    let hash = HASH_START;
    let check = CHECK_START;
    for (let at = from; at < to; at++) {
      const code = units[at] as number;
      hash = Math.imul(hash ^ code, 0x01000193);
      check = (Math.imul(check ^ code, 0x5bd1e995) + 0x3c6ef372) | 0;
    }
    if (isPart) this.#sink.part(mixed(hash), mixed(check), units, from, to);
    else this.#sink.term(mixed(hash), mixed(check), units, from, to);
  }

  #ideographs(text: Uint16Array, start: number, end: number): number {
    const pair = this.#pair;
    let length = 0;
    let at = start;
    for (; at < end; at++) {
      const code = text[at] as number;
      if (code < 128 || classOf(code) !== IDEOGRAPH) break;
      pair[0] = pair[1] as number;
      pair[1] = code;
      this.position = at - 1;
      if (++length > 1) this.#emit(pair, 0, 2, false);
    }
    this.position = start;
    if (length === 1) this.#emit(pair, 1, 2, false);
    return at;
  }
}

/** Word of a query, as a whole and in parts. */
export interface QueryTerm {
  readonly text: string;
  readonly parts: readonly string[];
}

/** Returns the terms that an index of the text would contain. */
export function termsOf(text: string): readonly QueryTerm[] {
  const found: { text: string; parts: string[] }[] = [];
  const textOf = (units: Uint16Array, from: number, to: number): string =>
    String.fromCharCode(...units.subarray(from, to));
  new WordScanner({
    term: (_hash, _check, units, from, to) => found.push({ text: textOf(units, from, to), parts: [] }),
    part: (_hash, _check, units, from, to) => found.at(-1)?.parts.push(textOf(units, from, to)),
    long: () => undefined,
  }).scan(text);
  return found;
}

export type PiecePlace = "start" | "end" | "anywhere";

export interface Piece {
  readonly text: string;
  readonly where: PiecePlace;
}

/**
 * Pattern of a color code without its invisible first character, and of the text attached to the code. The
 * index may contain the word of `[31mError` as `error`, or unchanged.
 */
const REST_OF_COLOR = /^\[(?:[\d;?]+[A-Za-z]|[mK])\S*/;

/**
 * Returns terms that every document with this text must have in the index. These are whole words, and pieces
 * of words at both ends of the text.
 */
export function neededTerms(text: string): {
  readonly whole: readonly string[];
  readonly pieces: readonly Piece[];
} {
  const literal = text.replace(REST_OF_COLOR, " ");
  const terms = termsOf(literal);
  const whole: string[] = [];
  const pieces: Piece[] = [];
  for (const [nth, { text }] of terms.entries()) {
    // The index contains every pair of adjacent ideographs.
    const isPair = text.length === 2 && isIdeograph(text.charCodeAt(0)) && isIdeograph(text.charCodeAt(1));
    const touchesStart = nth === 0 && isWordUnit(literal.charCodeAt(0));
    const touchesEnd = nth === terms.length - 1 && isWordUnit(literal.charCodeAt(literal.length - 1));
    if (isPair || !(touchesStart || touchesEnd)) whole.push(text);
    else pieces.push({ text, where: !touchesStart ? "start" : touchesEnd ? "anywhere" : "end" });
  }
  return { whole, pieces };
}
