import type { AppliedClearing } from "../clear/apply.ts";
import type { Clearing } from "../clear/clearing.ts";
import type { Finding } from "../conversation/check/finding.ts";
import { CheckedMessages } from "../conversation/check/growing-check.ts";
import { copiedIds } from "../conversation/copies.ts";
import type { RewindMark, RewindRecord } from "../conversation/entry.ts";
import {
  type AssistantEntry,
  type AttachmentEntry,
  type Entry,
  isCompactBoundary,
  isEntry,
  type MicrocompactBoundaryEntry,
} from "../conversation/entry.ts";
import { FlattenedEntries, type FlattenOptions, flatten } from "../conversation/flatten/flatten.ts";
import { requireList, requireReadable } from "../conversation/given-messages.ts";
import type { ApiMessage } from "../conversation/message.ts";
import { newestLineUuid } from "../conversation/queued.ts";
import { savedTokens } from "../conversation/reported-usage.ts";
import { isRecord } from "../conversation/untrusted.ts";
import { type Calibration, startCalibration } from "../tokens/calibration.ts";
import { ContextMeter } from "../tokens/context-meter.ts";
import { asSent } from "./as-sent.ts";
import { BoundThinking } from "./bound-thinking.ts";
import { ChangedInPlace } from "./changed-in-place.ts";
import { Contents } from "./contents.ts";
import { type EditedLines, editedLines, isMark, withMarks } from "./edited-lines.ts";
import { HostView } from "./host-view.ts";
import { Measures } from "./measures.ts";
import type { Message } from "./options.ts";
import { PlainForm, type ReplyFacts } from "./plain-form.ts";
import { continuing } from "./relinked-lines.ts";
import { type Prefix, ReportedPrefixes } from "./reported-prefixes.ts";
import { isReport, reportsBeforeMark } from "./reports-before-mark.ts";
import type { Taken, ThreadOptions } from "./thread-options.ts";

/** A response whose message is not in the conversation yet, and the conversation that it answers. */
export interface Reply {
  readonly facts: ReplyFacts;
  readonly to: Prefix;
  /** Tokens of the request that the provider cleared: the usage does not include them. */
  readonly clearedTokens: number;
}

/**
 * One conversation as it is now, kept up as it grows: what a turn costs is what is new in it. Entries are the
 * canonical form; `sent` is what they are in a request.
 */
export class Thread {
  readonly measures: Measures;
  readonly #options: ThreadOptions;
  readonly plain: PlainForm = new PlainForm();
  /** The places at which a model that binds its thinking wrote it. */
  readonly boundThinking: BoundThinking = new BoundThinking();
  #form: "messages" | "entries" = "messages";
  #entries: Entry[] = [];
  /** The entries at the last rewrite, or when the conversation began. */
  #base: readonly Entry[] = [];
  readonly #reports = new ReportedPrefixes();
  #outgoing: CheckedMessages | FlattenedEntries;
  #meter: ContextMeter;
  #contents: Contents;
  readonly #host = new HostView();
  readonly #changedInPlace = new ChangedInPlace();
  #leaf: string | null = null;
  /** The request around the messages changed, so they may be sent otherwise than they were handed back. */
  #isReframed = false;
  /** Messages that can be read without loss. */
  readonly #readable = new WeakSet<object>();
  /** Ids of all lines that were in the conversation at some time, and of lines that they copy. */
  readonly #known = new Set<string>();
  /** We have changed something in it since: what was reported with these is about another conversation. */
  #outdated: ReadonlySet<string | undefined> = new Set();

  constructor(options: ThreadOptions) {
    this.#options = options;
    this.measures = new Measures(options.countText);
    this.#outgoing = this.#newOutgoing();
    this.#meter = this.#newMeter();
    this.#contents = this.#newContents();
  }

  get entries(): readonly Entry[] {
    return this.#entries;
  }

  /** What the next entry is to hang on. */
  get leaf(): string | null {
    return this.#leaf;
  }

  get meter(): ContextMeter {
    return this.#meter;
  }

  /** What is in it: results, pictures, calls. */
  get contents(): Contents {
    return this.#contents;
  }

  /** The checked messages of a request. A later turn adds to them; a rewrite makes new ones. */
  get sent(): readonly ApiMessage[] {
    return this.#outgoing.messages;
  }

  /** The conversation so far, for the usage that its answer will report. */
  get prefix(): Prefix {
    return this.#reports.whole;
  }

  /**
   * Takes in the host's list: the conversation as it gave it or as it was handed back, in turns if it likes, and what
   * came since. A list with other messages is a conversation that the host changed, and is read again from there.
   */
  take(given: readonly Message[], reply: Reply | undefined): Taken {
    requireList(given);
    const messages = this.#changedInPlace.replaceIn(given);
    this.#requireReadable(messages);
    this.#noteAnswer(messages, reply);
    const reading = this.#host.read(messages);
    if (reading.kind === "other") return this.#readAll(messages, reply);
    for (const { message, original } of reading.copies)
      if (isRecord(message)) this.plain.recognised(message as unknown as ApiMessage, original);
    const added = reading.kind === "continued" ? reading.added : reading.since;
    if (added.some((message) => isEntry(message) && isMark(message))) return this.#readAll(messages, reply);
    return reading.kind === "continued"
      ? this.#continue(messages, added, reply)
      : this.#readSinceRewrite(messages, added, reply);
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
    if (answer !== undefined) this.#reports.answeredFirst(answer, reply);
  }

  #continue(messages: readonly Message[], added: readonly Message[], reply: Reply | undefined): Taken {
    const leaf = this.#leaf;
    const wrapped = this.#wrapAll(added, reply, () => undefined);
    const entries = continuing(wrapped.entries, leaf, {
      isKnown: (uuid) => this.#known.has(uuid),
      isThere: (id) => this.#entries.some(({ uuid }) => uuid === id),
    });
    this.boundThinking.learn(entries);
    const wasRepaired = this.#isRepaired();
    const findings = this.#appendOutgoing(added, entries);
    for (const entry of entries) this.#add(entry);
    // What is new may also undo a repair: a result that was made up gives way to the real one.
    if (wasRepaired || this.#isRepaired()) this.#offer(messages);
    this.#isReframed = false;
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
  #readSinceRewrite(
    messages: readonly Message[],
    since: readonly Message[],
    reply: Reply | undefined,
  ): Taken {
    const before = this.#entries;
    this.#leaf = newestLineUuid(this.#base) ?? null;
    const own = this.#wrapAll(since, reply, this.#recognition([]));
    const given = [...this.#base, ...own.entries];
    this.boundThinking.learn(own.entries);
    const edited = this.#edit(before, given, own.fresh);
    const isSentSo = edited.thinkingBlocks === 0;
    const findings = isSentSo
      ? [
          ...this.#replaceOutgoing(this.#base),
          ...this.#appendOutgoing(since, edited.entries.slice(this.#base.length)),
        ]
      : this.#replaceOutgoing(edited.entries);
    this.#addAll(edited.entries);
    if (!isSentSo) this.#rebase();
    else if (this.#isRepaired()) this.#offer(messages);
    this.#isReframed = false;
    return { ...takenFrom(before, given, edited), findings, isAnotherConversation: true };
  }

  /** The conversation as it can be sent and written after the host changed it. */
  #edit(before: readonly Entry[], given: readonly Entry[], fresh: ReadonlySet<Entry>): EditedLines {
    const { bindsThinking, isWritten } = this.#options;
    const edited = editedLines({
      before,
      given,
      fresh,
      bindsThinking: bindsThinking(),
      known: this.#known,
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

  /** The host's list is sent otherwise than it was given: it gets back what is sent. */
  #rebase(): void {
    this.#base = this.#entries.slice();
    this.#host.replace(this.#inForm());
  }

  #replaceOutgoing(entries: readonly Entry[]): readonly Finding[] {
    this.#outgoing = this.#newOutgoing();
    return this.#outgoing instanceof CheckedMessages
      ? this.#outgoing.replace(this.plain.messagesFor(entries))
      : this.#outgoing.replace(entries);
  }

  /** The conversation in the host's form: its own array where that says the same. */
  handBack(messages: readonly Message[]): readonly Message[] {
    return this.#host.handBack(messages);
  }

  /** What is sent now, to be asked for now or later: what comes after is not in it. */
  outbox(): () => readonly ApiMessage[] {
    return this.#outgoing.outbox();
  }

  /** The form in which the session file holds an entry: with facts that a process that resumes it cannot find out. */
  readonly asLine = (entry: Entry): Entry => this.#reports.asLine(this.boundThinking.asLine(entry));

  /** What a host means by an index into its own messages, or by an entry's uuid. */
  referTo(ref: string | number, messages: readonly Message[]): string | number {
    if (typeof ref === "string") return ref;
    const message = this.#host.standIn(this.#changedInPlace.standIn(messages[ref] as Message));
    if (isEntry(message)) return message.uuid ?? -1;
    return (isRecord(message) && this.plain.known(message as unknown as ApiMessage)?.[0]?.uuid) || -1;
  }

  /** Results were emptied; `mark` says so, and how much the last reported usage now overstates. */
  clear(
    clearing: Clearing,
    { entries }: AppliedClearing,
    mark: MicrocompactBoundaryEntry,
  ): readonly Finding[] {
    this.#contents.cleared(clearing, entries);
    this.#contents.add(mark, entries.length);
    this.#meter.add(mark);
    this.#outdate(entries);
    return this.#replace([...entries, mark]);
  }

  /** Something of ours comes after the newest message, and goes with it: roles alternate. */
  attach(attachments: readonly AttachmentEntry[]): readonly Finding[] {
    for (const [at, entry] of attachments.entries()) {
      this.#meter.add(entry, { tokens: this.measures.ofEntry(entry) });
      this.#contents.add(entry, this.#entries.length + at);
    }
    return this.#replace([...this.#entries, ...attachments]);
  }

  /** Something in the middle was changed; the reported usage holds but for what the caller subtracts. */
  rewrite(entries: readonly Entry[]): readonly Finding[] {
    const contents = this.#newContents();
    for (const [index, entry] of entries.entries()) contents.add(entry, index);
    this.#contents = contents;
    this.#outdate(entries);
    return this.#replace(entries);
  }

  /** The thinking blocks of these entries that the model would refuse behind the messages as they are sent now. */
  misplacedThinking(): ReadonlySet<number> {
    return this.#options.bindsThinking() ? this.boundThinking.misplacedIn(this.sent) : NO_BLOCKS;
  }

  /** Checks all messages again, against the request that goes with them from now on. */
  reframe(): readonly Finding[] {
    const { items } = this.#outgoing;
    this.#outgoing = this.#newOutgoing();
    this.#isReframed = true;
    return this.#outgoing instanceof CheckedMessages
      ? this.#outgoing.replace(items as readonly ApiMessage[])
      : this.#outgoing.replace(items as readonly Entry[]);
  }

  /** Hands back what is sent since {@link reframe}. */
  offerSent(messages: readonly Message[]): void {
    if (this.#isRepaired()) this.#offer(messages);
    this.#isReframed = false;
  }

  #outdate(entries: readonly Entry[]): void {
    this.#outdated = new Set(entries.filter(isReport).map(({ uuid }) => uuid));
  }

  /** The last of them is the newest line of the transcript. */
  #replace(entries: readonly Entry[]): readonly Finding[] {
    const findings = this.#replaceOutgoing(entries);
    this.boundThinking.learn(entries);
    this.#entries = [...entries];
    this.#base = this.#entries.slice();
    this.#reports.restart();
    for (const entry of entries) {
      this.#reports.add(entry, this.measures.ofEntry(entry));
      this.#noteLine(entry);
    }
    this.#leaf = newestLineUuid(entries) ?? null;
    this.#host.replace(this.#inForm());
    return findings;
  }

  /** The conversation was replaced: what was reported of the old one no longer holds. */
  restart(entries: readonly Entry[]): readonly Finding[] {
    const findings = this.rewrite(entries);
    this.#measure(entries, this.#newMeter());
    return findings;
  }

  /** What the reports so far have taught was wrong: everything is estimated as is usual for the model. */
  unlearn(): void {
    const entries = this.#entries.filter((entry) => !isCompactBoundary(entry));
    this.#measure(entries, this.#newMeter(startCalibration(this.#options.check.model)));
  }

  #measure(entries: readonly Entry[], meter: ContextMeter): void {
    this.#meter = meter;
    for (const entry of entries) {
      if (isEntry(entry)) meter.add(entry, { tokens: this.measures.ofEntry(entry), ignoreUsage: true });
    }
  }

  /** What is sent for these entries, all of them or a part. */
  messagesFor(entries: readonly Entry[]): readonly ApiMessage[] {
    const isWhole = entries.length === this.#entries.length && entries[0] === this.#entries[0];
    if (isWhole) return this.outbox()();
    return this.#form === "messages" ? this.plain.messagesFor(entries) : flatten(entries, this.#flattening());
  }

  #readAll(messages: readonly Message[], reply: Reply | undefined): Taken {
    this.#form = isEntry(messages.find(isRecord)) ? "entries" : "messages";
    const before = this.#entries;
    this.#leaf = null;
    // A host may make all its messages anew and change but one: those that say the same are still the same.
    const newest = messages.findLast(isAnswer);
    const isReplyThere = newest !== undefined && !this.#host.hasReply(newest);
    const recognized = this.#recognition(this.#host.sharedWith(messages));
    const { entries, fresh } = this.#wrapAll(messages, isReplyThere ? reply : undefined, recognized);
    const boundary = entries.findLastIndex((entry) => isCompactBoundary(entry));
    const given =
      this.#form === "messages" ? withMarks(before, entries) : entries.slice(Math.max(0, boundary));
    this.#leaf = newestLineUuid(given) ?? null;
    const edited = this.#edit(before, given, fresh);
    this.boundThinking.learn(given);
    const fromBoundary = asSent(edited.entries, this.#options.bindsThinking());
    const isSentSo = fromBoundary === edited.entries && edited.thinkingBlocks === 0;
    this.#outgoing = this.#newOutgoing();
    const findings = isSentSo
      ? this.#appendOutgoing(messages, fromBoundary)
      : this.#replaceOutgoing(fromBoundary);
    this.#addAll(fromBoundary);
    this.#base = this.#entries.slice();
    this.#host.begin(messages);
    if (!isSentSo) this.#rebase();
    else if (this.#isRepaired()) this.#offer(messages);
    this.#isReframed = false;
    return {
      ...takenFrom(before, given, edited),
      findings,
      isAnotherConversation: before.length > 0,
    };
  }

  /** Entries of messages that are known. One object that stands in the list twice is two messages. */
  #recognition(
    earlier: readonly (Message | undefined)[],
  ): (message: ApiMessage, at: number) => readonly Entry[] | undefined {
    const taken = new Set<Entry>();
    return (message, at) => {
      const known = this.plain.recognised(message, earlier[at])?.filter((entry) => !taken.has(entry));
      for (const entry of known ?? []) taken.add(entry);
      return known;
    };
  }

  /** Reads and counts the conversation from the start. */
  #addAll(entries: readonly Entry[]): void {
    this.#meter = this.#newMeter();
    this.#contents = this.#newContents();
    this.#entries = [];
    this.#reports.restart();
    const reportOf = reportsBeforeMark(entries);
    for (const [index, entry] of entries.entries()) {
      const { isOld, isBeforeMark } = reportOf(entry, index);
      this.#add(entry, { isOld: isOld || this.#outdated.has(entry.uuid), isBeforeMark });
    }
  }

  /** Hands back what is sent, since the check repaired it. */
  #offer(messages: readonly Message[]): void {
    if (this.#host.offer(this.sent, messages)) this.#base = this.#entries.slice();
  }

  #wrapAll(
    messages: readonly Message[],
    reply: Reply | undefined,
    known: (message: ApiMessage, at: number) => readonly Entry[] | undefined,
  ): { readonly entries: readonly Entry[]; readonly fresh: ReadonlySet<Entry> } {
    const entries: Entry[] = [];
    const fresh = new Set<Entry>();
    // What was told of the last response belongs to the newest answer.
    const newest = reply && messages.findLast(isAnswer);
    let parent = this.#leaf;
    for (const [at, message] of messages.entries()) {
      if (isEntry(message)) entries.push(message);
      else if (isRecord(message)) {
        const plain = message as unknown as ApiMessage;
        const seen = known(plain, at);
        if (seen !== undefined && seen.length > 0) entries.push(...seen);
        else {
          const own = plain === newest ? reply : undefined;
          const entry = this.plain.wrap(plain, this.#options.newLink(parent), own?.facts);
          if (own !== undefined) this.#reports.answered(entry, own);
          entries.push(entry);
          fresh.add(entry);
        }
      }
      parent = newestLineUuid(entries.slice(-1)) ?? parent;
    }
    this.#leaf = parent;
    return { entries, fresh };
  }

  #appendOutgoing(messages: readonly Message[], entries: readonly Entry[]): readonly Finding[] {
    return this.#outgoing instanceof CheckedMessages
      ? this.#outgoing.append(messages as readonly ApiMessage[])
      : this.#outgoing.append(entries);
  }

  #noteLine(entry: Entry): void {
    if (entry.uuid !== undefined) this.#known.add(entry.uuid);
    for (const id of copiedIds(entry)) this.#known.add(id);
  }

  #add(entry: Entry, { isOld = false, isBeforeMark = false } = {}): void {
    this.#noteLine(entry);
    // Entries are counted as they are: a mark says how far a report is off, and so far there was none.
    const isVoidMark = savedTokens(entry) !== undefined && this.#meter.size().source === "estimate";
    // A report about another conversation, such as the one before a compaction, is no wrong figure.
    const grown =
      isReport(entry) && !this.#meter.isFromBeforeCompaction(entry)
        ? this.#reports.grownSince(entry, isBeforeMark)
        : undefined;
    // What it tells of has been cleared or collapsed since. The mark says how much; only it makes them comparable.
    const isJudged = isReport(entry) && grown !== undefined && !isOld && !isBeforeMark;
    const isOther = isReport(entry) && grown === undefined;
    const ignoreUsage = isVoidMark || isOld || isOther || (isJudged && !this.#options.isTrusted(entry));
    const tokens = this.measures.ofEntry(entry);
    const clearedTokens = isReport(entry) ? this.#reports.clearedBefore(entry) : 0;
    this.#meter.add(entry, { tokens, ignoreUsage, grownTokens: grown ?? 0, clearedTokens });
    this.#reports.add(entry, tokens);
    this.#contents.add(entry, this.#entries.push(entry) - 1);
  }

  /** True if plain messages may be sent otherwise than they were given. Entries stay as they are in any case. */
  #isRepaired(): boolean {
    return this.#outgoing instanceof CheckedMessages && (this.#isReframed || !this.#outgoing.isUntouched);
  }

  #inForm(): readonly Message[] {
    return this.#form === "messages" ? this.sent : this.#entries;
  }

  #newOutgoing(): CheckedMessages | FlattenedEntries {
    if (this.#form !== "messages") return new FlattenedEntries(this.#flattening());
    const { model, ...check } = this.#options.check;
    return new CheckedMessages(check, {
      ...(model === undefined ? {} : { model }),
      ...this.#options.frame?.(),
    });
  }

  #flattening(): FlattenOptions {
    const { model, ...check } = this.#options.check;
    const { tools, thinking } = this.#options.frame?.() ?? {};
    return {
      check,
      request: { ...(model === undefined ? {} : { model }), ...(thinking === undefined ? {} : { thinking }) },
      ...(tools === undefined ? {} : { tools }),
    };
  }

  #newMeter(calibration?: Calibration): ContextMeter {
    const { countText, overheadTokens, check } = this.#options;
    const learned = calibration ?? this.#meter?.calibration ?? startCalibration(check.model);
    return new ContextMeter({ countText, calibration: learned, overheadTokens: overheadTokens() });
  }

  #newContents(): Contents {
    return new Contents(this.measures, this.#options.clearable);
  }
}

const NONE: ReadonlySet<Entry> = new Set();
const NO_BLOCKS: ReadonlySet<number> = new Set();

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
