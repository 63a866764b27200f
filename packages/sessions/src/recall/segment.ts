import { crc32 } from "node:zlib";
import { isRefusal, refusalReason } from "@longhaul/core/internal/summary";
import { isPrompt } from "../transcript/prompts.ts";
import { Dictionary, type DictionaryBytes, damaged, type Section } from "./dictionary.ts";
import { DOCUMENT_KINDS, type DocumentKind, type SearchDocument } from "./documents.ts";
import { TermTable } from "./term-table.ts";
import { type TermSink, termHashes, WordScanner } from "./word-scanner.ts";

/** Position of a document in the session. */
interface DocumentLine {
  readonly lineOffset: number;
  readonly lineBytes: number;
  /** Index of the entry in its line. A line of the file has several entries if a newline is missing. */
  readonly entryInLine: number;
  /** Flags of the document, see {@link FLAGS}. */
  readonly flags: number;
}

/** Data about a document in the index, available without reading the session. */
export interface DocumentRecord extends DocumentLine {
  readonly block: number;
  readonly kind: DocumentKind;
  readonly tool: string | undefined;
  readonly path: string | undefined;
}

/** Range of a session that a segment covers, and its totals. */
export interface SegmentFacts {
  readonly from: number;
  readonly to: number;
  readonly documents: number;
  /** Words in all documents together. */
  readonly words: number;
}

/** Index of one range of a session, on disk or in memory. */
export class Segment {
  readonly facts: SegmentFacts;
  readonly words: Dictionary;
  /** Names of tools and files, and marks. */
  readonly names: Dictionary;
  /** Ids of entries, calls and facts. */
  readonly ids: Dictionary;
  /** Stems, each with the positions of its words in `words`. Words that are their own stems are not listed. */
  readonly stems: Dictionary;
  readonly #sections: Readonly<Record<SectionName, Section>>;
  #lengths: Uint32Array | undefined;
  /** Labels that were read. The same few tools and files repeat in most documents. */
  readonly #labels = new Map<number, string>();

  constructor(facts: SegmentFacts, sections: Readonly<Record<SectionName, Section>>) {
    this.facts = facts;
    this.#sections = sections;
    this.words = dictionary("word", sections);
    this.names = dictionary("name", sections);
    this.ids = dictionary("id", sections);
    this.stems = dictionary("stem", sections);
  }

  /** Returns the number of words in each document. */
  lengths(): Uint32Array {
    this.#lengths ??= this.#numbers("lengths", 1);
    return this.#lengths;
  }

  /** Returns two hashes for each document: hashes of the id of its entry. */
  uuids(): Uint32Array {
    return this.#numbers("uuids", 2);
  }

  /** Returns two hashes for each document: hashes of its content. */
  contents(): Uint32Array {
    return this.#numbers("contents", 2);
  }

  document(nth: number): DocumentRecord {
    if (nth >= this.facts.documents) damaged("a missing document");
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
    let label = this.#labels.get(place);
    if (label === undefined) {
      label = this.#readLabel(place);
      this.#labels.set(place, label);
    }
    return label;
  }

  #readLabel(place: number): string {
    const section = this.#sections.labels;
    // One read is enough for most labels.
    const start = section.read(place, Math.min(section.bytes, place + LABEL_HEAD_BYTES + USUAL_LABEL_BYTES));
    const length = start.readUInt32LE(0);
    const end = LABEL_HEAD_BYTES + length;
    const bytes =
      end <= start.length
        ? start.subarray(LABEL_HEAD_BYTES, end)
        : section.read(place + LABEL_HEAD_BYTES, place + end);
    if (crc32(bytes) !== start.readUInt32LE(4)) damaged("a name");
    return bytes.toString("utf8");
  }

  /** Returns one byte per document, see {@link MARKS}. */
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

const dictionary = (name: DictionaryName, sections: Readonly<Record<SectionName, Section>>): Dictionary =>
  new Dictionary({
    blocks: sections[`${name}Blocks`],
    terms: sections[`${name}Terms`],
    texts: sections[`${name}Texts`],
    postings: sections[`${name}Postings`],
  });

/** First character of a name in an index. It identifies the type of the name. */
export const NAMES = {
  tool: "\u0001",
  path: "\u0002",
  entry: "\u0003",
  toolUse: "\u0004",
  fact: "\u0005",
  mark: "\u0006",
  /** Entry that the document copies. */
  copied: "\u0007",
} as const;

/**
 * Maximum number of terms in a text. Normal text has fewer terms, even if it is one megabyte long. A text
 * with more terms is data, and its index would be larger than the text.
 */
const MAX_TERMS = 50_000;

/** Maximum length of a name. Longer names are data. */
const LONGEST_NAME = 500;

/** Formats a name for the index. The end of a path is the most significant part. */
export const nameOf = (kind: keyof typeof NAMES, text: string): string =>
  NAMES[kind] + (kind === "path" ? text.slice(-LONGEST_NAME) : text.slice(0, LONGEST_NAME));

/** Name in the index for documents with very long words. Only the beginning of such a word is indexed. */
export const LONG_WORDS: string = `${NAMES.mark}long`;
/** Name in the index for documents with too many words to index. Every exact search reads these documents. */
export const UNKNOWN_WORDS: string = `${NAMES.mark}unknown`;
/**
 * Name in the index for documents whose line escapes plain letters in an unusual way. The bytes of such a
 * line cannot be searched.
 */
export const ODD_ESCAPES: string = `${NAMES.mark}odd`;

const DOCUMENT_BYTES = 36;
/** Size of the data before a label: its length and its checksum. */
const LABEL_HEAD_BYTES = 8;
/** Size of all but very long paths. */
const USUAL_LABEL_BYTES = 152;

/** Properties of a document besides its kind. */
export const FLAGS = { sidechain: 1, meta: 2, error: 4, copy: 8, odd: 16 } as const;

/** Position of a document to add to an index, with the ids of its line. */
export interface DocumentPlace extends DocumentLine {
  readonly uuid: string | undefined;
  /** Ids of the lines that the document copies. */
  readonly copiedIds: readonly string[];
}

/**
 * Properties that are needed for all documents at once. They are stored as flags, in one byte per document.
 */
export const MARKS = {
  retold: 1,
  copy: 2,
  thinking: 4,
  first: 8,
  sidechain: 16,
  spoken: 32,
  person: 64,
} as const;

const DICTIONARIES = ["word", "name", "id", "stem"] as const;
const DICTIONARY_PARTS = ["Blocks", "Terms", "Texts", "Postings"] as const;

type DictionaryName = (typeof DICTIONARIES)[number];

export type SectionName =
  | "lengths"
  | "uuids"
  | "contents"
  | "marks"
  | "documents"
  | `${DictionaryName}${(typeof DICTIONARY_PARTS)[number]}`
  | "labels";

/** Sections of a segment in file order. */
export const SECTIONS: readonly SectionName[] = [
  ...(["lengths", "uuids", "contents", "marks", "documents"] as const),
  ...DICTIONARIES.flatMap((name) => DICTIONARY_PARTS.map((part) => `${name}${part}` as const)),
  "labels",
];

export interface SegmentBytes {
  readonly facts: SegmentFacts;
  readonly sections: Readonly<Record<SectionName, Buffer>>;
}

/** Writer of the index of one range of a session. */
export class SegmentWriter implements TermSink {
  readonly #words = new TermTable();
  readonly #names = new TermTable();
  /**
   * Terms of ids. They are stored separately from the names, because there are many ids. Nobody searches for
   * the middle of an id.
   */
  readonly #ids = new TermTable();
  readonly #scanner = new WordScanner(this);
  readonly #labels = new Map<string, number>();
  readonly #labelParts: Buffer[] = [Buffer.alloc(1)];
  #labelBytes = 1;
  #records = Buffer.alloc(DOCUMENT_BYTES * 256);
  readonly #lengths: number[] = [];
  readonly #uuids: number[] = [];
  readonly #contents: number[] = [];
  readonly #marks: number[] = [];
  #documents = 0;
  #totalWords = 0;
  #length = 0;
  #content = 0;
  #contentCheck = 0;
  #isLong = false;
  #isPartial = false;

  get postings(): number {
    return this.#words.postings;
  }

  readonly term = (hash: number, check: number, units: Uint16Array, from: number, to: number): void => {
    this.#length++;
    this.#content = Math.imul(this.#content ^ hash, 0x01000193);
    this.#contentCheck = (Math.imul(this.#contentCheck ^ check, 0x5bd1e995) + 0x3c6ef372) | 0;
    this.#add(hash, check, units, from, to);
  };

  readonly part = (hash: number, check: number, units: Uint16Array, from: number, to: number): void => {
    this.#add(hash, check, units, from, to);
  };

  #add(hash: number, check: number, units: Uint16Array, from: number, to: number): void {
    if (this.#words.termsInDocument < MAX_TERMS)
      this.#words.add(this.#documents, hash, check, units, from, to);
    else this.#isPartial = true;
  }

  readonly long = (): void => {
    this.#isLong = true;
  };

  /** @param facts ids of facts in the document */
  add(document: SearchDocument, place: DocumentPlace, isFirst: boolean, facts: readonly string[]): void {
    const nth = this.#documents;
    this.#length = 0;
    this.#content = DOCUMENT_KINDS.indexOf(document.kind);
    // Calls with the same content are still different calls.
    this.#contentCheck = uuidHashes(document.toolUseId).check ^ document.text.length;
    this.#isLong = false;
    this.#isPartial = false;
    this.#scanner.scan(document.text);
    this.#addNames(nth, document, place);
    for (const id of facts) this.#ids.addText(nth, nameOf("fact", id));
    this.#write(document, place);
    this.#marks.push(marksOf(document, place, isFirst));
    this.#words.endDocument(nth);
    this.#names.endDocument(nth);
    this.#ids.endDocument(nth);
    this.#totalWords += this.#length;
    this.#documents++;
  }

  #addNames(nth: number, { tool, path, toolUseId }: SearchDocument, place: DocumentPlace): void {
    const { uuid, copiedIds, flags } = place;
    const names = this.#names;
    if (this.#isLong) names.addText(nth, LONG_WORDS);
    if (this.#isPartial) names.addText(nth, UNKNOWN_WORDS);
    if ((flags & FLAGS.odd) !== 0) names.addText(nth, ODD_ESCAPES);
    if (uuid !== undefined) this.#ids.addText(nth, nameOf("entry", uuid));
    for (const id of copiedIds) this.#ids.addText(nth, nameOf("copied", id));
    if (toolUseId !== undefined) this.#ids.addText(nth, nameOf("toolUse", toolUseId));
    if (tool !== undefined) names.addText(nth, nameOf("tool", tool.toLowerCase()));
    if (path !== undefined) names.addText(nth, nameOf("path", path.toLowerCase()));
  }

  /** Returns the index of the range whose documents were added. */
  toBytes(from: number, to: number): SegmentBytes {
    const documents = this.#records.subarray(0, this.#documents * DOCUMENT_BYTES);
    const stems = new TermTable();
    return {
      facts: { from, to, documents: this.#documents, words: this.#totalWords },
      sections: {
        lengths: numberBytes(this.#lengths),
        uuids: numberBytes(this.#uuids),
        contents: numberBytes(this.#contents),
        marks: Buffer.from(this.#marks),
        documents,
        ...renamed("word", this.#words.toBytes(stems)),
        ...renamed("name", this.#names.toBytes()),
        ...renamed("id", this.#ids.toBytes()),
        ...renamed("stem", stems.toBytes()),
        labels: Buffer.concat(this.#labelParts),
      } as Readonly<Record<SectionName, Buffer>>,
    };
  }

  #write(document: SearchDocument, place: DocumentPlace): void {
    if ((this.#documents + 1) * DOCUMENT_BYTES > this.#records.length) {
      this.#records = Buffer.concat([this.#records, Buffer.alloc(this.#records.length)]);
    }
    const at = this.#documents * DOCUMENT_BYTES;
    const record = this.#records.subarray(at, at + DOCUMENT_BYTES);
    record.writeDoubleLE(place.lineOffset, 0);
    record.writeUInt32LE(place.lineBytes, 8);
    record.writeUInt32LE(this.#label(document.tool), 12);
    record.writeUInt32LE(this.#label(document.path), 16);
    record.writeUInt32LE(document.block, 20);
    record.writeUInt32LE(place.entryInLine, 24);
    record.writeUInt8(DOCUMENT_KINDS.indexOf(document.kind), 28);
    record.writeUInt8(place.flags, 29);
    record.writeUInt32LE(crc32(record.subarray(0, DOCUMENT_BYTES - 4)), DOCUMENT_BYTES - 4);
    const { hash, check } = uuidHashes(place.uuid);
    this.#lengths.push(this.#length);
    this.#uuids.push(hash, check);
    this.#contents.push(this.#content >>> 0, this.#contentCheck >>> 0);
  }

  /** Returns the position of the label of a tool or a file, or 0 for none. */
  #label(text: string | undefined): number {
    if (text === undefined) return 0;
    const known = this.#labels.get(text);
    if (known !== undefined) return known;
    const bytes = Buffer.from(text, "utf8");
    const part = Buffer.alloc(8 + bytes.length);
    part.writeUInt32LE(bytes.length, 0);
    part.writeUInt32LE(crc32(bytes), 4);
    part.set(bytes, 8);
    const place = this.#labelBytes;
    this.#labels.set(text, place);
    this.#labelParts.push(part);
    this.#labelBytes += part.length;
    return place;
  }
}

/** A result of a refused call may hold words of the person that no other message contains. */
function marksOf({ kind, text }: SearchDocument, { flags }: DocumentPlace, isFirst: boolean): number {
  const isByPerson =
    kind === "user"
      ? isPrompt(text)
      : kind === "result" && isRefusal(text) && refusalReason(text) !== undefined;
  const isOfPerson = isByPerson && (flags & (FLAGS.meta | FLAGS.sidechain)) === 0;
  return (
    (kind === "summary" ? MARKS.retold : 0) |
    (kind === "user" || kind === "assistant" ? MARKS.spoken : 0) |
    (isOfPerson ? MARKS.person : 0) |
    (kind === "thinking" ? MARKS.thinking : 0) |
    ((flags & FLAGS.copy) === 0 ? 0 : MARKS.copy) |
    ((flags & FLAGS.sidechain) === 0 ? 0 : MARKS.sidechain) |
    (isFirst ? MARKS.first : 0)
  );
}

const numberBytes = (numbers: readonly number[]): Buffer => Buffer.from(Uint32Array.from(numbers).buffer);

/** Returns the hashes of an id. If the id is missing, returns zeros, because no id has these hashes. */
export const uuidHashes = (uuid: string | undefined): { readonly hash: number; readonly check: number } =>
  uuid === undefined ? { hash: 0, check: 0 } : termHashes(uuid);

const renamed = (name: DictionaryName, bytes: DictionaryBytes): Readonly<Record<string, Buffer>> => ({
  [`${name}Blocks`]: bytes.blocks,
  [`${name}Terms`]: bytes.terms,
  [`${name}Texts`]: bytes.texts,
  [`${name}Postings`]: bytes.postings,
});
