import { crc32 } from "node:zlib";
import { damaged } from "./damage.ts";
import { Dictionary, type Section } from "./dictionary.ts";
import { DOCUMENT_KINDS, type DocumentKind } from "./documents.ts";
import { DOCUMENT_BYTES, type SectionName } from "./segment-writer.ts";

/** What an index knows of a document without reading it in the session. */
export interface DocumentRecord {
  readonly lineOffset: number;
  readonly lineBytes: number;
  readonly entryInLine: number;
  readonly block: number;
  readonly kind: DocumentKind;
  readonly flags: number;
  readonly tool: string | undefined;
  readonly path: string | undefined;
}

/** The range of a session that a segment is about, and how much there is in it. */
export interface SegmentFacts {
  readonly from: number;
  readonly to: number;
  readonly documents: number;
  readonly words: number;
}

/** The index of one range of a session, on disk or in memory. */
export class Segment {
  readonly facts: SegmentFacts;
  readonly words: Dictionary;
  /** Of tools and files, and marks. */
  readonly names: Dictionary;
  /** Of entries, calls and facts. */
  readonly ids: Dictionary;
  readonly #sections: Readonly<Record<SectionName, Section>>;
  #lengths: Uint32Array | undefined;

  constructor(facts: SegmentFacts, sections: Readonly<Record<SectionName, Section>>) {
    this.facts = facts;
    this.#sections = sections;
    this.words = dictionary("word", sections);
    this.names = dictionary("name", sections);
    this.ids = dictionary("id", sections);
  }

  /** How many words each document has. */
  lengths(): Uint32Array {
    this.#lengths ??= this.#numbers("lengths", 1);
    return this.#lengths;
  }

  /** Two numbers for each document, which stand for the id of its entry. */
  uuids(): Uint32Array {
    return this.#numbers("uuids", 2);
  }

  /** Two numbers for each document, which stand for what it says. */
  contents(): Uint32Array {
    return this.#numbers("contents", 2);
  }

  document(nth: number): DocumentRecord {
    if (nth >= this.facts.documents) damaged("a document that is not there");
    const record = this.#sections.documents.read(nth * DOCUMENT_BYTES, (nth + 1) * DOCUMENT_BYTES);
    if (crc32(record.subarray(0, DOCUMENT_BYTES - 4)) !== record.readUInt32LE(DOCUMENT_BYTES - 4)) {
      damaged("a document");
    }
    return {
      lineOffset: record.readDoubleLE(0),
      lineBytes: record.readUInt32LE(8),
      tool: this.#label(record.readUInt32LE(12)),
      path: this.#label(record.readUInt32LE(16)),
      block: record.readUInt32LE(20),
      entryInLine: record.readUInt32LE(24),
      kind: DOCUMENT_KINDS[record.readUInt8(28)] ?? damaged("a kind"),
      flags: record.readUInt8(29),
    };
  }

  #label(place: number): string | undefined {
    if (place === 0) return undefined;
    const head = this.#sections.labels.read(place, place + 8);
    const bytes = this.#sections.labels.read(place + 8, place + 8 + head.readUInt32LE(0));
    if (crc32(bytes) !== head.readUInt32LE(4)) damaged("a name");
    return bytes.toString("utf8");
  }

  /** One byte for each document: see {@link MARKS}. */
  marks(): Buffer {
    const bytes = this.#sections.marks.whole();
    if (bytes.length !== this.facts.documents) damaged("marks");
    return bytes;
  }

  #numbers(name: "lengths" | "uuids" | "contents", each: number): Uint32Array {
    const bytes = this.#sections[name].whole();
    if (bytes.length !== this.facts.documents * each * 4) damaged(name);
    return new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  }
}

function dictionary(
  prefix: "word" | "name" | "id",
  sections: Readonly<Record<SectionName, Section>>,
): Dictionary {
  return new Dictionary({
    blocks: sections[`${prefix}Blocks`],
    terms: sections[`${prefix}Terms`],
    texts: sections[`${prefix}Texts`],
    postings: sections[`${prefix}Postings`],
  });
}
