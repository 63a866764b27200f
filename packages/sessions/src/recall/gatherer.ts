import {
  copiedIds,
  entryBlocks,
  field,
  isQueueOperation,
  stringField,
} from "@longhaul/core/internal/messages";
import type { Entry } from "@longhaul/core/messages";
import { EntryReader } from "../transcript/entry-reader.ts";
import { MessageQueue, type QueuedMessage } from "../transcript/message-queue.ts";
import { damaged } from "./dictionary.ts";
import { documentsOf, ledgerFactIds, type SearchDocument } from "./documents.ts";
import { type DocumentPlace, FLAGS, type SegmentBytes, SegmentWriter } from "./segment.ts";

export type CallFacts = Pick<SearchDocument, "tool" | "path">;

/** Maximum number of postings in a segment. Collecting this many takes about a hundred megabytes. */
const MAX_POSTINGS = 8_000_000;

/**
 * Start of an escape in JSON. Some writers escape plain characters such as `=` and `+` by their number.
 * Commonly escaped characters, such as quotes and angle brackets, are never searched in the bytes.
 */
const ODD_ESCAPE = Buffer.from("\\u00");
const PLAIN = /\\u00(?!22|26|27|2f|3c|3e|5c)[2-7]/i;

/** Maximum number of working directories that an index keeps. An agent rarely changes its folder. */
export const MAX_FOLDERS = 8;
/** Maximum length of a path on the usual systems. */
const LONGEST_FOLDER = 4_096;

/** Collector that builds segments from the lines of a session as they arrive. */
export class Gatherer {
  readonly #earlierCall: (toolUseId: string) => CallFacts | undefined;
  readonly #calls = new Map<string, CallFacts>();
  readonly #reader = new EntryReader(undefined);
  readonly #segments: SegmentBytes[] = [];
  readonly #queue: MessageQueue<QueuePlace>;
  readonly #folders = new Set<string>();
  #writer = new SegmentWriter();
  #from: number;
  #to: number;

  /** @param earlierCall finds calls that precede the first line */
  constructor(from: number, earlierCall: (toolUseId: string) => CallFacts | undefined) {
    this.#from = from;
    this.#to = from;
    this.#earlierCall = earlierCall;
    this.#queue = new MessageQueue(from === 0);
  }

  /** Adds a line. Returns its entries. */
  line(bytes: Buffer, offset: number, isComplete: boolean): readonly Entry[] {
    this.#reader.read(bytes, offset, isComplete);
    const entries = this.#reader.entries.splice(0);
    this.#reader.damage.length = 0;
    const odd = bytes.includes(ODD_ESCAPE) && PLAIN.test(bytes.toString("latin1")) ? FLAGS.odd : 0;
    for (const [entryInLine, entry] of entries.entries()) {
      const place = {
        lineOffset: offset,
        lineBytes: bytes.length,
        entryInLine,
        uuid: typeof entry.uuid === "string" ? entry.uuid : undefined,
        copiedIds: copiedIds(entry),
        flags: flagsOf(entry) | odd,
      };
      this.#addFolder(entry);
      this.#queue.add(entry, { entry, place });
      this.#messages(this.#queue.settled());
      if (!isQueueOperation(entry)) this.#entry(entry, place);
    }
    this.#to = offset + bytes.length + (isComplete ? 1 : 0);
    if (this.#writer.postings > MAX_POSTINGS) this.#endSegment();
    return entries;
  }

  end(): readonly SegmentBytes[] {
    this.#messages(this.#queue.end());
    if (this.#queue.isUncertain) damaged("messages of a queue that began further up");
    if (this.#to > this.#from) this.#endSegment();
    return this.#segments;
  }

  /** Working directories that the entries name, in the order of the file. Untrusted text. */
  get folders(): readonly string[] {
    return [...this.#folders];
  }

  #addFolder({ cwd }: Entry): void {
    if (typeof cwd !== "string" || cwd === "" || cwd.length > LONGEST_FOLDER) return;
    if (this.#folders.size < MAX_FOLDERS) this.#folders.add(cwd);
  }

  /** True while later lines may show that a queued message has a separate line. */
  get isQueueOpen(): boolean {
    return this.#queue.isOpen;
  }

  /** Adds queued messages without a separate line, at the position of their text. */
  #messages(messages: readonly QueuedMessage<QueuePlace>[]): void {
    for (const { uuid, textPlace } of messages) this.#entry(textPlace.entry, { ...textPlace.place, uuid });
  }

  #endSegment(): void {
    this.#segments.push(this.#writer.toBytes(this.#from, this.#to));
    this.#writer = new SegmentWriter();
    this.#from = this.#to;
  }

  #entry(entry: Entry, place: DocumentPlace): void {
    const facts = ledgerFactIds(entry);
    for (const [nth, document] of documentsOf(entry).entries()) {
      this.#writer.add(this.#withCall(document), place, nth === 0, facts);
    }
  }

  /** Returns a result with the tool and file of its call, because a result names neither. */
  #withCall(document: SearchDocument): SearchDocument {
    const { toolUseId, kind, tool, path } = document;
    if (toolUseId === undefined) return document;
    if (kind === "call") {
      this.#calls.set(toolUseId, { tool, path });
      return document;
    }
    const call = this.#calls.get(toolUseId) ?? this.#earlierCall(toolUseId);
    return call === undefined ? document : { ...document, ...call };
  }
}

interface QueuePlace {
  readonly entry: Entry;
  readonly place: DocumentPlace;
}

function flagsOf(entry: Entry): number {
  const isCopy = stringField(entry, "writtenWith") !== undefined;
  return (
    (entry.isSidechain === true ? FLAGS.sidechain : 0) |
    (entry.isMeta === true ? FLAGS.meta : 0) |
    (isCopy ? FLAGS.copy : 0) |
    (hasError(entry) ? FLAGS.error : 0)
  );
}

const hasError = (entry: Entry): boolean =>
  entry.type === "user" && entryBlocks(entry).some((block) => field(block, "is_error") === true);
