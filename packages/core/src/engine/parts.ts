import type { Clearing } from "../compaction/clear/stale-results.ts";
import type { CompactionPlan } from "../compaction/plan/compaction-plan.ts";
import type { BackgroundAgent, HostState } from "../compaction/restore/host-state.ts";
import type { RequestFrame } from "../compaction/write/shared-prefix.ts";
import type { PreparedSummary, SummarySource } from "../compaction/write/summary-chain.ts";
import type { Pace } from "../measure/cost/pace.ts";
import type { EffectiveSettings } from "../measure/window/settings.ts";
import type { Entry, EntryLink, Usage } from "../messages/entry.ts";
import type { CurrentTurn, Frame } from "./current-turn.ts";
import type { Trigger } from "./events.ts";
import type { Gauge, OmittedTokens } from "./gauge.ts";
import type { Health } from "./health.ts";
import type { CompactorModule, ManualOptions, OwnUsage, ResponseFacts } from "./options.ts";
import type { ProviderCache } from "./provider-cache.ts";
import type { Reporter } from "./reporter.ts";
import type { ResolvedOptions } from "./resolve-options.ts";
import type { Thread } from "./thread.ts";
import type { TranscriptQueue } from "./transcript-queue.ts";

/**
 * The parts that own one conversation's state. Each part has private state and a narrow interface. Every
 * function of the engine lists the parts that it needs ({@link Needs}). A subagent has its own parts and
 * cannot reach those of other conversations.
 */
export interface EngineParts {
  readonly options: ResolvedOptions;
  /** Undefined for the main conversation. */
  readonly agentId: string | undefined;
  readonly now: () => number;
  readonly newLink: (parentUuid: string | null) => EntryLink;
  /** The conversation and its views. */
  readonly thread: Thread;
  /** The host's request fields besides the messages. */
  readonly frame: Frame;
  /** Size and limits of the next request. */
  readonly gauge: Gauge;
  /** The current turn. */
  readonly turn: CurrentTurn;
  /** Decides if the engine may compact now. */
  readonly health: Health;
  /** The provider's prompt cache. */
  readonly cache: ProviderCache;
  /** Growth rate of the conversation. */
  readonly pace: Pace;
  readonly transcript: TranscriptQueue;
  readonly reporter: Reporter;
  /** The background summary. */
  readonly background: BackgroundSummary;
  /** Running subagents. They survive a compaction of this conversation. */
  readonly subagents: () => readonly BackgroundAgent[];
  readonly modules: ModuleSet;
}

/** The parts that a function uses. */
export type Needs<Name extends keyof EngineParts> = Pick<EngineParts, Name>;

export interface BackgroundSummary {
  /** Handles a response. */
  onResponse(): void;
  /**
   * Called at the threshold. If there is a prepared summary, returns a compaction with it. Returns
   * `under-way` if the summary is being written and the conversation still fits. Returns `at-once` if the
   * window is full, so that the built-in summarizer has to write the summary. Returns undefined if the turn
   * has to write a summary and wait for it.
   */
  offer(): OfferedPlan | "under-way" | "at-once" | undefined;
  /**
   * Returns the result of a compaction with the prepared summary. The size of the result may be unknown.
   * Returns undefined if there is no usable summary.
   */
  preparedResult(): { readonly tokensAfter: number | undefined } | undefined;
  /** Drops the summary, because the conversation was replaced. */
  reset(): void;
  discard(reason: string): void;
  close(): void;
}

/** A compaction to run. */
export interface CompactionRequest extends Pick<ManualOptions, "instructions" | "force"> {
  readonly trigger: Trigger;
  readonly plan: CompactionPlan;
  /** The summary from the background. */
  readonly prepared?: PreparedSummary | undefined;
  /** A module that provides the summary. */
  readonly source?: SummarySource | undefined;
  /** Called with the reason if the summary of `source` could not be used. */
  readonly onSourceDeclined?: ((reason: string) => void) | undefined;
  /** True if the built-in summarizer must write the summary, because there is no time for a model call. */
  readonly withoutModel?: boolean | undefined;
  /** Maximum size of the result. */
  readonly targetTokens: number;
  /** Maximum size of the result if unseen tool results are kept. {@link Gauge.limitTokens} by default. */
  readonly limitTokens?: number | undefined;
  /** Maximum tokens of restored content. */
  readonly restoreBudgetTokens?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A compaction with a prepared summary. */
export type OfferedPlan = Pick<
  CompactionRequest,
  "plan" | "prepared" | "source" | "onSourceDeclined" | "targetTokens" | "restoreBudgetTokens"
>;

/**
 * An optional mechanism: cached edits, API-native clearing, snip, collapse, session notes, memory files. The
 * engine knows none of them. It calls each installed module at fixed points, see {@link AttachedModule}.
 */
export interface EngineModule<Commands extends object = object> extends CompactorModule<Commands> {
  /** Returns true if the module frees space in this conversation instead of auto-compact. */
  replacesAutoCompact?(conversation: Conversation): boolean;
  /**
   * Attaches the module to a conversation. Called once for each conversation, including subagents. Returns
   * undefined if the module does nothing in that conversation.
   */
  attach(parts: EngineParts): AttachedModule<Commands> | undefined;
}

/** Facts about a conversation that are known before its parts exist. */
export interface Conversation {
  /** Undefined for the main conversation. */
  readonly agentId: string | undefined;
  readonly settings: EffectiveSettings;
}

/**
 * A module in one conversation. Every method is optional. `makeRoom` and `offerPlan` may fail, and the turn
 * reports this as its problem. The other methods throw only after an abort.
 */
export interface AttachedModule<Commands extends object = object> {
  /** Methods that the module adds to the compactor. Their calls are queued with all other calls. */
  readonly commands?: Commands;

  // Steps before the engine decides whether to compact
  /** Adds messages after the newest message, before anything is cleared. */
  addContext?(signal: AbortSignal | undefined): Promise<void>;
  /** Clears results without rewriting messages. */
  readonly clearing?: ModuleClearing;
  /** Frees context space before the engine decides whether to compact. */
  makeRoom?(signal: AbortSignal | undefined): Promise<void>;

  // Figures for the token count
  omittedTokens?(): Partial<OmittedTokens>;
  /** Tool calls whose results the provider drops from the request. */
  hiddenToolUseIds?(): readonly string[];

  // Parts of a compaction plan
  /** True if a compaction usually finds a prepared summary, so that it needs no model. */
  readonly hasSummary?: boolean;
  offerPlan?(request: PlanRequest): Promise<OfferedPlan | undefined>;
  /** Facts for the restored context. */
  hostState?(): HostState;

  // Changes of the conversation
  onChange?(change: ConversationChange): void;

  // Steps of each model call
  /** Adds the module's fields to each request. */
  completeFrame?(frame: RequestFrame): RequestFrame;
  /** Called with each trusted usage report. */
  onUsage?(usage: OwnUsage): void;
  /** Called after a response in the main conversation. `usage` is set only if it is trusted. */
  onResponse?(response: ResponseFacts, usage: Usage | undefined): void;

  close?(): Promise<void> | void;
}

export interface ModuleClearing {
  /** Returns true if the module clears results now, so that the engine need not rewrite messages early. */
  isActive(): boolean;
  clear(): Clearing | undefined;
}

export interface PlanRequest {
  readonly trigger: "manual" | "auto";
  /** Options of a manual compaction. The module may be unable to fulfill them. */
  readonly manualOptions?: ManualOptions;
  readonly signal: AbortSignal | undefined;
}

export type ConversationChange =
  /** The host's list was read. `hasEarlierChanges` is true if the host changed earlier messages. */
  | { readonly kind: "read"; readonly added: readonly Entry[]; readonly hasEarlierChanges: boolean }
  /** Messages that were already sent have changed. */
  | { readonly kind: "rewritten" }
  /** Tool results were cleared or dropped. `paths` are the files whose content they showed. */
  | { readonly kind: "cleared"; readonly paths: readonly string[] }
  /** A module removed messages. `isSummarized` is true if a summary replaces them. */
  | { readonly kind: "removed"; readonly isSummarized: boolean }
  /** A compaction or an undo replaced the conversation. */
  | { readonly kind: "restarted" }
  /** A step was undone. `shownAgain` has the ids of messages that were in collapsed spans. */
  | { readonly kind: "undone"; readonly shownAgain: readonly string[] };

/** Combines all modules of one conversation. */
export class ModuleSet {
  readonly #modules: readonly EngineModule[];
  #attached: readonly AttachedModule[] = [];
  /** The module that frees space instead of auto-compact. */
  readonly headroomBy: string | undefined;

  constructor(modules: readonly EngineModule[], conversation: Conversation) {
    this.#modules = modules;
    this.headroomBy = modules.find((module) => module.replacesAutoCompact?.(conversation))?.name;
  }

  /** Attaches the modules after the parts were created. */
  attach(parts: EngineParts): void {
    this.#attached = this.#modules.flatMap((module) => module.attach(parts) ?? []);
  }

  /** True if an installed module can replace auto-compact, with the current settings or with others. */
  get mayReplaceAutoCompact(): boolean {
    return this.#modules.some(({ replacesAutoCompact }) => replacesAutoCompact !== undefined);
  }

  get commands(): object {
    return Object.assign({}, ...this.#attached.map(({ commands }) => commands));
  }

  get hasSummary(): boolean {
    return this.#attached.some(({ hasSummary }) => hasSummary === true);
  }

  get isClearing(): boolean {
    return this.#attached.some(({ clearing }) => clearing?.isActive());
  }

  clear(): Clearing | undefined {
    for (const { clearing } of this.#attached) {
      const cleared = clearing?.isActive() ? clearing.clear() : undefined;
      if (cleared !== undefined) return cleared;
    }
    return undefined;
  }

  async addContext(signal: AbortSignal | undefined): Promise<void> {
    for (const module of this.#attached) await module.addContext?.(signal);
  }

  async makeRoom(signal: AbortSignal | undefined): Promise<void> {
    for (const module of this.#attached) await module.makeRoom?.(signal);
  }

  omittedTokens(): OmittedTokens {
    let removedTokens = 0;
    let hiddenTokens = 0;
    let hiddenSinceReport = 0;
    for (const module of this.#attached) {
      const own = module.omittedTokens?.();
      if (own === undefined) continue;
      removedTokens += own.removedTokens ?? 0;
      hiddenTokens += own.hiddenTokens ?? 0;
      hiddenSinceReport += own.hiddenSinceReport ?? 0;
    }
    return { removedTokens, hiddenTokens, hiddenSinceReport };
  }

  /** Returns the tool calls whose results the provider drops from the request. */
  hiddenToolUseIds(): ReadonlySet<string> {
    return new Set(this.#attached.flatMap((module) => module.hiddenToolUseIds?.() ?? []));
  }

  /** Returns the first compaction plan that a module offers. */
  async offerPlan(request: PlanRequest): Promise<OfferedPlan | undefined> {
    for (const module of this.#attached) {
      const offer = await module.offerPlan?.(request);
      if (offer !== undefined) return offer;
    }
    return undefined;
  }

  hostState(): HostState {
    return Object.assign({}, ...this.#attached.map((module) => module.hostState?.()));
  }

  onChange(change: ConversationChange): void {
    for (const module of this.#attached) module.onChange?.(change);
  }

  completeFrame(frame: RequestFrame): RequestFrame {
    return this.#attached.reduce((all, module) => module.completeFrame?.(all) ?? all, frame);
  }

  onUsage(usage: OwnUsage): void {
    for (const module of this.#attached) module.onUsage?.(usage);
  }

  onResponse(response: ResponseFacts, usage: Usage | undefined): void {
    for (const module of this.#attached) module.onResponse?.(response, usage);
  }

  async close(): Promise<void> {
    for (const module of this.#attached) await module.close?.();
  }
}
