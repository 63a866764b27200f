import { crc32 } from "node:zlib";
import {
  BLOCK_ENTRY_BYTES,
  BLOCK_TERMS,
  type DictionaryBytes,
  TERM_BYTES,
  TEXT_END,
  writeUnit,
} from "./dictionary.ts";
import { stemOf } from "./stem.ts";
import { termHashes } from "./word-scanner.ts";

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

  /** Adds the stem of a word, if it differs from the word. */
  addStem(word: number, bytes: Buffer): void {
    if (!hasEnding(bytes)) return;
    const text = bytes.toString("latin1");
    const stem = stemOf(text);
    if (stem === text) return;
    this.addText(word, stem);
    this.endDocument(word);
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

  /** @param stems collector of the stems of all terms. Its documents are the positions of the terms. */
  toBytes(stems?: TermTable): DictionaryBytes {
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
      stems?.addStem(nth, texts.subarray(textAt, textAt + (this.#textEnds[term] as number) - textStart));
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

/** Checks cheaply whether a term can have an ending. Numbers and identifiers have none. */
function hasEnding(bytes: Buffer): boolean {
  for (const byte of bytes) if (byte < SMALL_A || byte > SMALL_Z) return false;
  return true;
}

const SMALL_A = 0x61;
const SMALL_Z = 0x7a;

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
