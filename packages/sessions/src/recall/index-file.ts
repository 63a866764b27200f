import { crc32 } from "node:zlib";
import {
  field,
  isRecord,
  listField,
  numberField,
  parseJson,
  stringField,
  stringListField,
} from "@longhaul/core/internal/messages";
import { readNow } from "../transcript/file-bytes.ts";
import { damaged, type Section } from "./dictionary.ts";
import { FilePool, type PooledFile } from "./file-pool.ts";
import { SECTIONS, type SectionName, Segment, type SegmentBytes, type SegmentFacts } from "./segment.ts";

/** Version of the format. Increase it with every format change. An index of another version is rebuilt. */
const INDEX_VERSION = 4;

/** Mark that ends the file. If the mark is missing, we know at once that the file is truncated. */
const END_MARK = Buffer.from("longhaul recall\n");
/** Size of the end of the file: length and checksum of the directory, then the mark. */
const END_BYTES = 8 + END_MARK.length;
/** Bytes of the first read. In most files, this read contains the end and the whole directory. */
const FIRST_READ_BYTES = 16 * 1024;

interface SectionPlace {
  readonly at: number;
  readonly bytes: number;
  readonly crc: number;
}

interface SegmentPlace extends SegmentFacts {
  readonly sections: Readonly<Record<SectionName, SectionPlace>>;
}

/** Mark that identifies the session and its state. */
interface SessionMark {
  /** Number of session bytes in the index, always whole lines. */
  readonly bytes: number;
  readonly fingerprint: string;
}

/** Mark of a session file. While it stays the same, the session did not change. */
export interface FileMark {
  readonly bytes: number;
  readonly modifiedMs: number;
  readonly inode: number;
}

export const isSameFile = (one: FileMark, other: FileMark): boolean =>
  one.bytes === other.bytes && one.modifiedMs === other.modifiedMs && one.inode === other.inode;

/** Positions of everything in an index, and the session it belongs to. */
export interface IndexDirectory {
  readonly version: number;
  readonly session: SessionMark;
  readonly file: FileMark;
  /** True if the next line of the session may change the end of the index. */
  readonly isOpenEnded: boolean;
  /** Working directories that the session names. Untrusted text. */
  readonly folders: readonly string[];
  /** If the session only grows by messages, this is the parent of the next line. */
  readonly leaf: string | null;
  readonly segments: readonly SegmentPlace[];
  /** One byte per document of all segments, see `STATUS` in `document-status.ts`. */
  readonly standing: SectionPlace;
}

/** Bytes of an index file. */
interface IndexBytes extends PooledFile {
  close(): void;
}

/** Index file. Verifies everything that it reads. */
export class IndexFile {
  readonly #file: IndexBytes;

  private constructor(file: IndexBytes) {
    this.#file = file;
  }

  /**
   * Opens an index file. Returns undefined if no readable file exists.
   * @param pool files among which the index opens again when it is read. Default: the index stays open.
   */
  static open(path: string, pool?: FilePool): IndexFile | undefined {
    const own = pool ?? new FilePool();
    const file = own.file(path, { isLinkAllowed: false });
    if (file === undefined) return undefined;
    return new IndexFile({ ...file, close: () => (pool === undefined ? own.close() : undefined) });
  }

  close(): void {
    this.#file.close();
  }

  read(from: number, to: number): Buffer {
    if (!(from >= 0 && to >= from && to <= this.#file.bytes)) damaged("a place beyond its end");
    const buffer = Buffer.allocUnsafeSlow(to - from);
    if (this.#file.read(buffer, from) < buffer.length) damaged("it ends too early");
    return buffer;
  }

  directory(): IndexDirectory {
    const end = this.read(Math.max(0, this.#file.bytes - FIRST_READ_BYTES), this.#file.bytes);
    if (end.length < END_BYTES || !end.subarray(-END_MARK.length).equals(END_MARK)) damaged("no end");
    const length = end.readUInt32LE(end.length - END_BYTES);
    const checksum = end.readUInt32LE(end.length - END_BYTES + 4);
    const start = this.#file.bytes - END_BYTES - length;
    const fits = length + END_BYTES <= end.length;
    const text = fits
      ? end.subarray(end.length - END_BYTES - length, end.length - END_BYTES)
      : this.read(start, start + length);
    if (crc32(text) !== checksum) damaged("its directory");
    return directoryOf(parseJson(text.toString("utf8")));
  }

  section({ at, bytes, crc }: SectionPlace): Section {
    return {
      bytes,
      read: (from, to) => this.read(at + from, at + Math.min(to, bytes)),
      whole: () => checked(this.read(at, at + bytes), crc),
    };
  }

  /** Verifies all parts of the index. */
  verify({ segments, standing }: IndexDirectory): void {
    this.section(standing).whole();
    for (const { sections } of segments) for (const name of SECTIONS) this.section(sections[name]).whole();
  }

  segment(place: SegmentPlace): Segment {
    return new Segment(
      place,
      sectionsOf((name) => this.section(place.sections[name])),
    );
  }
}

function checked(bytes: Buffer, crc: number): Buffer {
  if (crc32(bytes) !== crc) damaged("a part of it");
  return bytes;
}

/** Creates a segment in memory. The segment is not in a file, or not yet. */
export function segmentInMemory({ facts, sections }: SegmentBytes): Segment {
  return new Segment(
    facts,
    sectionsOf((name) => {
      const bytes = sections[name];
      return { bytes: bytes.length, read: (from, to) => bytes.subarray(from, to), whole: () => bytes };
    }),
  );
}

const sectionsOf = <T>(make: (name: SectionName) => T): Readonly<Record<SectionName, T>> =>
  Object.fromEntries(SECTIONS.map((name) => [name, make(name)])) as Record<SectionName, T>;

export interface IndexToWrite {
  /** Unchanged segments, and the file that contains them. */
  readonly kept: readonly SegmentPlace[];
  readonly file: IndexFile | undefined;
  readonly added: readonly SegmentBytes[];
  readonly status: Buffer;
  readonly session: SessionMark;
  readonly mark: FileMark;
  readonly isOpenEnded: boolean;
  readonly folders: readonly string[];
  readonly leaf: string | null;
}

export function* indexParts(index: IndexToWrite): Generator<Buffer> {
  const { kept, file, added, status, session, mark, isOpenEnded, folders, leaf } = index;
  let at = 0;
  const segments: SegmentPlace[] = [];
  for (const place of kept) {
    const places = SECTIONS.map((name) => place.sections[name]);
    const first = Math.min(...places.map((section) => section.at));
    const end = Math.max(...places.map((section) => section.at + section.bytes));
    yield file?.read(first, end) ?? Buffer.alloc(0);
    const moved = (section: SectionPlace): SectionPlace => ({ ...section, at: section.at + at - first });
    segments.push({ ...place, sections: sectionsOf((name) => moved(place.sections[name])) });
    at += end - first;
  }
  for (const { facts, sections } of added) {
    const places = new Map<SectionName, SectionPlace>();
    for (const name of SECTIONS) {
      const bytes = sections[name];
      yield bytes;
      places.set(name, { at, bytes: bytes.length, crc: crc32(bytes) });
      at += bytes.length;
    }
    segments.push({ ...facts, sections: sectionsOf((name) => places.get(name) as SectionPlace) });
  }
  yield status;
  const standing = { at, bytes: status.length, crc: crc32(status) };
  const directory: IndexDirectory = {
    version: INDEX_VERSION,
    session,
    file: mark,
    isOpenEnded,
    folders,
    leaf,
    segments,
    standing,
  };
  const text = Buffer.from(JSON.stringify(directory), "utf8");
  const end = Buffer.alloc(8);
  end.writeUInt32LE(text.length, 0);
  end.writeUInt32LE(crc32(text), 4);
  yield Buffer.concat([text, end, END_MARK]);
}

/**
 * Validates a directory. The checksum proves only that longhaul wrote it. Another version may have written
 * other fields.
 */
function directoryOf(value: unknown): IndexDirectory {
  if (!isRecord(value) || value.version !== INDEX_VERSION) damaged("of another version");
  const session = field(value, "session");
  const file = field(value, "file");
  return {
    version: INDEX_VERSION,
    session: {
      bytes: numberField(session, "bytes"),
      fingerprint: stringField(session, "fingerprint") ?? "",
    },
    file: {
      bytes: numberField(file, "bytes"),
      modifiedMs: numberField(file, "modifiedMs"),
      inode: numberField(file, "inode"),
    },
    isOpenEnded: value.isOpenEnded === true,
    folders: stringListField(value, "folders"),
    leaf: stringField(value, "leaf") ?? null,
    segments: listField(value, "segments") as readonly SegmentPlace[],
    standing: field(value, "standing") as SectionPlace,
  };
}

const ENDS_BYTES = 4096;
const SAMPLE_BYTES = 64;
const SAMPLES = 14;

/**
 * Hashes the two ends of a session and samples between them. This distinguishes one file from another,
 * because sessions only grow. In addition, hits are compared with their index data.
 */
export function fingerprintOf(fd: number, bytes: number): string {
  const sums: number[] = [bytes];
  const add = (from: number, length: number): void => {
    const buffer = Buffer.alloc(Math.max(0, Math.min(length, bytes - from)));
    sums.push(crc32(buffer.subarray(0, readNow(fd, buffer, from))));
  };
  add(0, ENDS_BYTES);
  for (let nth = 1; nth <= SAMPLES; nth++) add(Math.floor((bytes / (SAMPLES + 1)) * nth), SAMPLE_BYTES);
  add(Math.max(0, bytes - ENDS_BYTES), ENDS_BYTES);
  return sums.map((sum) => sum.toString(36)).join("-");
}
