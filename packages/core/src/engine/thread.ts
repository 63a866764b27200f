import {
  type AssistantEntry,
  type Entry,
  type EntryLink,
  isCompactBoundary,
  isEntry,
  isMicrocompactBoundary,
  type RewindMark,
  type RewindRecord,
} from "../messages/entry.ts";
import { newestLineUuid } from "../messages/lines.ts";
import type { ApiMessage } from "../messages/message.ts";
import { requireList, requireReadable } from "../messages/require-messages.ts";
import { clearedIdsIn, withClearedResults } from "../messages/stand-ins.ts";
import { isRecord } from "../messages/untrusted.ts";
import { withoutThinkingIn } from "../messages/without-thinking.ts";
import type { Finding } from "../request/check/rule.ts";
import { InPlaceChangeDetector } from "./compare-messages.ts";
import { type EditedLines, isMark, linkContinuation, prepareEditedLines, withMarks } from "./edited-lines.ts";
import type { Message } from "./options.ts";
import type { Reply } from "./plain-messages.ts";
import { isUsageReport } from "./usage-trust.ts";
import { Views, type ViewsOptions } from "./views.ts";

export interface ThreadOptions extends ViewsOptions {
  readonly newLink: (parentUuid: string | null) => EntryLink;
  readonly bindsThinking: () => boolean;
  /** Returns true if the session file has a line with this id. Undefined if the host has no such function. */
  readonly isWritten?: ((uuid: string) => boolean) | undefined;
}

/** Result of reading the host's list. */
export interface IngestResult {
  /** Entries that are new in the conversation. */
  readonly added: readonly Entry[];
  /** Entries for the session file: the new ones, and those that differ from the file. */
  readonly lines: readonly Entry[];
  /** Lines to write although the file already has their ids. */
  readonly rewrittenLines: ReadonlySet<Entry>;
  /** Number of thinking blocks that were removed because the host changed an earlier message. */
  readonly thinkingBlocks: number;
  readonly findings: readonly Finding[];
  /** True if the host changed known messages, so that everything was read from the start. */
  readonly hasEarlierChanges: boolean;
}

/** One conversation: reads the host's list and keeps its {@link Views} up to date. */
export class Thread extends Views {
  readonly #options: ThreadOptions;
  readonly #inPlaceChanges = new InPlaceChangeDetector();
  /** Messages that passed the check of {@link requireReadable}. */
  readonly #readable = new WeakSet<object>();

  constructor(options: ThreadOptions) {
    super(options);
    this.#options = options;
  }

  /**
   * Reads the host's own list or the list that the engine returned, plus new messages. If known messages
   * differ, the host edited the conversation. In that case, the conversation is read again from the last
   * rewrite or from the start.
   */
  ingest(given: readonly Message[], reply: Reply | undefined): IngestResult {
    requireList(given);
    const messages = this.#inPlaceChanges.replaceIn(given);
    this.#requireReadable(messages);
    this.#noteAnswer(messages, reply);
    const reading = this.host.read(messages);
    if (reading.kind === "other") return this.#readAll(messages, reply);
    for (const { message, original } of reading.copies)
      if (isRecord(message)) this.plain.recognize(message as unknown as ApiMessage, original);
    const added = reading.kind === "continued" ? reading.added : reading.since;
    if (added.some((message) => isEntry(message) && isMark(message))) return this.#readAll(messages, reply);
    return reading.kind === "continued"
      ? this.#continue(messages, added, reply)
      : this.#readSinceRewrite(messages, added, reply);
  }

  /** Converts an entry for the session file. Adds the facts that a resuming process cannot compute. */
  readonly toLine = (entry: Entry): Entry => this.reports.toLine(this.boundThinking.toLine(entry));

  /** Resolves a reference of the host: an index into its messages, or an entry's uuid. */
  resolveReference(ref: string | number, messages: readonly Message[]): string | number {
    if (typeof ref === "string") return ref;
    const { host, plain } = this;
    const message = host.knownMessageFor(this.#inPlaceChanges.replacementFor(messages[ref] as Message));
    if (isEntry(message)) return message.uuid ?? -1;
    return (isRecord(message) && plain.entriesFor(message as unknown as ApiMessage)?.[0]?.uuid) || -1;
  }

  /** Registers entries from the transcript, and copies of entries under new ids. */
  registerStored(entries: readonly Entry[], copies: readonly (readonly [Entry, Entry])[] = []): void {
    this.plain.registerStored(entries);
    for (const [original, copy] of copies) this.plain.registerLine(original, copy);
  }

  /** Returns the thinking blocks that the model would refuse after the current messages. */
  misplacedThinking(): ReadonlySet<number> {
    return this.#options.bindsThinking()
      ? this.boundThinking.findMisplaced(this.outgoingMessages)
      : NO_BLOCKS;
  }

  /** Records that a request with these messages is sent. */
  recordSent(): void {
    this.boundThinking.recordSent();
  }

  /** Throws for an unreadable message, before anything is recorded. Checks each message object once. */
  #requireReadable(messages: readonly Message[]): void {
    for (const [index, message] of messages.entries()) {
      if (!isRecord(message) || this.#readable.has(message)) continue;
      requireReadable(message, index);
      this.#readable.add(message);
    }
  }

  /**
   * Records which conversation the response answered. The host may edit its list before it passes the
   * response. The usage refers to the list before the edit.
   */
  #noteAnswer(messages: readonly Message[], reply: Reply | undefined): void {
    const { id, usage } = reply?.facts ?? {};
    if (reply === undefined || id === undefined || usage === undefined) return;
    const isAnswered = (message: Message): message is AssistantEntry =>
      isEntry(message) && isUsageReport(message) && message.message.id === id;
    const answer = messages.findLast(isAnswered);
    if (answer !== undefined) this.reports.recordAnswerIfNew(answer, reply);
  }

  #continue(messages: readonly Message[], added: readonly Message[], reply: Reply | undefined): IngestResult {
    const { leaf, known } = this;
    const wrapped = this.#wrapAll(added, leaf, reply, () => undefined);
    const entries = linkContinuation(wrapped.entries, leaf, {
      isKnown: (uuid) => known.has(uuid),
      isPresent: (id) => this.entries.some(({ uuid }) => uuid === id),
    });
    const findings = this.append(entries, { given: messages, added, leaf: wrapped.leaf });
    return {
      added: entries,
      lines: entries,
      rewrittenLines: NONE,
      thinkingBlocks: 0,
      findings,
      hasEarlierChanges: false,
    };
  }

  /** Reads a list in which the host edited messages after the last rewrite. The rewritten part stays. */
  #readSinceRewrite(
    given: readonly Message[],
    since: readonly Message[],
    reply: Reply | undefined,
  ): IngestResult {
    const { entries: before, base } = this;
    const own = this.#wrapAll(since, newestLineUuid(base) ?? null, reply, this.#createRecognizer([]));
    const whole = [...base, ...own.entries];
    this.boundThinking.loadPositions(own.entries);
    const edited = this.#edit(before, whole, own.fresh);
    const isSentUnchanged = edited.thinkingBlocks === 0;
    const findings = this.reread(edited.entries, { given, since, leaf: own.leaf, isSentUnchanged });
    return { ...ingestResultFrom(before, whole, edited), findings, hasEarlierChanges: true };
  }

  #readAll(given: readonly Message[], reply: Reply | undefined): IngestResult {
    const { entries: before, host } = this;
    const form = isEntry(given.find(isRecord)) ? "entries" : "messages";
    this.setForm(form);
    // A host may recreate all messages and change only one. Equal messages keep their entries.
    const newest = given.findLast(isAnswer);
    const isReplyThere = newest !== undefined && !host.hasReply(newest);
    const recognized = this.#createRecognizer(host.findKnownObjects(given));
    const { entries, fresh } = this.#wrapAll(given, null, isReplyThere ? reply : undefined, recognized);
    const boundary = entries.findLastIndex((entry) => isCompactBoundary(entry));
    const whole = form === "messages" ? withMarks(before, entries) : entries.slice(Math.max(0, boundary));
    const edited = this.#edit(before, whole, fresh);
    this.boundThinking.loadPositions(whole);
    const fromBoundary = toSentForm(edited.entries, this.#options.bindsThinking());
    const isSentUnchanged = fromBoundary === edited.entries && edited.thinkingBlocks === 0;
    const leaf = newestLineUuid(whole) ?? null;
    const findings = this.reread(fromBoundary, { given, since: undefined, leaf, isSentUnchanged });
    return { ...ingestResultFrom(before, whole, edited), findings, hasEarlierChanges: before.length > 0 };
  }

  /** Prepares an edited conversation for sending and writing. */
  #edit(before: readonly Entry[], given: readonly Entry[], fresh: ReadonlySet<Entry>): EditedLines {
    const { bindsThinking, isWritten } = this.#options;
    const edited = prepareEditedLines({
      before,
      given,
      fresh,
      bindsThinking: bindsThinking(),
      known: this.known,
      isWritten,
      newMark: (parentUuid, rewind) => this.#newMark(parentUuid, rewind, given),
    });
    for (const [at, entry] of edited.entries.entries()) {
      const original = given[at] as Entry;
      if (entry !== original && hasSameMessage(entry, original)) this.plain.registerLine(original, entry);
    }
    return edited;
  }

  #newMark(
    parentUuid: string | null,
    rewind: Omit<RewindRecord, "tokens">,
    given: readonly Entry[],
  ): RewindMark {
    const tokens = given.reduce((sum, entry) => sum + this.measures.ofEntry(entry), 0);
    return {
      ...this.#options.newLink(parentUuid),
      type: "system",
      subtype: "longhaul_rewind",
      content: "Conversation rewound by the host",
      level: "info",
      rewind: { ...rewind, tokens },
    };
  }

  /**
   * Returns a lookup of the entries of known messages. An object that occurs twice counts as two messages.
   */
  #createRecognizer(
    earlier: readonly (Message | undefined)[],
  ): (message: ApiMessage, at: number) => readonly Entry[] | undefined {
    const taken = new Set<Entry>();
    return (message, at) => {
      const recognized = this.plain.recognize(message, earlier[at]);
      const known = recognized?.filter((entry) => !taken.has(entry));
      for (const entry of known ?? []) taken.add(entry);
      return known;
    };
  }

  /** Creates entries for these messages. The parent of the first is `parentUuid`. */
  #wrapAll(
    messages: readonly Message[],
    parentUuid: string | null,
    reply: Reply | undefined,
    known: (message: ApiMessage, at: number) => readonly Entry[] | undefined,
  ): {
    readonly entries: readonly Entry[];
    readonly fresh: ReadonlySet<Entry>;
    readonly leaf: string | null;
  } {
    const { plain, reports } = this;
    const entries: Entry[] = [];
    const fresh = new Set<Entry>();
    // The facts of the last response belong to the newest assistant message.
    const newest = reply && messages.findLast(isAnswer);
    let leaf = parentUuid;
    for (const [at, message] of messages.entries()) {
      if (isEntry(message)) entries.push(message);
      else if (isRecord(message)) {
        const given = message as unknown as ApiMessage;
        const seen = known(given, at);
        if (seen !== undefined && seen.length > 0) entries.push(...seen);
        else {
          const own = given === newest ? reply : undefined;
          const entry = plain.wrap(given, this.#options.newLink(leaf), own?.facts);
          if (own !== undefined) reports.recordAnswer(entry, own);
          entries.push(entry);
          fresh.add(entry);
        }
      }
      leaf = newestLineUuid(entries.slice(-1)) ?? leaf;
    }
    return { entries, fresh, leaf };
  }
}

const NONE: ReadonlySet<Entry> = new Set();
const NO_BLOCKS: ReadonlySet<number> = new Set();

/**
 * Converts stored entries to the form that was sent. The file still contains the full results, and a mark
 * records which of them were cleared. If there is no such mark, returns the same list. Thinking after the
 * mark stays, because the model wrote it after the clearing.
 */
function toSentForm(entries: readonly Entry[], bindsThinking: boolean): readonly Entry[] {
  const cleared = withClearedResults(entries, clearedIdsIn(entries));
  if (cleared === entries || !bindsThinking) return cleared;
  const from = cleared.findIndex((entry, index) => entry !== entries[index]);
  return withoutThinkingIn(cleared, [{ from, to: cleared.findLastIndex(isMicrocompactBoundary) }]);
}

/** Returns true if both entries have the same message. */
const hasSameMessage = (entry: Entry, original: Entry): boolean =>
  "message" in entry && "message" in original && entry.message === original.message;

function ingestResultFrom(
  before: readonly Entry[],
  given: readonly Entry[],
  { entries, rewrittenLines, mark, thinkingBlocks }: EditedLines,
): Pick<IngestResult, "added" | "lines" | "rewrittenLines" | "thinkingBlocks"> {
  const old = new Set(before);
  const added = entries.filter((_, at) => !old.has(given[at] as Entry));
  const lines = entries.filter((entry) => !old.has(entry)).map((entry) => rewrittenLines.get(entry) ?? entry);
  const all = mark === undefined ? lines : [mark, ...lines];
  return { added, lines: all, rewrittenLines: new Set(rewrittenLines.values()), thinkingBlocks };
}

const isAnswer = (message: Message): boolean => isRecord(message) && message.role === "assistant";
