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
export const frequencyIn = (list: Buffer): number => readVarint(list, 0).value;

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
const TERM_BYTES = 20;
const BLOCK_TERMS = 64;
/** Size of the data about a block: its first hash, the start of the texts of its terms, its checksum. */
const BLOCK_ENTRY_BYTES = 12;
/** Byte that separates two terms among the texts. */
const TEXT_END = 0;

/** Dictionary as an index stores it: terms by hash, their texts in the same order, and their postings. */
export interface DictionaryBytes {
  readonly blocks: Buffer;
  readonly terms: Buffer;
  readonly texts: Buffer;
  readonly postings: Buffer;
}

/**
 * Maximum stored count of a term in a document. A higher count does not tell more about the subject of a
 * text.
 */
const MAX_COUNTED = 255;
const FIRST_TERMS = 1 << 12;
const FIRST_POSTINGS = 1 << 14;

/**
 * Collects the terms of documents and the documents that contain each term. Uses open addressing over typed
 * arrays.
 */
export class TermTable {
  #slots = new Int32Array(FIRST_TERMS * 4);
  #hashes = new Uint32Array(FIRST_TERMS);
  #checks = new Uint32Array(FIRST_TERMS);
  #textEnds = new Uint32Array(FIRST_TERMS);
  #lastDocument = new Int32Array(FIRST_TERMS).fill(-1);
  #counts = new Uint8Array(FIRST_TERMS);
  #texts: Uint8Array = new Uint8Array(FIRST_TERMS * 8);
  #textBytes = 0;
  #terms = 0;
  #inDocument = new Uint32Array(FIRST_TERMS);
  #inDocumentCount = 0;
  #postingTerms = new Uint32Array(FIRST_POSTINGS);
  #postingDocuments = new Uint32Array(FIRST_POSTINGS);
  #postingCounts = new Uint8Array(FIRST_POSTINGS);
  #postings = 0;
  #units = new Uint16Array(256);

  get postings(): number {
    return this.#postings;
  }

  /** Returns the number of distinct terms in the current document. */
  get termsInDocument(): number {
    return this.#inDocumentCount;
  }

  /** Adds a term of this document. Documents arrive in order. */
  add(document: number, hash: number, check: number, units: Uint16Array, from: number, to: number): void {
    const mask = this.#slots.length - 1;
    let slot = (hash ^ (check >>> 7)) & mask;
    let term = this.#slots[slot] as number;
    while (term !== 0 && (this.#hashes[term - 1] !== hash || this.#checks[term - 1] !== check)) {
      slot = (slot + 1) & mask;
      term = this.#slots[slot] as number;
    }
    if (term === 0) {
      term = this.#create(hash, check, units, from, to);
      this.#slots[slot] = term;
      if (this.#terms * 2 > this.#slots.length) this.#rehash();
    }
    const at = term - 1;
    if (this.#lastDocument[at] === document) {
      if ((this.#counts[at] as number) < MAX_COUNTED) this.#counts[at] = (this.#counts[at] as number) + 1;
    } else {
      this.#lastDocument[at] = document;
      this.#counts[at] = 1;
      if (this.#inDocumentCount === this.#inDocument.length) this.#inDocument = doubled(this.#inDocument);
      this.#inDocument[this.#inDocumentCount++] = at;
    }
  }

  /** Adds a text that is one term as a whole, such as an id. */
  addText(document: number, text: string): void {
    const { hash, check } = termHashes(text);
    if (text.length > this.#units.length) this.#units = new Uint16Array(text.length * 2);
    const units = this.#units;
    for (let at = 0; at < text.length; at++) units[at] = text.charCodeAt(at);
    this.add(document, hash, check, units, 0, text.length);
  }

  endDocument(document: number): void {
    if (this.#postings + this.#inDocumentCount > this.#postingTerms.length) this.#growPostings();
    for (let nth = 0; nth < this.#inDocumentCount; nth++) {
      const term = this.#inDocument[nth] as number;
      this.#postingTerms[this.#postings] = term;
      this.#postingDocuments[this.#postings] = document;
      this.#postingCounts[this.#postings++] = this.#counts[term] as number;
    }
    this.#inDocumentCount = 0;
  }

  toBytes(): DictionaryBytes {
    const order = this.#inOrder();
    const postings = this.#postingBytes(order);
    const texts = Buffer.allocUnsafeSlow(1 + this.#textBytes + order.length);
    const terms = Buffer.alloc(order.length * TERM_BYTES);
    const blocks = Buffer.alloc(Math.ceil(order.length / BLOCK_TERMS) * BLOCK_ENTRY_BYTES);
    texts[0] = TEXT_END;
    let textAt = 1;
    for (let nth = 0; nth < order.length; nth++) {
      const term = order[nth] as number;
      if (nth % BLOCK_TERMS === 0) {
        blocks.writeUInt32LE(this.#hashes[term] as number, (nth / BLOCK_TERMS) * BLOCK_ENTRY_BYTES);
        blocks.writeUInt32LE(textAt, (nth / BLOCK_TERMS) * BLOCK_ENTRY_BYTES + 4);
      }
      terms.writeUInt32LE(this.#hashes[term] as number, nth * TERM_BYTES);
      terms.writeUInt32LE(this.#checks[term] as number, nth * TERM_BYTES + 4);
      const [start, end] = [postings.starts[nth] as number, postings.starts[nth + 1] as number];
      terms.writeUInt32LE(start, nth * TERM_BYTES + 8);
      terms.writeUInt32LE(end - start, nth * TERM_BYTES + 12);
      terms.writeUInt32LE(crc32(postings.bytes.subarray(start, end)), nth * TERM_BYTES + 16);
      const textStart = term === 0 ? 0 : (this.#textEnds[term - 1] as number);
      texts.set(this.#texts.subarray(textStart, this.#textEnds[term] as number), textAt);
      textAt += (this.#textEnds[term] as number) - textStart;
      texts[textAt++] = TEXT_END;
    }
    for (let block = 0; block * BLOCK_TERMS < order.length; block++) {
      const bytes = terms.subarray(block * BLOCK_TERMS * TERM_BYTES, (block + 1) * BLOCK_TERMS * TERM_BYTES);
      blocks.writeUInt32LE(crc32(bytes), block * BLOCK_ENTRY_BYTES + 8);
    }
    return { blocks, terms, texts: texts.subarray(0, textAt), postings: postings.bytes };
  }

  #create(hash: number, check: number, units: Uint16Array, from: number, to: number): number {
    if (this.#terms === this.#hashes.length) {
      this.#hashes = doubled(this.#hashes);
      this.#checks = doubled(this.#checks);
      this.#textEnds = doubled(this.#textEnds);
      this.#counts = doubled(this.#counts);
      const before = this.#lastDocument;
      this.#lastDocument = new Int32Array(before.length * 2).fill(-1);
      this.#lastDocument.set(before);
    }
    while (this.#textBytes + (to - from) * 3 > this.#texts.length) this.#texts = doubled(this.#texts);
    for (let at = from; at < to; at++) {
      this.#textBytes = writeUnit(this.#texts, this.#textBytes, units[at] as number);
    }
    this.#hashes[this.#terms] = hash;
    this.#checks[this.#terms] = check;
    this.#textEnds[this.#terms] = this.#textBytes;
    return ++this.#terms;
  }

  #rehash(): void {
    this.#slots = new Int32Array(this.#slots.length * 2);
    const mask = this.#slots.length - 1;
    for (let term = 0; term < this.#terms; term++) {
      let slot = ((this.#hashes[term] as number) ^ ((this.#checks[term] as number) >>> 7)) & mask;
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
      this.#slots[slot] = term + 1;
    }
  }

  #growPostings(): void {
    while (this.#postings + this.#inDocumentCount > this.#postingTerms.length) {
      this.#postingTerms = doubled(this.#postingTerms);
      this.#postingDocuments = doubled(this.#postingDocuments);
      this.#postingCounts = doubled(this.#postingCounts);
    }
  }

  /**
   * Sorts the terms by hash. If a hash and a term fit into one number, sorts these numbers, because that is
   * many times faster.
   */
  #inOrder(): Uint32Array {
    const room = 2 ** 21;
    const hashes = this.#hashes;
    if (this.#terms > room) {
      const terms = Uint32Array.from({ length: this.#terms }, (_, term) => term);
      return terms.sort((a, b) => (hashes[a] as number) - (hashes[b] as number));
    }
    const keys = new Float64Array(this.#terms);
    for (let term = 0; term < this.#terms; term++) keys[term] = (hashes[term] as number) * room + term;
    keys.sort();
    return Uint32Array.from(keys, (key) => key % room);
  }

  /** Encodes the postings with a counting sort. Documents arrived in order, so each list is in order too. */
  #postingBytes(order: Uint32Array): { readonly bytes: Buffer; readonly starts: Uint32Array } {
    const firsts = new Uint32Array(this.#terms + 1);
    for (let at = 0; at < this.#postings; at++) {
      const term = (this.#postingTerms[at] as number) + 1;
      firsts[term] = (firsts[term] as number) + 1;
    }
    for (let term = 0; term < this.#terms; term++) {
      firsts[term + 1] = (firsts[term + 1] as number) + (firsts[term] as number);
    }
    const places = firsts.slice();
    const sorted = new Uint32Array(this.#postings);
    for (let at = 0; at < this.#postings; at++) {
      const term = this.#postingTerms[at] as number;
      const place = places[term] as number;
      sorted[place] = at;
      places[term] = place + 1;
    }
    return this.#encoded(order, firsts, sorted);
  }

  #encoded(
    order: Uint32Array,
    firsts: Uint32Array,
    sorted: Uint32Array,
  ): { readonly bytes: Buffer; readonly starts: Uint32Array } {
    const bytes = Buffer.allocUnsafeSlow(this.#postings * 7 + this.#terms * 5);
    const starts = new Uint32Array(order.length + 1);
    let at = 0;
    for (let nth = 0; nth < order.length; nth++) {
      const term = order[nth] as number;
      const end = firsts[term + 1] as number;
      starts[nth] = at;
      at = writeVarint(bytes, at, end - (firsts[term] as number));
      let before = 0;
      for (let place = firsts[term] as number; place < end; place++) {
        const posting = sorted[place] as number;
        const document = this.#postingDocuments[posting] as number;
        const count = this.#postingCounts[posting] as number;
        // The lowest bit says whether the term occurs more than once, which is rare.
        at = writeVarint(bytes, at, (document - before) * 2 + (count > 1 ? 1 : 0));
        if (count > 1) bytes[at++] = count;
        before = document;
      }
    }
    starts[order.length] = at;
    return { bytes: bytes.subarray(0, at), starts };
  }
}

function doubled<T extends Uint8Array | Uint16Array | Uint32Array>(array: T): T {
  const larger = new (array.constructor as new (length: number) => T)(array.length * 2);
  larger.set(array);
  return larger;
}

function writeVarint(bytes: Uint8Array, at: number, value: number): number {
  let [place, rest] = [at, value];
  while (rest >= 0x80) {
    bytes[place++] = (rest & 0x7f) | 0x80;
    rest = Math.floor(rest / 128);
  }
  bytes[place++] = rest;
  return place;
}

/**
 * Writes each code unit as UTF-8 separately, because a term of two neighboring code units can contain half of
 * a character. A name in a session may contain a zero. The zero is written as two bytes, because a single
 * zero byte ends a text.
 */
function writeUnit(bytes: Uint8Array, at: number, unit: number): number {
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
