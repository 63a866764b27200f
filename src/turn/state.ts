import { CachedEdits } from "../clear/cached-edits.ts";
import type { RequestFrame } from "../compaction/write/shared-prefix.ts";
import type { Finding } from "../conversation/check/finding.ts";
import { maxMediaFor } from "../conversation/check/limits.ts";
import { claudeVersion, tokenScaleOf } from "../conversation/claude-version.ts";
import { timeOf } from "../conversation/copies.ts";
import { type Entry, type EntryLink, isCompactBoundary } from "../conversation/entry.ts";
import { requireJson } from "../conversation/given-messages.ts";
import { isRecord } from "../conversation/untrusted.ts";
import { Pace } from "../cost/pace.ts";
import { CACHE_TTL_MS } from "../cost/rates.ts";
import type { LonghaulError } from "../errors.ts";
import { NestedMemory } from "../memory-files/nested-memory.ts";
import type { ModelFailure } from "../models/model-error.ts";
import type { Model } from "../models/port.ts";
import type { BackgroundAgent } from "../restore/host-state.ts";
import { startCalibration } from "../tokens/calibration.ts";
import { afterRemoval, atLeast, type ContextSize, without } from "../tokens/context-meter.ts";
import { MEDIA_TOKENS, measureRequest } from "../tokens/measure.ts";
import { findModel, type KnownModel, withProvenWindow } from "../window/models.ts";
import { computeThresholds, type Thresholds } from "../window/thresholds.ts";
import { Background } from "./background.ts";
import { Breaker, type BreakerChange } from "./breaker.ts";
import { CacheWatch, type SentRequest } from "./cache-watch.ts";
import { CompactionChain } from "./chain-record.ts";
import { Collapse } from "./collapse.ts";
import type { EventDetail } from "./events.ts";
import { FloorNotice } from "./floor-notice.ts";
import { type SafeHost, safely } from "./host-status.ts";
import { Judgement } from "./judgement.ts";
import { leaveOutMisplacedThinking } from "./leave-out-thinking.ts";
import { NotesKeeper } from "./notes-keeper.ts";
import type { BeforeOptions, Caller, Compactor, Message } from "./options.ts";
import { type Origin, originOf } from "./origin.ts";
import { isReport } from "./reports-before-mark.ts";
import type { ResolvedOptions } from "./resolve-options.ts";
import { isSameJson } from "./same-json.ts";
import {
  assumedWindow,
  lastingFailure,
  lastingFailuresIn,
  type SetupNotice,
  SetupNotices,
} from "./setup-notices.ts";
import { type Reply, Thread } from "./thread.ts";
import type { CheckedFrame } from "./thread-options.ts";
import { TranscriptQueue } from "./transcript-queue.ts";
import type { UsageFacts } from "./usage-guard.ts";
import { UsageTrust } from "./usage-trust.ts";

/** The estimate of a shorter request is too rough for a bound. */
const LEAST_BOUNDED_TOKENS = 4_000;
/** Usual error of an estimate until reports have corrected it, as a share. */
const ESTIMATE_ERROR = 0.25;

/**
 * Everything that belongs to one conversation, and nothing that belongs to another: a subagent has a state of its
 * own, so what its compaction may not touch it cannot reach.
 */
export class ConversationState {
  readonly options: ResolvedOptions;
  /** Undefined for the main conversation. */
  readonly agentId: string | undefined;
  readonly thread: Thread;
  readonly transcript: TranscriptQueue;
  readonly cachedEdits: CachedEdits = new CachedEdits();
  readonly cacheTtlMs: number;
  readonly cacheWatch: CacheWatch;
  readonly breaker: Breaker;
  readonly judgement: Judgement = new Judgement();
  readonly floorNotice: FloorNotice = new FloorNotice();
  readonly setup: SetupNotices;
  readonly chain: CompactionChain = new CompactionChain();
  readonly pace: Pace = new Pace();
  /** Notes of the session; a subagent takes none. */
  readonly notes: NotesKeeper | undefined;
  /** Undefined where auto-compact owns the headroom: always for a subagent. */
  readonly collapse: Collapse | undefined;
  readonly background: Background;
  /** Memory files that govern what is touched in this conversation. */
  readonly nestedMemory: NestedMemory | undefined;
  /** Subagents under way. They outlive a compaction of this conversation. */
  readonly children: Map<Compactor, BackgroundAgent> = new Map();
  readonly usageTrust: UsageTrust = new UsageTrust({
    emit: (detail) => this.emit(detail),
    onWrong: () => {
      this.#overhead = undefined;
      this.thread.unlearn();
    },
  });
  #frameEstimate: { readonly frame: RequestFrame | undefined; readonly tokens: number } | undefined;
  /** What all entries made here have in common. */
  readonly #origin: Origin;
  readonly host: SafeHost;
  facts: KnownModel;
  thresholds: Thresholds;
  frame: RequestFrame | undefined;
  turnId: string;
  caller: Caller;
  /** The host's array of the turn under way. */
  given: readonly Message[] = [];
  findings: readonly Finding[] = [];
  /** What the last response told, until its message is in the conversation. */
  reply: Reply | undefined;
  /** Messages that the last call sent: the provider has them in its cache. */
  cachedMessages = 0;
  /** Messages of the turn under way; they are in the cache once its response has come. */
  sentMessages = 0;
  /** A call was made for the conversation as it is now. */
  isAnswerUnderWay = false;
  watched: SentRequest | undefined;
  lastCallAt: number | undefined;
  /** The longest pause since the last compaction: what the provider clears after it stays cleared. */
  longestIdleMs = 0;
  /** What a report had beyond our estimate of the messages: system prompt, tools, what the host hides. */
  #overhead: { readonly tokens: number; readonly besides: number } | undefined;
  /** In the last usage, but no longer in the conversation. */
  snipFreed = 0;
  /** The provider's count failed or took too long: it is not asked for again in this conversation. */
  hasCountFailed = false;
  /** The provider left out so many tokens of the last call by itself. */
  freedByProvider = 0;
  /** Calls for this conversation. */
  calls = 0;
  /** Largest prompt that the provider takes, by its newest error. */
  statedLimitTokens: number | undefined;
  /** The newest overflow of this turn from which a compaction was to recover. */
  recoveredFrom: ModelFailure | undefined;
  hasStrippedThinking = false;
  /** The provider said that thinking is enabled. The host does not pass it in `request`. */
  #isThinkingEnabled = false;

  constructor(options: ResolvedOptions, agentId?: string, parent?: ConversationState) {
    this.options = options;
    this.agentId = agentId;
    this.setup = new SetupNotices(parent?.setup);
    this.cacheTtlMs = CACHE_TTL_MS[options.cacheTtl ?? "5m"];
    this.cacheWatch = new CacheWatch({ ttlMs: this.cacheTtlMs });
    this.#origin = originOf(options, agentId);
    this.facts = options.facts;
    this.thresholds = this.#thresholdsFor(options.facts);
    this.frame = options.request;
    this.turnId = options.ports.newUuid();
    this.caller = this.#usualCaller;
    this.transcript = new TranscriptQueue(options.transcript, {
      onFailure: (waiting) => this.emit({ type: "transcript-failed", waiting }),
      asLine: (entry) => this.thread.asLine(entry),
    });
    this.breaker = new Breaker({ now: this.now });
    this.host = safely(options.host ?? {}, () => ({ agentId, turnId: this.turnId }));
    this.thread = new Thread({
      countText: options.countText,
      check: {
        maxMedia: maxMediaFor(options.facts.windowTokens),
        consecutiveRoles: "accepted",
        ...(options.modelName === undefined ? {} : { model: options.modelName }),
      },
      frame: () => this.#checkedFrame(this.frame),
      clearable: { tools: options.clearing.tools, fileTools: options.fileTools },
      overheadTokens: () => this.frameTokens(),
      newLink: this.newLink,
      bindsThinking: () => this.bindsThinking,
      isWritten: options.transcript?.has && ((uuid) => options.transcript?.has?.(uuid) === true),
      isTrusted: (entry) => this.isCredible(entry.message.usage),
    });
    const { notes, memoryFiles, fileTools, collapse } = options;
    this.background = new Background(this);
    this.nestedMemory = memoryFiles && new NestedMemory({ ...memoryFiles, fileTools });
    const isMain = agentId === undefined;
    this.notes = isMain && notes && notes.enabled !== false ? new NotesKeeper(this, notes) : undefined;
    this.collapse = collapse && this.#collapses ? new Collapse(this, collapse) : undefined;
    for (const warning of options.warnings) this.emit({ type: "settings-ignored", warning });
    const assumed = assumedWindow(options);
    if (assumed !== undefined) {
      this.#noteSetup({ code: "window-assumed", model: options.modelName ?? "" }, assumed);
    }
  }

  /** A call for a summary, a note or a span failed. What every later call would repeat is reported once. */
  noteFailure(error: unknown): void {
    const { summaryModel, model } = this.options;
    this.noteSetup(lastingFailuresIn(error, (summaryModel ?? model)?.name ?? ""));
  }

  noteSetup(notices: readonly SetupNotice[]): void {
    for (const notice of notices) this.#noteSetup(notice, lastingFailure(notice));
  }

  #noteSetup(notice: SetupNotice, error: LonghaulError): void {
    if (this.setup.add(notice, error)) this.emit({ type: "setup-problem", ...notice });
  }

  get #usualCaller(): Caller {
    return this.agentId === undefined ? "main" : "subagent";
  }

  /** Only they may reset what others share. */
  get ownsSharedState(): boolean {
    return this.agentId === undefined && (this.caller === "main" || this.caller === "sdk");
  }

  readonly now = (): number => this.options.ports.now().getTime();

  get bindsThinking(): boolean {
    return this.options.capabilities.boundThinking || this.facts.bindsThinking === true;
  }

  get ratio(): number {
    return this.thread.meter.calibration.ratio;
  }

  /** As the provider would count; the same of an entry, which is measured once. */
  readonly countTokens = (text: string): number => Math.round(this.options.countText(text) * this.ratio);
  readonly tokensOf = (entry: Entry): number => this.thread.measures.ofEntry(entry) * this.ratio;

  /** The window of a model that writes summaries: the conversation's own, or that of the table of models. */
  readonly windowOf = ({ name }: Pick<Model, "name">): number => {
    const { modelName, models } = this.options;
    return name === modelName ? this.facts.windowTokens : findModel(name, models).windowTokens;
  };

  /** What the next call will occupy: without what has been taken out since the last usage was reported. */
  size(): ContextSize {
    const { meter, contents } = this.thread;
    const gone = this.snipFreed + Math.round(this.cachedEdits.deletedLocally * this.ratio);
    const lowestTokens = this.#safeLowerBound();
    const left = Math.max(0, contents.estimatedTokens - this.cachedEdits.deletedEstimate);
    const size = afterRemoval(without(meter.size(), gone), {
      removedTokens: gone + meter.removedTokens,
      overheadTokens: this.#overhead?.tokens ?? (this.frame && this.frameTokens()),
      isOverheadReported: this.#overhead !== undefined,
      messageTokens: left * this.ratio,
      lowestTokens,
    });
    return atLeast(size, lowestTokens);
  }

  /** How long the provider's cache has not been used. A clock that went back says nothing. */
  idleMs(): number {
    return this.lastCallAt === undefined ? 0 : Math.max(0, this.now() - this.lastCallAt);
  }

  readonly newLink = (parentUuid: string | null): EntryLink => {
    const { ports } = this.options;
    // Spread last: V8 takes ten times as long to add fields to a copy.
    return { uuid: ports.newUuid(), parentUuid, timestamp: ports.now().toISOString(), ...this.#origin };
  };

  emit(detail: EventDetail): void {
    if (this.options.host?.onEvent !== undefined) this.host.event(detail);
  }

  emitAll(changes: readonly BreakerChange[]): void {
    for (const change of changes) this.emit(change);
  }

  beginTurn({ caller, request }: BeforeOptions): void {
    this.turnId = this.options.ports.newUuid();
    this.caller = caller ?? this.#usualCaller;
    this.findings = [];
    if (request !== undefined && !isSameJson(this.frame, request)) {
      requireJson(request, "request");
      const isCheckedTheSame = isSameJson(this.#checkedFrame(this.frame), this.#checkedFrame(request));
      this.frame = request;
      this.#overhead = undefined;
      if (!isCheckedTheSame) this.noteFindings(this.thread.reframe());
    }
    this.recoveredFrom = undefined;
    this.hasStrippedThinking = false;
    this.emitAll(this.breaker.onTurn());
  }

  /** Checks the messages as thinking of type `enabled` requires. False if that repairs nothing new. */
  learnThinking(): boolean {
    if (this.#isThinkingEnabled || checkedFrame(this.frame).thinking !== undefined) return false;
    this.#isThinkingEnabled = true;
    const findings = this.thread.reframe();
    this.thread.offerSent(this.given);
    this.noteFindings(findings);
    return findings.some(({ rule }) => rule === "thinking-not-first");
  }

  #checkedFrame(frame: RequestFrame | undefined): CheckedFrame {
    const checked = checkedFrame(frame);
    const isAssumed = this.#isThinkingEnabled && checked.thinking === undefined;
    return isAssumed ? { ...checked, thinking: { type: "enabled" } } : checked;
  }

  takeIn(messages: readonly Message[]): void {
    const { reply } = this;
    const taken = this.thread.take(messages, reply);
    // The lines of new thinking carry the place at which it was written.
    this.thread.misplacedThinking();
    const { added, findings, isAnotherConversation, thinkingBlocks } = taken;
    this.given = messages;
    this.transcript.add(taken.lines, taken.again);
    if (thinkingBlocks > 0)
      this.emit({ type: "thinking-left-out", blocks: thinkingBlocks, reason: "rewrite" });
    if (isAnotherConversation) {
      this.snipFreed = 0;
      this.historyChanged();
      this.collapse?.conversationChanged(added);
      this.nestedMemory?.attachedIn(this.thread.entries);
      this.notes?.conversationChanged(this.thread.entries);
    }
    this.notes?.tookUp(this.thread.entries);
    // What had been attached may have gone with the conversation that it stood in.
    this.nestedMemory?.touched(isAnotherConversation ? this.thread.entries : added);
    if (added.some(({ type }) => type === "assistant")) this.reply = undefined;
    // The newest report is about a conversation without what was snipped.
    const isReported = (entry: Entry): boolean => isReport(entry) && this.isCredible(entry.message.usage);
    if (this.snipFreed > 0 && added.some(isReported)) this.snipFreed = 0;
    this.#noteAdded(added, reply !== undefined);
    this.longestIdleMs = Math.max(this.longestIdleMs, this.idleMs());
    this.noteFindings(findings);
    leaveOutMisplacedThinking(this);
  }

  noteFindings(findings: readonly Finding[]): void {
    if (findings.length === 0) return;
    this.findings = [...this.findings, ...findings];
    const rules: Record<string, number> = {};
    for (const { rule } of findings) rules[rule] = (rules[rule] ?? 0) + 1;
    this.emit({ type: "request-repaired", rules });
  }

  #noteAdded(entries: readonly Entry[], isCallTimeKnown: boolean): void {
    for (const entry of entries) {
      this.usageTrust.add(entry);
      if (entry.type === "assistant") this.notes?.sawCallsOf(entry);
      if (isCompactBoundary(entry)) this.chain.foundEarlier();
      const at =
        entry.type === "assistant" && !isCallTimeKnown ? Date.parse(timeOf(entry) ?? "") : Number.NaN;
      if (Number.isFinite(at)) this.lastCallAt = at;
    }
  }

  /** We changed what was sent before: the provider's cache ends there, and that is no alarm. */
  historyChanged(): void {
    this.cachedMessages = 0;
    this.sentMessages = 0;
    this.isAnswerUnderWay = false;
    this.cachedEdits.reset();
    this.cacheWatch.dropBaseline();
    this.pace.rewritten();
    this.freedByProvider = 0;
  }

  get overheadTokens(): number | undefined {
    return this.#overhead?.tokens;
  }

  /**
   * The report on the shortest conversation tells most: the longer it is, the more is our own error. Where system
   * prompt and tools are known, a rest within that error says nothing of what else the host sends.
   */
  learnOverhead(reportedInput: number): void {
    const besides = this.thread.contents.estimatedTokens;
    if (this.#overhead !== undefined && besides > this.#overhead.besides) return;
    const estimated = Math.round(besides * this.ratio);
    const rest = Math.max(0, reportedInput - estimated);
    const frame = this.frameTokens();
    const isHidden = frame === 0 || rest <= frame;
    const tokens = isHidden ? rest : Math.max(frame, rest - Math.round(estimated * ESTIMATE_ERROR));
    this.#overhead = { tokens, besides };
  }

  /** The window turned out to be another than the table says. */
  learnWindow(facts: KnownModel): void {
    if (facts.windowTokens === this.facts.windowTokens) return;
    this.facts = facts;
    this.thresholds = this.#thresholdsFor(facts);
  }

  /**
   * A response read more than the window holds. Only a figure that agrees with our own estimate proves that, by the
   * tokenizer that makes the fewest tokens.
   */
  proveWindow(reportedTokens: number): void {
    const { estimateOfWhole, ...own } = this.#ownEstimate;
    const estimate = estimateOfWhole / tokenScaleOf(claudeVersion(this.options.modelName));
    if (this.usageTrust.isLikely(reportedTokens, { ...own, estimateOfWhole: estimate })) {
      this.learnWindow(withProvenWindow(this.facts, reportedTokens));
    }
  }

  /** True if spans are collapsed. Only the main conversation collapses. */
  get #collapses(): boolean {
    const { collapse } = this.options;
    return this.agentId === undefined && collapse !== undefined && collapse.enabled !== false;
  }

  #thresholdsFor(facts: KnownModel): Thresholds {
    const { settings, compaction } = this.options;
    const modes = { collapseEnabled: this.#collapses, reactiveOnly: compaction.reactiveOnly === true };
    return computeThresholds(facts, { ...settings, ...modes });
  }

  /** Whether the provider's figures can be true, given what we have sent. */
  isCredible(usage: unknown): boolean {
    const size = this.size();
    const freed = this.freedByProvider;
    return this.usageTrust.isCredible(usage, this.calls, () => ({
      expectedTokens: Math.max(0, size.tokens - freed),
      anchorTokens: size.source === "usage" && freed === 0 ? size.reportedTokens : undefined,
      lowestTokens: this.#safeLowerBound(),
      statedLimitTokens: this.statedLimitTokens,
      ...this.#ownEstimate,
    }));
  }

  get #ownEstimate(): Pick<UsageFacts, "estimateOfWhole" | "overheadKnown" | "windowTokens"> {
    return {
      estimateOfWhole: this.#estimateOf(this.thread.contents.estimatedTokens),
      overheadKnown: this.frame !== undefined,
      windowTokens: this.facts.windowTokens,
    };
  }

  /**
   * The request is not smaller than this, whatever was reported: our estimate, divided by the most that it overcounts.
   * A picture counts with the least that its area takes. The estimate of a short text does not count.
   */
  #safeLowerBound(): number {
    const { estimatedTokens, media } = this.thread.contents;
    const estimate = this.#estimateOf(estimatedTokens - media.count * MEDIA_TOKENS);
    const least = estimate < LEAST_BOUNDED_TOKENS ? 0 : Math.round(estimate / this.usageTrust.overcount);
    return least + Math.max(0, media.leastTokens - this.freedByProvider - this.cachedEdits.deletedEstimate);
  }

  /** The whole request, by the estimate usual for the model, without what the provider leaves out. */
  #estimateOf(messageTokens: number): number {
    const sent = Math.max(0, messageTokens - this.cachedEdits.deletedEstimate);
    const whole = Math.round(sent * this.usualRatio) + this.frameTokens();
    return Math.max(0, whole - this.freedByProvider);
  }

  /** System prompt and tools, by the estimate usual for the model. */
  frameTokens(): number {
    if (this.#frameEstimate?.frame !== this.frame || this.#frameEstimate === undefined) {
      const measured =
        this.frame === undefined
          ? 0
          : measureRequest({ messages: [], ...this.frame }, this.options.countText);
      this.#frameEstimate = { frame: this.frame, tokens: Math.round(measured * this.usualRatio) };
    }
    return this.#frameEstimate.tokens;
  }

  /** The provider's tokens per token of our estimate before any report. */
  get usualRatio(): number {
    const { modelName } = this.options;
    return startCalibration(modelName).ratio * tokenScaleOf(claudeVersion(modelName));
  }
}

/** Names and schemas of the tools, and the kind of thinking. Cache marks on tools are the host's own. */
function checkedFrame({ thinking, tools }: RequestFrame = {}): CheckedFrame {
  const named = Array.isArray(tools) ? tools.filter(isRecord) : [];
  return {
    ...(isRecord(thinking) ? { thinking: { type: String(thinking.type) } } : {}),
    ...(named.length === 0
      ? {}
      : { tools: named.map(({ name, input_schema }) => ({ name: String(name), input_schema })) }),
  };
}
