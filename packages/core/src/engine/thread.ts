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
import { requireList, requireReadable } from "../messages/given-messages.ts";
import { newestLineUuid } from "../messages/lines.ts";
import type { ApiMessage } from "../messages/message.ts";
import { clearedIdsIn, withClearedResults } from "../messages/stand-ins.ts";
import { isRecord } from "../messages/untrusted.ts";
import { withoutThinkingIn } from "../messages/without-thinking.ts";
import type { Finding } from "../request/check/rule.ts";
import { ChangedInPlace } from "./compare-messages.ts";
import { continuing, type EditedLines, editedLines, isMark, withMarks } from "./edited-lines.ts";
import type { Message } from "./options.ts";
import type { Reply } from "./plain-form.ts";
import { isReport } from "./usage-trust.ts";
import { Views, type ViewsOptions } from "./views.ts";

export interface ThreadOptions extends ViewsOptions {
  readonly newLink: (parentUuid: string | null) => EntryLink;
  readonly bindsThinking: () => boolean;
  /** True if the session file has a line with this id. Undefined if the host does not say. */
  readonly isWritten?: ((uuid: string) => boolean) | undefined;
}

/** A list of the host, as it was read. */
export interface Taken {
  /** Entries that were not in the conversation before. */
  readonly added: readonly Entry[];
  /** Entries for the session file: those, and entries that it holds otherwise. */
  readonly lines: readonly Entry[];
  /** Lines that are written although the file has their ids. */
  readonly again: ReadonlySet<Entry>;
  /** Thinking blocks that were left out because the host changed a message before them. */
  readonly thinkingBlocks: number;
  readonly findings: readonly Finding[];
  /** The host changed what we knew: everything was read from the start. */
  readonly isAnotherConversation: boolean;
}

/** One conversation: reads the host's list and keeps its {@link Views} up to date. */
export class Thread extends Views {
  readonly #options: ThreadOptions;
  readonly #changedInPlace = new ChangedInPlace();
  /** Messages that can be read without loss. */
  readonly #readable = new WeakSet<object>();

  constructor(options: ThreadOptions) {
    super(options);
    this.#options = options;
  }

  /**
   * Reads the host's list: the conversation as it gave it or as it was handed back, in turns if it likes, and what
   * came since. A list with other messages is a conversation that the host changed, and is read again from there.
   */
  take(given: readonly Message[], reply: Reply | undefined): Taken {
    requireList(given);
    const messages = this.#changedInPlace.replaceIn(given);
    this.#requireReadable(messages);
    this.#noteAnswer(messages, reply);
    const reading = this.host.read(messages);
    if (reading.kind === "other") return this.#readAll(messages, reply);
    for (const { message, original } of reading.copies)
      if (isRecord(message)) this.plain.recognised(message as unknown as ApiMessage, original);
    const added = reading.kind === "continued" ? reading.added : reading.since;
    if (added.some((message) => isEntry(message) && isMark(message))) return this.#readAll(messages, reply);
    return reading.kind === "continued"
      ? this.#continue(messages, added, reply)
      : this.#readSinceRewrite(messages, added, reply);
  }

  /** The form in which the session file holds an entry: with facts that a process that resumes it cannot find out. */
  readonly asLine = (entry: Entry): Entry => this.reports.asLine(this.boundThinking.asLine(entry));

  /** The entry that a host means by an index into its own messages, or by an entry's uuid. */
  referTo(ref: string | number, messages: readonly Message[]): string | number {
    if (typeof ref === "string") return ref;
    const { host, plain } = this;
    const message = host.standIn(this.#changedInPlace.standIn(messages[ref] as Message));
    if (isEntry(message)) return message.uuid ?? -1;
    return (isRecord(message) && plain.known(message as unknown as ApiMessage)?.[0]?.uuid) || -1;
  }

  /** Entries that came back from the transcript, and copies of entries under new ids. */
  readBack(entries: readonly Entry[], copies: readonly (readonly [Entry, Entry])[] = []): void {
    this.plain.readBack(entries);
    for (const [original, copy] of copies) this.plain.renewed(original, copy);
  }

  /** The thinking blocks that the model would refuse behind the messages as they are sent now. */
  misplacedThinking(): ReadonlySet<number> {
    return this.#options.bindsThinking() ? this.boundThinking.misplacedIn(this.sent) : NO_BLOCKS;
  }

  /** A request with these messages goes out. */
  noteSent(): void {
    this.boundThinking.noteSent();
  }

  /** Throws before anything is recorded. Each message object is checked once. */
  #requireReadable(messages: readonly Message[]): void {
    for (const [index, message] of messages.entries()) {
      if (!isRecord(message) || this.#readable.has(message)) continue;
      requireReadable(message, index);
      this.#readable.add(message);
    }
  }

  /** The host may change its list before it passes the response: the usage is about the list without the change. */
  #noteAnswer(messages: readonly Message[], reply: Reply | undefined): void {
    const { id, usage } = reply?.facts ?? {};
    if (reply === undefined || id === undefined || usage === undefined) return;
    const isAnswered = (message: Message): message is AssistantEntry =>
      isEntry(message) && isReport(message) && message.message.id === id;
    const answer = messages.findLast(isAnswered);
    if (answer !== undefined) this.reports.answeredFirst(answer, reply);
  }

  #continue(messages: readonly Message[], added: readonly Message[], reply: Reply | undefined): Taken {
    const { leaf, known } = this;
    const wrapped = this.#wrapAll(added, leaf, reply, () => undefined);
    const entries = continuing(wrapped.entries, leaf, {
      isKnown: (uuid) => known.has(uuid),
      isThere: (id) => this.entries.some(({ uuid }) => uuid === id),
    });
    const findings = this.append(entries, { given: messages, added, leaf: wrapped.leaf });
    return {
      added: entries,
      lines: entries,
      again: NONE,
      thinkingBlocks: 0,
      findings,
      isAnotherConversation: false,
    };
  }

  /** The host changed messages that came after the last rewrite: what was rewritten stays so. */
  #readSinceRewrite(given: readonly Message[], since: readonly Message[], reply: Reply | undefined): Taken {
    const { entries: before, base } = this;
    const own = this.#wrapAll(since, newestLineUuid(base) ?? null, reply, this.#recognition([]));
    const whole = [...base, ...own.entries];
    this.boundThinking.learn(own.entries);
    const edited = this.#edit(before, whole, own.fresh);
    const isSentSo = edited.thinkingBlocks === 0;
    const findings = this.reread(edited.entries, { given, since, leaf: own.leaf, isSentSo });
    return { ...takenFrom(before, whole, edited), findings, isAnotherConversation: true };
  }

  #readAll(given: readonly Message[], reply: Reply | undefined): Taken {
    const { entries: before, host } = this;
    const form = isEntry(given.find(isRecord)) ? "entries" : "messages";
    this.setForm(form);
    // A host may make all its messages anew and change but one: those that say the same are still the same.
    const newest = given.findLast(isAnswer);
    const isReplyThere = newest !== undefined && !host.hasReply(newest);
    const recognized = this.#recognition(host.sharedWith(given));
    const { entries, fresh } = this.#wrapAll(given, null, isReplyThere ? reply : undefined, recognized);
    const boundary = entries.findLastIndex((entry) => isCompactBoundary(entry));
    const whole = form === "messages" ? withMarks(before, entries) : entries.slice(Math.max(0, boundary));
    const edited = this.#edit(before, whole, fresh);
    this.boundThinking.learn(whole);
    const fromBoundary = toSentForm(edited.entries, this.#options.bindsThinking());
    const isSentSo = fromBoundary === edited.entries && edited.thinkingBlocks === 0;
    const leaf = newestLineUuid(whole) ?? null;
    const findings = this.reread(fromBoundary, { given, since: undefined, leaf, isSentSo });
    return { ...takenFrom(before, whole, edited), findings, isAnotherConversation: before.length > 0 };
  }

  /** The conversation as it can be sent and written after the host changed it. */
  #edit(before: readonly Entry[], given: readonly Entry[], fresh: ReadonlySet<Entry>): EditedLines {
    const { bindsThinking, isWritten } = this.#options;
    const edited = editedLines({
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
      if (entry !== original && saysTheSameAs(entry, original)) this.plain.renewed(original, entry);
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
      content: "Conversation taken back by the host",
      level: "info",
      rewind: { ...rewind, tokens },
    };
  }

  /** Entries of messages that are known. One object that stands in the list twice is two messages. */
  #recognition(
    earlier: readonly (Message | undefined)[],
  ): (message: ApiMessage, at: number) => readonly Entry[] | undefined {
    const taken = new Set<Entry>();
    return (message, at) => {
      const recognised = this.plain.recognised(message, earlier[at]);
      const known = recognised?.filter((entry) => !taken.has(entry));
      for (const entry of known ?? []) taken.add(entry);
      return known;
    };
  }

  /** Entries for these messages, the first of which hangs on `parentUuid`. */
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
    // The facts of the last response belong to the newest answer.
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
          if (own !== undefined) reports.answered(entry, own);
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
 * Entries of a session as they were sent: on disk results are whole that a mark says were cleared. The very list if
 * there is no such mark. The model wrote what comes after the mark in knowledge of the clearing, so its thinking stays.
 */
function toSentForm(entries: readonly Entry[], bindsThinking: boolean): readonly Entry[] {
  const cleared = withClearedResults(entries, clearedIdsIn(entries));
  if (cleared === entries || !bindsThinking) return cleared;
  const from = cleared.findIndex((entry, index) => entry !== entries[index]);
  return withoutThinkingIn(cleared, [{ from, to: cleared.findLastIndex(isMicrocompactBoundary) }]);
}

/** The same message as another line. */
const saysTheSameAs = (entry: Entry, original: Entry): boolean =>
  "message" in entry && "message" in original && entry.message === original.message;

function takenFrom(
  before: readonly Entry[],
  given: readonly Entry[],
  { entries, again, mark, thinkingBlocks }: EditedLines,
): Pick<Taken, "added" | "lines" | "again" | "thinkingBlocks"> {
  const old = new Set(before);
  const added = entries.filter((_, at) => !old.has(given[at] as Entry));
  const lines = entries.filter((entry) => !old.has(entry)).map((entry) => again.get(entry) ?? entry);
  const all = mark === undefined ? lines : [mark, ...lines];
  return { added, lines: all, again: new Set(again.values()), thinkingBlocks };
}

const isAnswer = (message: Message): boolean => isRecord(message) && message.role === "assistant";
