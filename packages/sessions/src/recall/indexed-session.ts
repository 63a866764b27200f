import type { Entry } from "@longhaul/core/messages";
import { EntryReader } from "../transcript/entry-reader.ts";
import { damaged, IndexDamaged } from "./dictionary.ts";
import { STATUS } from "./document-status.ts";
import { documentsOf, type SearchDocument } from "./documents.ts";
import type { DocumentRecord, Segment } from "./segment.ts";

/** Document read from the session. */
export interface ReadDocument {
  readonly number: number;
  readonly record: DocumentRecord;
  readonly entry: Entry;
  readonly document: SearchDocument;
}

/** Index of a session with the file whose lines it describes. */
export interface SessionPart {
  readonly segments: readonly Segment[];
  /** Flags of each document, see {@link STATUS}. */
  readonly status: Buffer;
  /** Reads bytes of the session. Returns how many there were. */
  read(buffer: Buffer, position: number): number;
}

/** Damage of an index, or of its session, that was found while one of several sessions was read. */
export class PartDamaged extends IndexDamaged {
  override readonly name = "PartDamaged";
  readonly part: number;

  constructor(part: number, cause: IndexDamaged) {
    super(cause.message, { cause });
    this.part = part;
  }
}

/**
 * Sessions with their indexes, usually a single one. Documents are numbered over all segments of all sessions,
 * oldest first. So a search over several sessions compares words as if they were one session.
 */
export class IndexedSession {
  readonly segments: readonly Segment[];
  readonly #parts: readonly SessionPart[];
  readonly #status: Buffer;
  /** First document of each segment, and of each session. */
  readonly #bases: number[] = [];
  readonly #firsts: number[] = [];
  #lengths: Uint32Array | undefined;
  #lineOffset = -1;
  #linePart = -1;
  #line: Buffer = Buffer.alloc(0);

  constructor(...parts: readonly SessionPart[]) {
    this.#parts = parts;
    this.segments = parts.flatMap(({ segments }) => segments);
    const [only, ...others] = parts;
    this.#status =
      only !== undefined && others.length === 0
        ? only.status
        : Buffer.concat(parts.map(({ status }) => status));
    let base = 0;
    for (const { segments } of parts) {
      this.#firsts.push(base);
      for (const { facts } of segments) {
        this.#bases.push(base);
        base += facts.documents;
      }
    }
  }

  /** Number of sessions. */
  get parts(): number {
    return this.#parts.length;
  }

  get documents(): number {
    return this.#status.length;
  }

  /** Flags of all documents, see {@link STATUS}. */
  get statuses(): Readonly<Uint8Array> {
    return this.#status;
  }

  /** Returns the flags of a document, see {@link STATUS}. */
  status(number: number): number {
    return this.#status[number] as number;
  }

  isInContext(number: number): boolean {
    return (this.status(number) & STATUS.inContext) !== 0;
  }

  /** Returns the number of words in each document. */
  lengths(): Uint32Array {
    if (this.segments.length === 1) return (this.segments[0] as Segment).lengths();
    this.#lengths ??= joined(this.segments.map((segment) => segment.lengths()));
    return this.#lengths;
  }

  baseOf(segment: number): number {
    return this.#bases[segment] ?? 0;
  }

  record(number: number): DocumentRecord {
    let [nth, high] = [0, this.segments.length - 1];
    while (nth < high) {
      const middle = (nth + high + 1) >> 1;
      if ((this.#bases[middle] as number) <= number) nth = middle;
      else high = middle - 1;
    }
    const segment = this.segments[nth] ?? damaged("a document in no segment");
    return segment.document(number - (this.#bases[nth] as number));
  }

  /** Returns the session that contains a document, as its position among all sessions. */
  partOf(number: number): number {
    let [low, high] = [0, this.#firsts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#firsts[middle] as number) <= number) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Returns the first document of the session that contains a document, and the end of its documents. */
  boundsOf(number: number): { readonly first: number; readonly end: number } {
    const part = this.partOf(number);
    return { first: this.#firsts[part] ?? 0, end: this.#firsts[part + 1] ?? this.documents };
  }

  line(number: number, { lineOffset, lineBytes }: DocumentRecord): Buffer {
    const part = this.partOf(number);
    if (lineOffset === this.#lineOffset && part === this.#linePart) return this.#line;
    const line = Buffer.allocUnsafeSlow(lineBytes);
    const read = this.#parts[part]?.read(line, lineOffset) ?? 0;
    if (read < lineBytes) throw new PartDamaged(part, new IndexDamaged("The session ends before a line."));
    this.#lineOffset = lineOffset;
    this.#linePart = part;
    this.#line = line;
    return line;
  }

  /**
   * Reads a document and compares it with its index data. If they differ, the index belongs to another file.
   */
  read(number: number): ReadDocument {
    const record = this.record(number);
    try {
      return this.#read(number, record);
    } catch (error) {
      throw error instanceof IndexDamaged ? new PartDamaged(this.partOf(number), error) : error;
    }
  }

  #read(number: number, record: DocumentRecord): ReadDocument {
    const entry = this.entry(number, record);
    const document = documentsOf(entry).find(({ block }) => block === record.block);
    if (document === undefined || document.kind !== record.kind) damaged("another line than was expected");
    return { number, record, entry, document };
  }

  entry(number: number, record: DocumentRecord = this.record(number)): Entry {
    const reader = new EntryReader(undefined);
    reader.read(this.line(number, record), record.lineOffset, true);
    return reader.entries[record.entryInLine] ?? damaged("no entry where one was expected");
  }

  named(name: string): readonly number[] {
    return this.#numbers((segment) => segment.names.documents(name));
  }

  withId(name: string): readonly number[] {
    return this.#numbers((segment) => segment.ids.documents(name));
  }

  #numbers(find: (segment: Segment) => Uint32Array): readonly number[] {
    return this.segments.flatMap((segment, nth) =>
      [...find(segment)].map((local) => this.baseOf(nth) + local),
    );
  }
}

function joined(parts: readonly Uint32Array[]): Uint32Array {
  const all = new Uint32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
