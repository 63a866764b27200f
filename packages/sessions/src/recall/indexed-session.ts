import type { Entry } from "@longhaul/core/messages";
import { EntryReader } from "../transcript/entry-reader.ts";
import { readNow } from "../transcript/file-bytes.ts";
import { damaged } from "./dictionary.ts";
import { STATUS } from "./document-status.ts";
import { documentsOf, type SearchDocument } from "./documents.ts";
import type { OpenIndex } from "./keep-index.ts";
import type { DocumentRecord, Segment } from "./segment.ts";

/** Document read from the session. */
export interface ReadDocument {
  readonly number: number;
  readonly record: DocumentRecord;
  readonly entry: Entry;
  readonly document: SearchDocument;
}

/** Session with its index. Documents are numbered over all segments, oldest first. */
export class IndexedSession {
  readonly segments: readonly Segment[];
  readonly #status: Buffer;
  readonly #fd: number;
  readonly #bases: number[] = [];
  #lengths: Uint32Array | undefined;
  #lineOffset = -1;
  #line: Buffer = Buffer.alloc(0);

  constructor(fd: number, { segments, status }: OpenIndex) {
    this.#fd = fd;
    this.segments = segments;
    this.#status = status;
    let base = 0;
    for (const { facts } of segments) {
      this.#bases.push(base);
      base += facts.documents;
    }
  }

  get documents(): number {
    return this.#status.length;
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
    let nth = this.segments.length - 1;
    while (nth > 0 && (this.#bases[nth] as number) > number) nth--;
    const segment = this.segments[nth] ?? damaged("a document in no segment");
    return segment.document(number - (this.#bases[nth] as number));
  }

  line({ lineOffset, lineBytes }: DocumentRecord): Buffer {
    if (lineOffset === this.#lineOffset) return this.#line;
    const line = Buffer.allocUnsafeSlow(lineBytes);
    if (readNow(this.#fd, line, lineOffset) < lineBytes) damaged("the session ends before it");
    this.#lineOffset = lineOffset;
    this.#line = line;
    return line;
  }

  /**
   * Reads a document and compares it with its index data. If they differ, the index belongs to another file.
   */
  read(number: number): ReadDocument {
    const record = this.record(number);
    const entry = this.entry(record);
    const document = documentsOf(entry).find(({ block }) => block === record.block);
    if (document === undefined || document.kind !== record.kind) damaged("another line than was expected");
    return { number, record, entry, document };
  }

  entry(record: DocumentRecord): Entry {
    const reader = new EntryReader(undefined);
    reader.read(this.line(record), record.lineOffset, true);
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
