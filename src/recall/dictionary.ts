import { crc32 } from "node:zlib";
import { damaged } from "./damage.ts";
import { BLOCK_ENTRY_BYTES, BLOCK_TERMS, TERM_BYTES, TEXT_END, textBytes } from "./term-table.ts";
import { termHashes } from "./words.ts";

/** A part of an index; only what is asked for is read. */
export interface Section {
  readonly bytes: number;
  read(from: number, to: number): Buffer;
  /** All of it, checked. */
  whole(): Buffer;
}

interface Block {
  readonly terms: Buffer;
  readonly count: number;
}

/** Where in a term a piece of it is looked for. */
export type PiecePlace = "start" | "end" | "anywhere";

/** Terms of an index as they stand on the disk. A look-up reads one block and one list. */
export class Dictionary {
  readonly #blocks: Section;
  readonly #terms: Section;
  readonly #texts: Section;
  readonly #postings: Section;
  #directory: Buffer | undefined;
  /** The one that was read last: terms that are found by a piece of them come in order. */
  #block: (Block & { readonly nth: number }) | undefined;

  constructor(sections: Readonly<Record<"blocks" | "terms" | "texts" | "postings", Section>>) {
    this.#blocks = sections.blocks;
    this.#terms = sections.terms;
    this.#texts = sections.texts;
    this.#postings = sections.postings;
  }

  /** In which documents a term is, in their order. */
  documents(term: string): Uint32Array {
    const list = this.list(term);
    return list === undefined ? new Uint32Array(0) : documentsIn(list);
  }

  /** The same as it stands, with how often it is in each: see {@link eachPosting}. */
  list(term: string): Buffer | undefined {
    const record = this.#find(term);
    return record === undefined ? undefined : this.#list(record);
  }

  /** The terms that hold this text, begin or end with it, up to so many. */
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
      // The same byte may end one text and be the start of the next.
      at = texts.indexOf(needle, end);
    }
    return found;
  }

  #termAt(texts: Buffer, start: number, end: number): FoundTerm {
    const directory = this.#readDirectory();
    let [low, high] = [0, directory.length / BLOCK_ENTRY_BYTES - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (directory.readUInt32LE(middle * BLOCK_ENTRY_BYTES + 4) <= start) low = middle;
      else high = middle - 1;
    }
    let nth = 0;
    const blockStart = directory.readUInt32LE(low * BLOCK_ENTRY_BYTES + 4);
    for (let at = texts.indexOf(TEXT_END, blockStart); at >= 0 && at < start; nth++) {
      at = texts.indexOf(TEXT_END, at + 1);
    }
    const block = this.#readBlock(low);
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
    let [low, high] = [0, blocks - 1];
    // The last block that begins below it: terms with one hash may go on in the next.
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (directory.readUInt32LE(middle * BLOCK_ENTRY_BYTES) < hash) low = middle;
      else high = middle - 1;
    }
    for (let nth = low; nth < blocks; nth++) {
      if (nth > low && directory.readUInt32LE(nth * BLOCK_ENTRY_BYTES) > hash) return undefined;
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

const NONE = Buffer.alloc(0);

export interface FoundTerm {
  text(): string;
  list(): Buffer;
}

/** In how many documents a term is. */
export const frequencyIn = (list: Buffer): number => readVarint(list, 0).value;

/** Gives the documents of a list in their order, and how often the term is in each. */
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

/** The other way round of {@link textBytes}. */
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
