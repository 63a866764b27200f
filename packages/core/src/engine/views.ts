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
import { savedTokensOf } from "../messages/responses.ts";
import { CheckedMessages } from "../request/check/growing-check.ts";
import type { CheckOptions, Finding } from "../request/check/rule.ts";
import { FlattenedEntries, type FlattenOptions, flatten } from "../request/flatten/flatten.ts";
import { BoundThinking } from "./bound-thinking.ts";
import { Contents, Measures } from "./contents.ts";
import type { CheckedFrame } from "./current-turn.ts";
import { HostView } from "./host-view.ts";
import type { Message } from "./options.ts";
import { PlainMessages } from "./plain-messages.ts";
import { isUsageReport, type Prefix, ReportedPrefixes, reportsBeforeMark } from "./usage-trust.ts";

export interface ViewsOptions {
  readonly countText: CountText;
  readonly check: CheckOptions & { readonly model?: string };
  /** The current request fields. Call {@link Views.reframe} after a change. */
  readonly frame?: () => CheckedFrame;
  /** Tools whose results can be cleared, and which of them read files. */
  readonly clearable: ResultIndexOptions;
  /**
   * Returns the estimated tokens of system prompt and tools, which count until a usage report includes them.
   */
  readonly overheadTokens: () => number;
  /** Returns true if the usage report in an entry is trusted. */
  readonly isTrusted: (entry: AssistantEntry) => boolean;
}

/** The effect of a rewrite on the token count and the index of results. */
export type RewriteEffect =
  /**
   * Results were cleared. `mark` records the clearing, and the number of tokens by which the last usage
   * report is too high.
   */
  | { readonly kind: "cleared"; readonly clearing: Clearing; readonly mark: Entry }
  /**
   * The engine added attachments after the newest message. They are merged with that message, because roles
   * must alternate.
   */
  | { readonly kind: "attached"; readonly attachments: readonly AttachmentEntry[] }
  /**
   * Earlier messages were changed. The reported usage stays valid, except for the tokens that `marks`
   * subtract.
   */
  | { readonly kind: "rewritten"; readonly marks: readonly Entry[] }
  /** The conversation was replaced. Usage reports about the old conversation are void. */
  | { readonly kind: "restarted" };

/**
 * The views of one conversation: its entries (the canonical form), the checked messages of a request, the
 * token count, the index of contents, the host's list, and the plain messages of entries. Three methods
 * change the conversation and update all views: {@link append}, {@link reread} and {@link rewrite}. The cost
 * of a turn depends only on its new messages. A thread selects the method for a host's list.
 */
export abstract class Views {
  readonly measures: Measures;
  /** Plain messages and their entries. */
  protected readonly plain: PlainMessages = new PlainMessages();
  /** Positions at which the model wrote its thinking blocks, for models that bind thinking. */
  protected readonly boundThinking: BoundThinking = new BoundThinking();
  protected readonly reports: ReportedPrefixes = new ReportedPrefixes();
  protected readonly host: HostView = new HostView();
  readonly #options: ViewsOptions;
  #form: "messages" | "entries" = "messages";
  #entries: Entry[] = [];
  /** The entries as the last rewrite left them, or as they were at the start of the conversation. */
  #base: readonly Entry[] = [];
  #outgoing: CheckedMessages | FlattenedEntries;
  #meter: ContextMeter;
  #contents: Contents;
  #leaf: string | null = null;
  /**
   * True if the request fields changed, so that the messages to send may differ from those that the host has.
   */
  #isReframed = false;
  /** Ids of all lines that were ever in the conversation, and of the lines that they copy. */
  readonly #known = new Set<string>();
  /** Ids of entries whose usage reports are void, because the engine changed the conversation later. */
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

  /** Parent of the next entry's line. */
  get leaf(): string | null {
    return this.#leaf;
  }

  get meter(): Pick<ContextMeter, "calibration" | "isUnreported" | "removedTokens" | "size"> {
    return this.#meter;
  }

  /** Tool results, images and calls in the conversation. */
  get contents(): Contents {
    return this.#contents;
  }

  protected get known(): ReadonlySet<string> {
    return this.#known;
  }

  /** The checked messages of a request. A later turn appends to them, and a rewrite creates new ones. */
  get outgoingMessages(): readonly ApiMessage[] {
    return this.#outgoing.messages;
  }

  /** The prefix of all entries so far. The usage of the next answer will refer to it. */
  get prefix(): Prefix {
    return this.reports.whole;
  }

  /** Returns the conversation in the host's form. Returns the host's own array if it is equal. */
  toHostForm(messages: readonly Message[]): readonly Message[] {
    return this.host.toHostForm(messages);
  }

  /**
   * Captures the current messages for a request that is made now or later. The request excludes messages that
   * are added later.
   */
  outbox(): () => readonly ApiMessage[] {
    return this.#outgoing.outbox();
  }

  /** Appends entries. `added` are the new messages of the host's list `given`. */
  protected append(
    entries: readonly Entry[],
    { given, added, leaf }: { given: readonly Message[]; added: readonly Message[]; leaf: string | null },
  ): readonly Finding[] {
    this.#leaf = leaf;
    this.boundThinking.loadPositions(entries);
    const wasRepaired = this.#isRepaired();
    const findings = this.#appendOutgoing(added, entries);
    for (const entry of entries) this.#add(entry);
    // New messages may make a repair obsolete: the real tool result replaces a generated one.
    if (wasRepaired || this.#isRepaired()) this.#returnIfRepaired(given);
    this.#isReframed = false;
    return findings;
  }

  /**
   * Counts everything again after the host edited its list. If only the messages after the last rewrite
   * changed, `since` contains these messages. `isSentUnchanged` is true if the host's messages are sent
   * unchanged.
   */
  protected reread(
    entries: readonly Entry[],
    change: {
      readonly given: readonly Message[];
      readonly since: readonly Message[] | undefined;
      readonly leaf: string | null;
      readonly isSentUnchanged: boolean;
    },
  ): readonly Finding[] {
    const { given, since, leaf, isSentUnchanged } = change;
    this.#leaf = leaf;
    if (since === undefined) this.#outgoing = this.#newOutgoing();
    let findings: readonly Finding[];
    if (!isSentUnchanged) findings = this.#replaceOutgoing(entries);
    else if (since === undefined) findings = this.#appendOutgoing(given, entries);
    else {
      const kept = this.#base.length;
      findings = [...this.#replaceOutgoing(this.#base), ...this.#appendOutgoing(since, entries.slice(kept))];
    }
    this.#countAll(entries);
    if (since === undefined) {
      this.#base = this.#entries.slice();
      this.host.start(given);
    }
    if (!isSentUnchanged) this.#returnAll();
    else if (this.#isRepaired()) this.#returnIfRepaired(given);
    this.#isReframed = false;
    return findings;
  }

  /** Replaces the entries after a change by the engine. */
  rewrite(
    entries: readonly Entry[],
    rewriting: RewriteEffect = { kind: "rewritten", marks: [] },
  ): readonly Finding[] {
    this.#count(entries, rewriting);
    if (rewriting.kind !== "attached")
      this.#outdated = new Set(entries.filter(isUsageReport).map(({ uuid }) => uuid));
    const findings = this.#replaceOutgoing(entries);
    this.boundThinking.loadPositions(entries);
    this.#entries = [...entries];
    this.reports.restart();
    for (const entry of entries) {
      this.reports.add(entry, this.measures.ofEntry(entry));
      this.#noteLine(entry);
    }
    this.#leaf = newestLineUuid(entries) ?? null;
    this.#returnAll();
    return findings;
  }

  /** Sets the form of a host's list that is read from the start. */
  protected setForm(form: "messages" | "entries"): void {
    this.#form = form;
  }

  /** Checks all messages again with the current request fields. */
  reframe(): readonly Finding[] {
    const { items } = this.#outgoing;
    this.#outgoing = this.#newOutgoing();
    this.#isReframed = true;
    return this.#outgoing instanceof CheckedMessages
      ? this.#outgoing.replace(items as readonly ApiMessage[])
      : this.#outgoing.replace(items as readonly Entry[]);
  }

  /** After {@link reframe}, passes the messages to the host in the form in which they are sent. */
  returnSentMessages(given: readonly Message[]): void {
    if (this.#isRepaired()) this.#returnIfRepaired(given);
    this.#isReframed = false;
  }

  /** Drops the calibration that wrong usage reports caused, and uses the typical ratio of the model. */
  resetCalibration(): void {
    const entries = this.#entries.filter((entry) => !isCompactBoundary(entry));
    this.#estimateAll(entries, startCalibration(this.#options.check.model));
  }

  /** Records the provider's count of the whole conversation. */
  setExactCount(tokens: number): void {
    this.#meter.counted(tokens);
  }

  /** Returns the messages of all or some entries. */
  messagesFor(entries: readonly Entry[]): readonly ApiMessage[] {
    const isWhole = entries.length === this.#entries.length && entries[0] === this.#entries[0];
    if (isWhole) return this.outbox()();
    return this.#form === "messages" ? this.plain.messagesFor(entries) : flatten(entries, this.#flattening());
  }

  /** Updates the token count and the index of results after a rewrite. */
  #count(entries: readonly Entry[], rewriting: RewriteEffect): void {
    switch (rewriting.kind) {
      case "cleared":
        this.#contents.recordClearing(rewriting.clearing, entries.slice(0, -1));
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
    // A mark corrects the last usage report. Without a report, the mark has no effect.
    const isVoidMark = savedTokensOf(entry) !== undefined && this.#meter.size().source === "estimate";
    // A report about another conversation, such as the one before a compaction, does not count as wrong.
    const grown =
      isUsageReport(entry) && !this.#meter.isFromBeforeCompaction(entry)
        ? this.reports.tokensAddedSince(entry, isBeforeMark)
        : undefined;
    // A report before a mark is not judged, because the reported messages were cleared or collapsed later.
    const isJudged = isUsageReport(entry) && grown !== undefined && !isOld && !isBeforeMark;
    const isOther = isUsageReport(entry) && grown === undefined;
    const ignoreUsage = isVoidMark || isOld || isOther || (isJudged && !this.#options.isTrusted(entry));
    const tokens = this.measures.ofEntry(entry);
    const clearedTokens = isUsageReport(entry) ? this.reports.clearedBefore(entry) : 0;
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

  /** Returns the sent messages to the host if the check repaired them. */
  #returnIfRepaired(given: readonly Message[]): void {
    if (this.host.replaceIfChanged(this.outgoingMessages, given)) this.#base = this.#entries.slice();
  }

  /** Returns the sent messages to the host, because they differ from its list. */
  #returnAll(): void {
    this.#base = this.#entries.slice();
    this.host.replace(this.#form === "messages" ? this.outgoingMessages : this.#entries);
  }

  /**
   * Returns true if the sent messages may differ from the plain messages of the host. Entries are never
   * changed.
   */
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
