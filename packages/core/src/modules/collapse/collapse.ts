import { skipReasonFor } from "../../engine/health.ts";
import type { Message, Turn } from "../../engine/options.ts";
import type {
  AttachedModule,
  Conversation,
  ConversationChange,
  EngineModule,
  EngineParts,
} from "../../engine/parts.ts";
import { cachedMeasures, snapshotOf } from "../../engine/planning.ts";
import { codeOf, withHostStatus } from "../../engine/reporter.ts";
import {
  type OptionNames,
  requireOneOf,
  requireOptionNames,
  requireTime,
} from "../../engine/require-options.ts";
import { beginRewrite, forgetFiles } from "../../engine/rewrite.ts";
import type { Entry } from "../../messages/entry.ts";
import { withClearedResults } from "../../messages/stand-ins.ts";
import { untilAborted, withTimeLimit } from "../../models/abortable.ts";
import { loadPart } from "../../models/load-part.ts";
import { commitSpans, linesOf, type StagedSpan } from "./commit.ts";
import { CollapsedOriginals, expandMessages } from "./expand.ts";
import { planSpan, type SpanPlan } from "./plan-span.ts";
import type { SpanSummary } from "./summarize-span.ts";

export interface CollapseOptions {
  /** Who summarizes a span. `built-in` needs no model, and is the fallback if there is no model. */
  readonly summarizer?: "model" | "built-in" | undefined;
  /** The engine stops waiting for a model after this time per span. Default: 60 seconds. */
  readonly timeoutMs?: number | undefined;
  /**
   * Turns span collapse on, default true. `by-setting` turns it on only with the setting `collapseEnabled`.
   */
  readonly enabled?: boolean | "by-setting" | undefined;
}

export interface CollapseCommands {
  /**
   * Puts the messages of the given spans back in place. Without `spanIds`, expands all collapsed spans. These
   * messages are then the last to be collapsed again.
   */
  expand<T extends Message>(messages: readonly T[], spanIds?: readonly string[]): Promise<Turn<T>>;
}

/**
 * Collapses spans of old messages one by one instead of auto-compacting. Only the main conversation collapses
 * spans. Any conversation can expand spans of an earlier process.
 */
export function spanCollapse(options: CollapseOptions = {}): EngineModule<CollapseCommands> {
  requireCollapseOptions(options);
  const isOn = ({ agentId, settings }: Conversation): boolean =>
    agentId === undefined &&
    (options.enabled === "by-setting" ? settings.collapseEnabled : options.enabled !== false);
  return {
    name: "collapse",
    replacesAutoCompact: isOn,
    attach: (parts) => {
      const { settings } = parts.options;
      const collapse = isOn({ agentId: parts.agentId, settings }) ? new Collapse(parts, options) : undefined;
      const expand: CollapseCommands["expand"] = (messages, spanIds) =>
        expandMessages(parts, collapse, messages, spanIds);
      return Object.assign(collapse ?? {}, { commands: { expand } });
    },
  };
}

const OPTIONS: OptionNames<CollapseOptions> = { summarizer: true, timeoutMs: true, enabled: true };

function requireCollapseOptions(options: CollapseOptions): void {
  requireOptionNames(options, OPTIONS, "spanCollapse");
  requireOneOf(options.summarizer, ["model", "built-in"], "spanCollapse.summarizer");
  requireTime(options.timeoutMs, "spanCollapse.timeoutMs");
}

/**
 * Shares of the effective window. At STAGE_SHARE, the engine starts to summarize spans in advance. It
 * summarizes enough spans to bring the context back to that share. One commit breaks the prompt cache once
 * and then leaves room for many turns.
 */
const STAGE_SHARE = 0.6;
const COMMIT_SHARE = 0.9;
const WAIT_SHARE = 0.95;

/**
 * If nothing could be collapsed, the engine searches again after the context has grown by this share of the
 * window.
 */
const LOOK_AGAIN_SHARE = 0.02;

/**
 * Time limit for one span summary. A slower model counts as hung, and the built-in summarizer replaces it.
 */
const SPAN_TIMEOUT_MS = 60_000;

interface Staged extends StagedSpan {
  /** Tokens of the summary. */
  readonly tokens: number;
  readonly savedTokens: number;
}

interface Staging {
  readonly uuids: readonly string[];
  /** False if the code that writes summaries cannot be loaded, so that further spans would fail too. */
  readonly done: Promise<boolean>;
  readonly abort: AbortController;
  /** Stops the model, so that the built-in summarizer writes the summary. */
  readonly giveUpModel: () => void;
}

type Summarizer = typeof import("./summarize-span.ts");

/**
 * Collapses spans of old messages in the main conversation. It summarizes the spans in the background, one at
 * a time, and replaces their messages in one batch when room is needed. No turn waits for a summary until the
 * window is nearly full.
 */
class Collapse implements AttachedModule {
  readonly #parts: EngineParts;
  readonly #options: CollapseOptions;
  #staged: readonly Staged[] = [];
  #staging: Staging | undefined;
  /**
   * `#failed` has the messages that could not be made smaller. `#expanded` has the messages that the user
   * expanded.
   */
  #failed: Set<string> = new Set();
  #expanded: Set<string> = new Set();
  readonly originals: CollapsedOriginals = new CollapsedOriginals();
  /** True if the model's newest attempt failed. */
  #hasModelFailed = false;
  #isWaitedFor = false;
  /** True if a turn has waited for models as long as it may. */
  #isOutOfTime = false;
  /** Size of the context at which nothing more could be collapsed. */
  #exhaustedAt: number | undefined;

  /** Writes summaries of spans. Undefined until its code is loaded. */
  #summarizer: Summarizer | undefined;

  constructor(parts: EngineParts, options: CollapseOptions) {
    this.#parts = parts;
    this.#options = options;
    // Starts now, so that no span has to wait. If it fails, the first span tries again and reports the error.
    this.#loadSummarizer(undefined).catch(() => undefined);
  }

  async #loadSummarizer(signal: AbortSignal | undefined): Promise<Summarizer> {
    const loaded = await loadPart("summaries of spans", () => import("./summarize-span.ts"), signal);
    this.#summarizer = loaded;
    return loaded;
  }

  /**
   * Handles a new response. Starts to summarize the next span in the background if the context is large
   * enough.
   */
  onResponse(): void {
    if (this.#isOff() || this.#staging !== undefined) return;
    const grown = this.#sizeAfterCommit() - (this.#exhaustedAt ?? Number.NEGATIVE_INFINITY);
    if (grown >= this.#tokensAt(LOOK_AGAIN_SHARE) && this.#isAbove(STAGE_SHARE)) this.#stageNext();
  }

  /**
   * Makes room before a call. Commits the staged spans when the window is nearly full. When the window is
   * practically full, waits until enough spans are staged or no more are possible. Throws on an abort, and if
   * the transcript cannot be written.
   */
  async makeRoom(signal: AbortSignal | undefined): Promise<void> {
    if (this.#isOff() || this.#size() < this.#tokensAt(COMMIT_SHARE)) return;
    const startedAt = this.#parts.now();
    const mustWait = this.#isAbove(WAIT_SHARE);
    if (mustWait) await withHostStatus(this.#parts.reporter.host, {}, () => this.#wait(signal));
    await this.#commit(mustWait ? startedAt : undefined, signal);
  }

  onChange(change: ConversationChange): void {
    switch (change.kind) {
      case "read":
        if (change.hasEarlierChanges) this.#conversationChanged(change.added);
        break;
      case "cleared":
        this.#resultsCleared();
        break;
      case "restarted":
        this.close();
        break;
      case "undone":
        this.expanded(change.shownAgain);
        break;
    }
  }

  /** Records messages that the user expanded. They are the last to be collapsed again. */
  expanded(uuids: readonly string[]): void {
    if (uuids.length === 0) return;
    for (const uuid of uuids) this.#expanded.add(uuid);
    this.#exhaustedAt = undefined;
  }

  /** Recalculates the staged spans after results were cleared. These spans may now save less, or nothing. */
  #resultsCleared(): void {
    if (this.#staged.length === 0) return;
    const { entries, clearedToolUseIds = new Set() } = snapshotOf(this.#parts);
    const sent = withClearedResults(entries, clearedToolUseIds);
    const tokens = new Map(sent.map((entry) => [entry.uuid, this.#parts.gauge.tokensOf(entry)]));
    this.#staged = this.#staged.flatMap((span) => {
      const held = span.uuids.reduce((sum, uuid) => sum + (tokens.get(uuid) ?? 0), 0);
      const savedTokens = Math.round(held) - span.tokens;
      return savedTokens > 0 ? [{ ...span, savedTokens }] : [];
    });
    this.#exhaustedAt = undefined;
  }

  /**
   * Handles a conversation that the host changed. `added` lists the new entries. Spans whose messages did not
   * change keep their summaries, because some hosts change their newest message with every turn.
   */
  #conversationChanged(added: readonly Entry[]): void {
    const there = new Set(this.#parts.thread.entries.map(({ uuid }) => uuid));
    for (const { uuid } of added) there.delete(uuid);
    this.#keepOnly(({ uuids }) => uuids.every((uuid) => there.has(uuid)));
  }

  /** Stops when the conversation is replaced or ends. Committed spans stay in the transcript. */
  close(): void {
    this.#keepOnly(() => false);
    this.#failed = new Set();
    this.#expanded = new Set();
  }

  #keepOnly(isIntact: (span: Pick<Staged, "uuids">) => boolean): void {
    if (this.#staging !== undefined && !isIntact(this.#staging)) {
      this.#staging.abort.abort();
      this.#staging = undefined;
    }
    this.#staged = this.#staged.filter(isIntact);
    this.originals.keepFor(this.#parts.thread.entries);
    this.#exhaustedAt = undefined;
  }

  #isOff(): boolean {
    const { turn, health } = this.#parts;
    if (!turn.ownsSharedState || health.isRestingAfterUndo(this.#size())) return true;
    return skipReasonFor("collapse", this.#parts) !== undefined;
  }

  #size(): number {
    return this.#parts.gauge.size().paddedTokens;
  }

  #sizeAfterCommit(): number {
    return this.#staged.reduce((size, { savedTokens }) => size - savedTokens, this.#size());
  }

  #tokensAt(share: number): number {
    return this.#parts.gauge.thresholds.effective * share;
  }

  /** Returns true if the context would still exceed this share of the effective window after a commit. */
  #isAbove(share: number): boolean {
    return this.#sizeAfterCommit() >= this.#tokensAt(share);
  }

  /**
   * Waits until enough spans are staged. All summaries by models together get the time limit of one
   * compaction. After that, the built-in summarizer writes the remaining summaries.
   */
  async #wait(signal: AbortSignal | undefined): Promise<void> {
    this.#isWaitedFor = true;
    const { totalMs } = this.#parts.options.timeLimits;
    const timer = setTimeout(() => {
      this.#isOutOfTime = true;
      this.#staging?.giveUpModel();
    }, totalMs);
    try {
      while (this.#isAbove(WAIT_SHARE)) {
        if (this.#staging === undefined) this.#stageNext();
        if (this.#staging === undefined) return;
        if (!(await untilAborted(signal, this.#staging.done))) return;
      }
    } finally {
      clearTimeout(timer);
      this.#isOutOfTime = false;
      this.#isWaitedFor = false;
    }
  }

  #stageNext(): void {
    const plan = this.#plan();
    if (plan === undefined) {
      this.#exhaustedAt = this.#sizeAfterCommit();
      return;
    }
    const abort = new AbortController();
    const model = new AbortController();
    abort.signal.addEventListener("abort", () => model.abort(), { once: true });
    const done = this.#stage(plan, abort.signal, model.signal).then((isLoaded) => {
      this.#continueStaging(abort.signal, isLoaded);
      return isLoaded;
    });
    this.#staging = { uuids: plan.uuids, done, abort, giveUpModel: () => model.abort() };
  }

  /**
   * Starts the next span, unless summaries cannot be written now. An error must not end the process, because
   * possibly no caller waits for the result.
   */
  #continueStaging(signal: AbortSignal, isLoaded: boolean): void {
    if (signal.aborted) return;
    this.#staging = undefined;
    if (!isLoaded) this.#exhaustedAt = this.#sizeAfterCommit();
    try {
      if (isLoaded && this.#isAbove(STAGE_SHARE)) this.#stageNext();
    } catch (error) {
      this.#parts.reporter.emit({ type: "span-failed", reason: codeOf(error), durationMs: 0 });
    }
  }

  #plan(): SpanPlan | undefined {
    const parts = this.#parts;
    const { effective: effectiveTokens } = parts.gauge.thresholds;
    const staged = this.#staged.flatMap(({ uuids }) => uuids);
    const plan = (...others: readonly ReadonlySet<string>[]): SpanPlan | undefined =>
      planSpan(snapshotOf(parts), {
        effectiveTokens,
        isUrgent: this.#isAbove(COMMIT_SHARE),
        measured: cachedMeasures(parts),
        countText: parts.options.countText,
        taken: new Set([...staged, ...this.#failed, ...others.flatMap((other) => [...other])]),
      });
    return this.#expanded.size === 0 ? plan() : (plan(this.#expanded) ?? plan());
  }

  /** Returns false if the code that writes summaries cannot be loaded. A later attempt may load it. */
  async #stage(plan: SpanPlan, signal: AbortSignal, modelSignal: AbortSignal): Promise<boolean> {
    const parts = this.#parts;
    const startedAt = parts.now();
    const passed = (): number => parts.now() - startedAt;
    const failed = (error: unknown): void => {
      parts.reporter.noteFailure(error);
      parts.reporter.emit({ type: "span-failed", reason: codeOf(error), durationMs: passed() });
    };
    try {
      const summary = await this.#summarize(plan, { signal, modelSignal }, (error) => {
        if (signal.aborted) return;
        this.#hasModelFailed = true;
        failed(error);
      });
      if (signal.aborted) return true;
      const { uuids, messages, tokens: tokensBefore } = plan;
      const { text, by, usage, tokens: tokensAfter } = summary;
      const spanId = parts.options.ports.newUuid();
      const savedTokens = tokensBefore - tokensAfter;
      this.#staged = [...this.#staged, { spanId, uuids, messages, text, tokens: tokensAfter, savedTokens }];
      // Some results may have been cleared while the model summarized the span.
      this.#resultsCleared();
      const figures = { messages, tokensBefore, tokensAfter, usage, durationMs: passed() };
      parts.reporter.emit({ type: "span-staged", by, ...figures });
    } catch (error) {
      if (signal.aborted) return true;
      failed(error);
      if (this.#summarizer === undefined) return false;
      for (const uuid of plan.uuids) this.#failed.add(uuid);
    }
    return true;
  }

  async #summarize(
    plan: SpanPlan,
    { signal, modelSignal }: Readonly<Record<"signal" | "modelSignal", AbortSignal>>,
    onFailure: (error: unknown) => void,
  ): Promise<SpanSummary> {
    const { options, gauge } = this.#parts;
    const { summarizer, timeoutMs = SPAN_TIMEOUT_MS } = this.#options;
    // The time limit is for the model, so it starts when the code is loaded.
    const { summarizeSpan } = this.#summarizer ?? (await this.#loadSummarizer(signal));
    // A waiting turn waits for a hung model once, not once for each span.
    const isOutOfTime = this.#isOutOfTime || modelSignal.aborted;
    const isBuiltIn = summarizer === "built-in" || isOutOfTime || (this.#isWaitedFor && this.#hasModelFailed);
    const summary = await withTimeLimit(isBuiltIn ? signal : modelSignal, timeoutMs, (limited) =>
      summarizeSpan(plan, {
        model: isBuiltIn ? undefined : (options.compaction.model ?? options.model),
        countTokens: gauge.countTokens,
        windowOf: gauge.windowOf,
        firstByteMs: options.timeLimits.firstByteMs,
        transcriptPath: options.transcript?.path,
        signal: limited,
        onFailure,
      }),
    );
    if (summary.by === "direct") this.#hasModelFailed = false;
    return summary;
  }

  /** Writes the spans to the transcript before the conversation changes. */
  async #commit(waitingSince: number | undefined, signal: AbortSignal | undefined): Promise<void> {
    const parts = this.#parts;
    const { options, transcript, gauge, reporter } = parts;
    if (this.#staged.length === 0) return;
    await untilAborted(signal, transcript.flush());
    const rewrite = beginRewrite(parts);
    const batch = new Set(this.#staged.map(({ spanId }) => spanId));
    const collapsed = commitSpans(rewrite.entries, this.#staged, {
      ports: options.ports,
      tokensOf: gauge.tokensOf,
      leafUuid: rewrite.leaf,
      bindsThinking: gauge.bindsThinking,
    });
    const { mark, spans, gone, tokensBefore, tokensAfter, thinkingBlocks } = collapsed;
    if (mark !== undefined) await transcript.commit([...rewrite.marks, ...linesOf(collapsed)]);
    // Another span may have been staged during the write.
    this.#staged = this.#staged.filter(({ spanId }) => !batch.has(spanId));
    this.#exhaustedAt = undefined;
    if (mark === undefined) return;
    rewrite.apply(collapsed.entries, { blocks: thinkingBlocks }, [mark]);
    this.#forget(gone.flat());
    const messages = spans.reduce((sum, { collapsed: { messages } }) => sum + messages, 0);
    const waitedMs = waitingSince === undefined ? 0 : parts.now() - waitingSince;
    const figures = { messages, tokensBefore, tokensAfter, waitedMs };
    reporter.emit({ type: "spans-committed", spans: spans.length, ...figures });
  }

  /** Forgets messages that the agent no longer sees. */
  #forget(gone: readonly Entry[]): void {
    const { options, modules } = this.#parts;
    forgetFiles(this.#parts, gone);
    modules.onChange({ kind: "removed", isSummarized: true });
    if (options.transcript === undefined) this.originals.add(gone);
  }
}
