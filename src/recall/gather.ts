import { copiedIds } from "../conversation/copies.ts";
import type { Entry } from "../conversation/entry.ts";
import { entryBlocks } from "../conversation/entry.ts";
import { isQueueOperation } from "../conversation/queued.ts";
import { field, stringField } from "../conversation/untrusted.ts";
import { EntryReader } from "../transcript/entry-reader.ts";
import { MessageQueue, type QueuedMessage } from "../transcript/message-queue.ts";
import { damaged } from "./damage.ts";
import { documentsOf, ledgerFactIds, type SearchDocument } from "./documents.ts";
import { type DocumentPlace, FLAGS, type SegmentBytes, SegmentWriter } from "./segment-writer.ts";

/** What a result needs to know of its call. */
export interface CallFacts {
  readonly tool: string | undefined;
  readonly path: string | undefined;
}

export interface GatheredSegment {
  readonly from: number;
  readonly to: number;
  readonly bytes: SegmentBytes;
}

/** So many postings take about a hundred megabytes while they are gathered; then a new segment begins. */
const MOST_POSTINGS = 8_000_000;

/**
 * In JSON, a plain character that is written by its number, as some do with `=` and `+`. Those that many escape, such
 * as quotes and angle brackets, are never looked for in the bytes.
 */
const ODD_ESCAPE = Buffer.from("\\u00");
const PLAIN = /\\u00(?!22|26|27|2f|3c|3e|5c)[2-7]/i;

/** Makes segments of the lines of a session as they come. */
export class Gatherer {
  readonly #earlierCall: (toolUseId: string) => CallFacts | undefined;
  readonly #calls = new Map<string, CallFacts>();
  readonly #reader = new EntryReader(undefined);
  readonly segments: GatheredSegment[] = [];
  readonly #queue: MessageQueue<QueuePlace>;
  #writer = new SegmentWriter();
  #from: number;
  #to: number;

  /** @param earlierCall what is known of calls that stand above the first line. */
  constructor(from: number, earlierCall: (toolUseId: string) => CallFacts | undefined) {
    this.#from = from;
    this.#to = from;
    this.#earlierCall = earlierCall;
    this.#queue = new MessageQueue(from === 0);
  }

  /** @param onEntry told of each entry of the line. */
  line(bytes: Buffer, offset: number, isComplete: boolean, onEntry: (entry: Entry) => void): void {
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
      this.#queue.add(entry, { entry, place });
      this.#messages(this.#queue.settled());
      if (!isQueueOperation(entry)) this.#entry(entry, place);
      onEntry(entry);
    }
    this.#to = offset + bytes.length + (isComplete ? 1 : 0);
    if (this.#writer.postings > MOST_POSTINGS) this.#endSegment();
  }

  end(): readonly GatheredSegment[] {
    this.#messages(this.#queue.end());
    if (this.#queue.isUncertain) damaged("messages of a queue that began further up");
    if (this.#to > this.#from) this.#endSegment();
    return this.segments;
  }

  /** True while the next lines may show that a message found in the queue has a line of its own. */
  get isQueueOpen(): boolean {
    return this.#queue.isOpen;
  }

  /** Messages that have no line of their own are found where their text stands. */
  #messages(messages: readonly QueuedMessage<QueuePlace>[]): void {
    for (const { uuid, textPlace } of messages) this.#entry(textPlace.entry, { ...textPlace.place, uuid });
  }

  #endSegment(): void {
    this.segments.push({ from: this.#from, to: this.#to, bytes: this.#writer.toBytes() });
    this.#writer = new SegmentWriter();
    this.#from = this.#to;
  }

  #entry(entry: Entry, place: DocumentPlace): void {
    const facts = ledgerFactIds(entry);
    for (const [nth, document] of documentsOf(entry).entries()) {
      this.#writer.add(this.#withCall(document), place, nth === 0, facts);
    }
  }

  /** A result says neither which tool it is of nor which file it is about: its call does. */
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
