import type { Clearing, ResultIndexOptions } from "../compaction/clear/stale-results.ts";
import { type Calibration, ContextMeter, startCalibration } from "../measure/tokens/context-meter.ts";
import type { CountText } from "../measure/tokens/measure.ts";
import {
  type AssistantEntry,
  type AttachmentEntry,
  type Entry,
  isCompactBoundary,
  isEntry,
} from "../messages/entry.ts";
import { copiedIds, newestLineUuid } from "../messages/lines.ts";
import type { ApiMessage } from "../messages/message.ts";
import { savedTokens } from "../messages/responses.ts";
import { CheckedMessages } from "../request/check/growing-check.ts";
import type { CheckOptions, Finding } from "../request/check/rule.ts";
import { FlattenedEntries, type FlattenOptions, flatten } from "../request/flatten/flatten.ts";
import { BoundThinking } from "./bound-thinking.ts";
import { Contents, Measures } from "./contents.ts";
import type { CheckedFrame } from "./current-turn.ts";
import { HostView } from "./host-view.ts";
import type { Message } from "./options.ts";
import { PlainForm } from "./plain-form.ts";
import { isReport, type Prefix, ReportedPrefixes, reportsBeforeMark } from "./usage-trust.ts";

export interface ViewsOptions {
  readonly countText: CountText;
  readonly check: CheckOptions & { readonly model?: string };
  /** The request of the turn under way. After a change call {@link Views.reframe}. */
  readonly frame?: () => CheckedFrame;
  /** Tools whose results can be cleared, and which of them read files. */
  readonly clearable: ResultIndexOptions;
  /** Tokens that go with every call besides messages, until a report tells. */
  readonly overheadTokens: () => number;
  /** True if a reported usage is to be believed. */
  readonly isTrusted: (entry: AssistantEntry) => boolean;
}

/** A rewrite: what it does to the count of tokens and to the index of results. */
export type Rewriting =
  /** Results were emptied; `mark` says so, and how much the last reported usage now overstates. */
  | { readonly kind: "cleared"; readonly clearing: Clearing; readonly mark: Entry }
  /** Something of ours comes after the newest message, and goes with it: roles alternate. */
  | { readonly kind: "attached"; readonly attachments: readonly AttachmentEntry[] }
  /** Something in the middle was changed; the reported usage holds but for what `marks` subtract. */
  | { readonly kind: "rewritten"; readonly marks: readonly Entry[] }
  /** The conversation was replaced: what was reported of the old one no longer holds. */
  | { readonly kind: "restarted" };

/**
 * The views of one conversation: its entries (the canonical form), the checked messages of a request, the count of
 * tokens, the index of what is in it, the host's own list, and the plain messages that entries stand for. Three methods
 * change the conversation, and each brings all views up to date: {@link append}, {@link reread} and {@link rewrite}. A
 * turn costs what is new in it. A thread decides which of them a list of the host needs.
 */
export abstract class Views {
  readonly measures: Measures;
  /** Plain messages and their entries. */
  protected readonly plain: PlainForm = new PlainForm();
  /** The places at which a model that binds its thinking wrote it. */
  protected readonly boundThinking: BoundThinking = new BoundThinking();
  protected readonly reports: ReportedPrefixes = new ReportedPrefixes();
  protected readonly host: HostView = new HostView();
  readonly #options: ViewsOptions;
  #form: "messages" | "entries" = "messages";
  #entries: Entry[] = [];
  /** The entries at the last rewrite, or when the conversation began. */
  #base: readonly Entry[] = [];
  #outgoing: CheckedMessages | FlattenedEntries;
  #meter: ContextMeter;
  #contents: Contents;
  #leaf: string | null = null;
  /** The request around the messages changed, so they may be sent otherwise than they were handed back. */
  #isReframed = false;
  /** Ids of all lines that were in the conversation at some time, and of lines that they copy. */
  readonly #known = new Set<string>();
  /** We have changed something in it since: what was reported with these is about another conversation. */
  #outdated: ReadonlySet<string | undefined> = new Set();

  constructor(options: ViewsOptions) {
    this.#options = options;
    this.measures = new Measures(options.countText);
    this.#outgoing = this.#newOutgoing();
    this.#meter = this.#newMeter();
    this.#contents = this.#newContents();
  }

  get entries(): readonly Entry[] {
    return this.#entries;
  }

  protected get base(): readonly Entry[] {
    return this.#base;
  }

  /** The line on which the next entry hangs. */
  get leaf(): string | null {
    return this.#leaf;
  }

  get meter(): Pick<ContextMeter, "calibration" | "isUnreported" | "removedTokens" | "size"> {
    return this.#meter;
  }

  /** Results, pictures and calls in the conversation. */
  get contents(): Contents {
    return this.#contents;
  }

  protected get known(): ReadonlySet<string> {
    return this.#known;
  }

  /** The checked messages of a request. A later turn adds to them; a rewrite makes new ones. */
  get sent(): readonly ApiMessage[] {
    return this.#outgoing.messages;
  }

  /** The conversation so far, for the usage that its answer will report. */
  get prefix(): Prefix {
    return this.reports.whole;
  }

  /** The conversation in the host's form: its own array if that says the same. */
  handBack(messages: readonly Message[]): readonly Message[] {
    return this.host.handBack(messages);
  }

  /** The messages of this moment, for a request that is made now or later: what comes after is not in it. */
  outbox(): () => readonly ApiMessage[] {
    return this.#outgoing.outbox();
  }

  /** Entries came after the newest: `added` of the host's list `given`. */
  protected append(
    entries: readonly Entry[],
    { given, added, leaf }: { given: readonly Message[]; added: readonly Message[]; leaf: string | null },
  ): readonly Finding[] {
    this.#leaf = leaf;
    this.boundThinking.learn(entries);
    const wasRepaired = this.#isRepaired();
    const findings = this.#appendOutgoing(added, entries);
    for (const entry of entries) this.#add(entry);
    // What is new may also undo a repair: a result that was made up gives way to the real one.
    if (wasRepaired || this.#isRepaired()) this.#offer(given);
    this.#isReframed = false;
    return findings;
  }

  /**
   * The host changed its list: everything is counted from the start. `since`: the messages after the last rewrite, where
   * only they changed; else all of them. `isSentSo`: the host's messages are sent as they are.
   */
  protected reread(
    entries: readonly Entry[],
    change: {
      readonly given: readonly Message[];
      readonly since: readonly Message[] | undefined;
      readonly leaf: string | null;
      readonly isSentSo: boolean;
    },
  ): readonly Finding[] {
    const { given, since, leaf, isSentSo } = change;
    this.#leaf = leaf;
    if (since === undefined) this.#outgoing = this.#newOutgoing();
    let findings: readonly Finding[];
    if (!isSentSo) findings = this.#replaceOutgoing(entries);
    else if (since === undefined) findings = this.#appendOutgoing(given, entries);
    else {
      const kept = this.#base.length;
      findings = [...this.#replaceOutgoing(this.#base), ...this.#appendOutgoing(since, entries.slice(kept))];
    }
    this.#countAll(entries);
    if (since === undefined) {
      this.#base = this.#entries.slice();
      this.host.begin(given);
    }
    if (!isSentSo) this.#handBackAll();
    else if (this.#isRepaired()) this.#offer(given);
    this.#isReframed = false;
    return findings;
  }

  /** We changed the conversation: these are its entries now. The last of them is the newest line of the transcript. */
  rewrite(
    entries: readonly Entry[],
    rewriting: Rewriting = { kind: "rewritten", marks: [] },
  ): readonly Finding[] {
    this.#count(entries, rewriting);
    if (rewriting.kind !== "attached")
      this.#outdated = new Set(entries.filter(isReport).map(({ uuid }) => uuid));
    const findings = this.#replaceOutgoing(entries);
    this.boundThinking.learn(entries);
    this.#entries = [...entries];
    this.reports.restart();
    for (const entry of entries) {
      this.reports.add(entry, this.measures.ofEntry(entry));
      this.#noteLine(entry);
    }
    this.#leaf = newestLineUuid(entries) ?? null;
    this.#handBackAll();
    return findings;
  }

  /** The form of a list that is read from the start. */
  protected setForm(form: "messages" | "entries"): void {
    this.#form = form;
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
  offerSent(given: readonly Message[]): void {
    if (this.#isRepaired()) this.#offer(given);
    this.#isReframed = false;
  }

  /** What the reports so far have taught was wrong: everything is estimated as is usual for the model. */
  unlearn(): void {
    const entries = this.#entries.filter((entry) => !isCompactBoundary(entry));
    this.#estimateAll(entries, startCalibration(this.#options.check.model));
  }

  /** The provider counted the whole conversation. */
  counted(tokens: number): void {
    this.#meter.counted(tokens);
  }

  /** The messages of these entries, all of them or a part. */
  messagesFor(entries: readonly Entry[]): readonly ApiMessage[] {
    const isWhole = entries.length === this.#entries.length && entries[0] === this.#entries[0];
    if (isWhole) return this.outbox()();
    return this.#form === "messages" ? this.plain.messagesFor(entries) : flatten(entries, this.#flattening());
  }

  /** Count of tokens and index of results, after a rewrite. */
  #count(entries: readonly Entry[], rewriting: Rewriting): void {
    switch (rewriting.kind) {
      case "cleared":
        this.#contents.cleared(rewriting.clearing, entries.slice(0, -1));
        this.#contents.add(rewriting.mark, entries.length - 1);
        this.#meter.add(rewriting.mark);
        break;
      case "attached":
        for (const [at, entry] of rewriting.attachments.entries()) {
          this.#meter.add(entry, { tokens: this.measures.ofEntry(entry) });
          this.#contents.add(entry, this.#entries.length + at);
        }
        break;
      case "rewritten":
        for (const mark of rewriting.marks) this.#meter.add(mark);
        this.#index(entries);
        break;
      case "restarted":
        this.#index(entries);
        this.#estimateAll(entries);
        break;
    }
  }

  #index(entries: readonly Entry[]): void {
    this.#contents = this.#newContents();
    for (const [index, entry] of entries.entries()) this.#contents.add(entry, index);
  }

  #estimateAll(entries: readonly Entry[], calibration?: Calibration): void {
    this.#meter = this.#newMeter(calibration);
    for (const entry of entries) {
      if (isEntry(entry)) this.#meter.add(entry, { tokens: this.measures.ofEntry(entry), ignoreUsage: true });
    }
  }

  /** Reads and counts the conversation from the start. */
  #countAll(entries: readonly Entry[]): void {
    this.#meter = this.#newMeter();
    this.#contents = this.#newContents();
    this.#entries = [];
    this.reports.restart();
    const reportOf = reportsBeforeMark(entries);
    for (const [index, entry] of entries.entries()) {
      const { isOld, isBeforeMark } = reportOf(entry, index);
      this.#add(entry, { isOld: isOld || this.#outdated.has(entry.uuid), isBeforeMark });
    }
  }

  #add(entry: Entry, { isOld = false, isBeforeMark = false } = {}): void {
    this.#noteLine(entry);
    // Entries are counted as they are: a mark says how far a report is off, and so far there was none.
    const isVoidMark = savedTokens(entry) !== undefined && this.#meter.size().source === "estimate";
    // A report about another conversation, such as the one before a compaction, is no wrong figure.
    const grown =
      isReport(entry) && !this.#meter.isFromBeforeCompaction(entry)
        ? this.reports.grownSince(entry, isBeforeMark)
        : undefined;
    // The messages of the report have been cleared or collapsed since. Only the mark makes them comparable.
    const isJudged = isReport(entry) && grown !== undefined && !isOld && !isBeforeMark;
    const isOther = isReport(entry) && grown === undefined;
    const ignoreUsage = isVoidMark || isOld || isOther || (isJudged && !this.#options.isTrusted(entry));
    const tokens = this.measures.ofEntry(entry);
    const clearedTokens = isReport(entry) ? this.reports.clearedBefore(entry) : 0;
    this.#meter.add(entry, { tokens, ignoreUsage, grownTokens: grown ?? 0, clearedTokens });
    this.reports.add(entry, tokens);
    this.#contents.add(entry, this.#entries.push(entry) - 1);
  }

  #noteLine(entry: Entry): void {
    if (entry.uuid !== undefined) this.#known.add(entry.uuid);
    for (const id of copiedIds(entry)) this.#known.add(id);
  }

  #appendOutgoing(messages: readonly Message[], entries: readonly Entry[]): readonly Finding[] {
    return this.#outgoing instanceof CheckedMessages
      ? this.#outgoing.append(messages as readonly ApiMessage[])
      : this.#outgoing.append(entries);
  }

  #replaceOutgoing(entries: readonly Entry[]): readonly Finding[] {
    this.#outgoing = this.#newOutgoing();
    return this.#outgoing instanceof CheckedMessages
      ? this.#outgoing.replace(this.plain.messagesFor(entries))
      : this.#outgoing.replace(entries);
  }

  /** Hands back what is sent, since the check repaired it. */
  #offer(given: readonly Message[]): void {
    if (this.host.offer(this.sent, given)) this.#base = this.#entries.slice();
  }

  /** The host's list is sent otherwise than it was given: the host gets back what is sent. */
  #handBackAll(): void {
    this.#base = this.#entries.slice();
    this.host.replace(this.#form === "messages" ? this.sent : this.#entries);
  }

  /** True if plain messages may be sent otherwise than they were given. Entries stay as they are in any case. */
  #isRepaired(): boolean {
    return this.#outgoing instanceof CheckedMessages && (this.#isReframed || !this.#outgoing.isUntouched);
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
