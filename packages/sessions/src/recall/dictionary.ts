import { crc32 } from "node:zlib";
import { type PiecePlace, termHashes } from "./word-scanner.ts";

/** Part of an index. Reads only the requested bytes. */
export interface Section {
  readonly bytes: number;
  read(from: number, to: number): Buffer;
  /** Reads the whole section and verifies its checksum. */
  whole(): Buffer;
}

interface Block {
  readonly terms: Buffer;
  readonly count: number;
}

/** Terms of an index on disk. A lookup reads one block and one list. */
export class Dictionary {
  readonly #blocks: Section;
  readonly #terms: Section;
  readonly #texts: Section;
  readonly #postings: Section;
  #directory: Buffer | undefined;
  /** Block that was read last. It is cached, because a search for a part of a term visits terms in order. */
  #block: (Block & { readonly nth: number }) | undefined;

  constructor(sections: Readonly<Record<"blocks" | "terms" | "texts" | "postings", Section>>) {
    this.#blocks = sections.blocks;
    this.#terms = sections.terms;
    this.#texts = sections.texts;
    this.#postings = sections.postings;
  }

  /** Returns the documents that contain a term, in order. */
  documents(term: string): Uint32Array {
    const list = this.list(term);
    return list === undefined ? new Uint32Array(0) : documentsIn(list);
  }

  /**
   * Returns the documents that contain a term, as an encoded list. The list also has the count of the term in
   * each document, see {@link eachPosting}.
   */
  list(term: string): Buffer | undefined {
    const record = this.#find(term);
    return record === undefined ? undefined : this.#list(record);
  }

  /** Returns the documents that contain the term at this position among all terms. */
  listAt(nth: number): Buffer {
    const block = this.#readBlock(Math.floor(nth / BLOCK_TERMS));
    const at = nth % BLOCK_TERMS;
    if (at >= block.count) damaged("a missing term");
    return this.#list(block.terms.subarray(at * TERM_BYTES, (at + 1) * TERM_BYTES));
  }

  /** Returns up to `most` terms with this text. `where` is the place of the text in the term. */
  termsWith(text: string, where: PiecePlace, most: number): readonly FoundTerm[] {
    const texts = this.#texts.whole();
    const wanted = textBytes(text);
    const edge = Buffer.of(TEXT_END);
    const needle = Buffer.concat([where === "start" ? edge : NONE, wanted, where === "end" ? edge : NONE]);
    const found: FoundTerm[] = [];
    for (let at = texts.indexOf(needle); at >= 0 && found.length < most; ) {
      const start = where === "start" ? at + 1 : texts.lastIndexOf(TEXT_END, at) + 1;
      const end = texts.indexOf(TEXT_END, start);
      if (end < 0) damaged("a text without an end");
      found.push(this.#termAt(texts, start, end));
      // Includes the byte at `end`, because the needle may start with the byte that separates two texts.
      at = texts.indexOf(needle, end);
    }
    return found;
  }

  #termAt(texts: Buffer, start: number, end: number): FoundTerm {
    const directory = this.#readDirectory();
    const nthBlock = lastBlock(directory, (at) => directory.readUInt32LE(at + 4) <= start);
    let nth = 0;
    const blockStart = directory.readUInt32LE(nthBlock * BLOCK_ENTRY_BYTES + 4);
    for (let at = texts.indexOf(TEXT_END, blockStart); at >= 0 && at < start; nth++) {
      at = texts.indexOf(TEXT_END, at + 1);
    }
    const block = this.#readBlock(nthBlock);
    if (nth >= block.count) damaged("a text without a term");
    const record = block.terms.subarray(nth * TERM_BYTES, (nth + 1) * TERM_BYTES);
    return {
      text: () => decodedText(texts.subarray(start, end)),
      list: () => this.#list(record),
    };
  }

  #find(term: string): Buffer | undefined {
    const { hash, check } = termHashes(term);
    const directory = this.#readDirectory();
    const blocks = directory.length / BLOCK_ENTRY_BYTES;
    if (blocks === 0) return undefined;
    // Terms with the same hash may continue in the next block.
    const first = lastBlock(directory, (at) => directory.readUInt32LE(at) < hash);
    for (let nth = first; nth < blocks; nth++) {
      if (nth > first && directory.readUInt32LE(nth * BLOCK_ENTRY_BYTES) > hash) return undefined;
      const { terms, count } = this.#readBlock(nth);
      for (let at = 0; at < count; at++) {
        const place = at * TERM_BYTES;
        if (terms.readUInt32LE(place) !== hash || terms.readUInt32LE(place + 4) !== check) continue;
        return terms.subarray(place, place + TERM_BYTES);
      }
    }
    return undefined;
  }

  #readDirectory(): Buffer {
    this.#directory ??= this.#blocks.whole();
    return this.#directory;
  }

  #readBlock(nth: number): Block {
    if (this.#block?.nth === nth) return this.#block;
    if ((nth + 1) * BLOCK_ENTRY_BYTES > this.#readDirectory().length) damaged("a missing block");
    const start = nth * BLOCK_TERMS * TERM_BYTES;
    const end = Math.min(start + BLOCK_TERMS * TERM_BYTES, this.#terms.bytes);
    const terms = this.#terms.read(start, end);
    if (crc32(terms) !== this.#readDirectory().readUInt32LE(nth * BLOCK_ENTRY_BYTES + 8)) damaged("terms");
    this.#block = { nth, terms, count: terms.length / TERM_BYTES };
    return this.#block;
  }

  #list(record: Buffer): Buffer {
    const start = record.readUInt32LE(8);
    const list = this.#postings.read(start, start + record.readUInt32LE(12));
    if (crc32(list) !== record.readUInt32LE(16)) damaged("postings");
    return list;
  }
}

/** Returns the last block for which `isBefore` is true, or the first one. */
function lastBlock(directory: Buffer, isBefore: (entry: number) => boolean): number {
  let [low, high] = [0, directory.length / BLOCK_ENTRY_BYTES - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (isBefore(middle * BLOCK_ENTRY_BYTES)) low = middle;
    else high = middle - 1;
  }
  return low;
}

const NONE = Buffer.alloc(0);

interface FoundTerm {
  text(): string;
  list(): Buffer;
}

/** Returns the number of documents that contain a term. */
const frequencyIn = (list: Buffer): number => readVarint(list, 0).value;

/** Visits the documents of a list in order. `count` is the number of times that the document has the term. */
export function eachPosting(list: Buffer, visit: (document: number, count: number) => void): void {
  const { value: length, end } = readVarint(list, 0);
  let [document, at] = [0, end];
  for (let nth = 0; nth < length; nth++) {
    let byte = list[at++] ?? damaged("postings");
    let value = byte & 0x7f;
    for (let shift = 128; byte >= 0x80; shift *= 128) {
      byte = list[at++] ?? damaged("postings");
      value += (byte & 0x7f) * shift;
    }
    document += Math.floor(value / 2);
    visit(document, value % 2 === 1 ? (list[at++] ?? 1) : 1);
  }
}

function documentsIn(list: Buffer): Uint32Array {
  const documents = new Uint32Array(Math.min(frequencyIn(list), list.length));
  let nth = 0;
  eachPosting(list, (document) => {
    documents[nth++] = document;
  });
  return documents;
}

function readVarint(bytes: Buffer, start: number): { readonly value: number; readonly end: number } {
  let [value, shift, at] = [0, 1, start];
  for (;;) {
    const byte = bytes[at++] ?? damaged("a number");
    value += (byte & 0x7f) * shift;
    if (byte < 0x80) return { value, end: at };
    shift *= 128;
  }
}

/** Reverses {@link textBytes}. */
function decodedText(bytes: Buffer): string {
  const units: number[] = [];
  for (let at = 0; at < bytes.length; ) {
    const byte = bytes[at] as number;
    if (byte < 0x80) units.push(bytes[at++] as number);
    else if (byte < 0xe0) {
      units.push(((byte & 0x1f) << 6) | ((bytes[at + 1] ?? 0) & 0x3f));
      at += 2;
    } else {
      units.push(
        ((byte & 0x0f) << 12) | (((bytes[at + 1] ?? 0) & 0x3f) << 6) | ((bytes[at + 2] ?? 0) & 0x3f),
      );
      at += 3;
    }
  }
  return String.fromCharCode(...units);
}

/**
 * Size of a term in a dictionary on disk. It consists of two hashes, and of the position, length and checksum
 * of its postings.
 */
export const TERM_BYTES = 20;
export const BLOCK_TERMS = 64;
/** Size of the data about a block: its first hash, the start of the texts of its terms, its checksum. */
export const BLOCK_ENTRY_BYTES = 12;
/** Byte that separates two terms among the texts. */
export const TEXT_END = 0;

/** Dictionary as an index stores it: terms by hash, their texts in the same order, and their postings. */
export interface DictionaryBytes {
  readonly blocks: Buffer;
  readonly terms: Buffer;
  readonly texts: Buffer;
  readonly postings: Buffer;
}

/**
 * Writes each code unit as UTF-8 separately, because a term of two neighboring code units can contain half of
 * a character. A name in a session may contain a zero. The zero is written as two bytes, because a single
 * zero byte ends a text.
 */
export function writeUnit(bytes: Uint8Array, at: number, unit: number): number {
  let place = at;
  if (unit < 0x80 && unit !== TEXT_END) bytes[place++] = unit;
  else if (unit < 0x800) {
    bytes[place++] = 0xc0 | (unit >> 6);
    bytes[place++] = 0x80 | (unit & 0x3f);
  } else {
    bytes[place++] = 0xe0 | (unit >> 12);
    bytes[place++] = 0x80 | ((unit >> 6) & 0x3f);
    bytes[place++] = 0x80 | (unit & 0x3f);
  }
  return place;
}

/** Encodes a term or a part of one as it appears among the texts. */
function textBytes(text: string): Buffer {
  const bytes = Buffer.alloc(text.length * 3);
  let end = 0;
  for (let at = 0; at < text.length; at++) end = writeUnit(bytes, end, text.charCodeAt(at));
  return bytes.subarray(0, end);
}

/** Error of an untrustworthy index. The index is discarded and rebuilt silently. */
export class IndexDamaged extends Error {
  override readonly name: string = "IndexDamaged";
}

export function damaged(what: string): never {
  throw new IndexDamaged(`The index is damaged: ${what}.`);
}
