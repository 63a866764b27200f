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
import type { Gauge, LeftOut } from "./gauge.ts";
import type { Health } from "./health.ts";
import type { CompactorModule, ManualOptions, OwnUsage, ResponseFacts } from "./options.ts";
import type { ProviderCache } from "./provider-cache.ts";
import type { Reporter } from "./reporter.ts";
import type { ResolvedOptions } from "./resolve-options.ts";
import type { Thread } from "./thread.ts";
import type { TranscriptQueue } from "./transcript-queue.ts";

/**
 * The owners of one conversation's state. Each has private state and a narrow interface, and every function of the
 * engine names those that it needs ({@link Needs}). A subagent has parts of its own, so it cannot reach those of others.
 */
export interface EngineParts {
  readonly options: ResolvedOptions;
  /** Undefined for the main conversation. */
  readonly agentId: string | undefined;
  readonly now: () => number;
  readonly newLink: (parentUuid: string | null) => EntryLink;
  /** The conversation and its views. */
  readonly thread: Thread;
  /** The host's request around the messages. */
  readonly frame: Frame;
  /** How large the next request is and may be. */
  readonly gauge: Gauge;
  /** The turn under way. */
  readonly turn: CurrentTurn;
  /** May the engine compact now? */
  readonly health: Health;
  /** The provider's prompt cache. */
  readonly cache: ProviderCache;
  /** How fast the conversation grows. */
  readonly pace: Pace;
  readonly transcript: TranscriptQueue;
  readonly reporter: Reporter;
  /** The summary that is written ahead of need. */
  readonly background: BackgroundSummary;
  /** Subagents under way. They outlive a compaction of this conversation. */
  readonly subagents: () => readonly BackgroundAgent[];
  readonly modules: ModuleSet;
}

/** The parts that a function uses. */
export type Needs<Name extends keyof EngineParts> = Pick<EngineParts, Name>;

export interface BackgroundSummary {
  /** A response has come. */
  responded(): void;
  /**
   * At the threshold: a compaction whose summary is there. `under-way`: it is being written, and the window still holds
   * the conversation. `at-once`: the window is full before there is one, so the built-in summarizer has to write it.
   * Undefined: the turn writes a summary and waits for it.
   */
  offer(): OfferedPlan | "under-way" | "at-once" | undefined;
  /** Tokens that a compaction would leave whose summary is paid for already; undefined if there is none to be used. */
  paidFor(): { readonly tokensAfter: number | undefined } | undefined;
  /** The conversation is another now. */
  reset(): void;
  discard(reason: string): void;
  close(): void;
}

/** A compaction to be carried out. */
export interface CompactionRequest extends Pick<ManualOptions, "instructions" | "force"> {
  readonly trigger: Trigger;
  readonly plan: CompactionPlan;
  /** The summary was written in the background. */
  readonly prepared?: PreparedSummary | undefined;
  /** A module has the summary. */
  readonly source?: SummarySource | undefined;
  /** The summary of `source` could not be used after all, and why. */
  readonly onSourceDeclined?: ((reason: string) => void) | undefined;
  /** There is no time to ask one. */
  readonly withoutModel?: boolean | undefined;
  /** The result should stay below this. */
  readonly targetTokens: number;
  /** Limit for the sake of unseen results; {@link Gauge.limitTokens} by default. */
  readonly limitTokens?: number | undefined;
  /** Restored content may take this many tokens. */
  readonly restoreBudgetTokens?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A compaction whose summary is ready. */
export type OfferedPlan = Pick<
  CompactionRequest,
  "plan" | "prepared" | "source" | "onSourceDeclined" | "targetTokens" | "restoreBudgetTokens"
>;

/**
 * A mechanism that the engine works without: cached edits, API-native clearing, snip, collapse, session notes, memory
 * files. The engine knows none of them. It asks each that is installed at fixed points, see {@link AttachedModule}.
 */
export interface EngineModule<Commands extends object = object> extends CompactorModule<Commands> {
  /** True if the module makes the room in this conversation that auto-compact would make. */
  replacesAutoCompact?(conversation: Conversation): boolean;
  /** Called once for each conversation, subagents included. Undefined: the module has nothing to do in it. */
  attach(parts: EngineParts): AttachedModule<Commands> | undefined;
}

/** The facts about a conversation that are known before its parts exist. */
export interface Conversation {
  /** Undefined for the main conversation. */
  readonly agentId: string | undefined;
  readonly settings: EffectiveSettings;
}

/**
 * A module in one conversation. Every method is optional. `makeRoom` and `offerPlan` may fail: the turn reports it as its
 * problem. The others throw only after an abort.
 */
export interface AttachedModule<Commands extends object = object> {
  /** Methods that the compactor gets. They run one after the other with its own. */
  readonly commands?: Commands;

  // Before the engine decides
  /** Adds messages behind the newest, before anything is cleared. */
  addContext?(signal: AbortSignal | undefined): Promise<void>;
  /** Clears results by another way than a rewrite of messages. */
  readonly clearing?: ModuleClearing;
  /** Makes room before the engine decides. */
  makeRoom?(signal: AbortSignal | undefined): Promise<void>;

  // The count
  leftOut?(): Partial<LeftOut>;
  /** Calls whose results the request has the provider leave out. */
  hiddenToolUseIds?(): readonly string[];

  // The plan
  /** True if a compaction usually finds its summary ready, so that no model is called. */
  readonly hasSummary?: boolean;
  offerPlan?(request: PlanRequest): Promise<OfferedPlan | undefined>;
  /** Facts for what a compaction restores. */
  hostState?(): HostState;

  // Rewrites
  changed?(change: ConversationChange): void;

  // Calls
  /** Adds what the module sends with each request. */
  completeFrame?(frame: RequestFrame): RequestFrame;
  /** A response reported a usage that can be believed. */
  usageReported?(usage: OwnUsage): void;
  /** The main conversation got its answer. `usage` only if it can be believed. */
  responded?(response: ResponseFacts, usage: Usage | undefined): void;

  close?(): Promise<void> | void;
}

export interface ModuleClearing {
  /** True if the module clears results now, so that the engine need not rewrite messages early. */
  isActive(): boolean;
  clear(): Clearing | undefined;
}

export interface PlanRequest {
  readonly trigger: "manual" | "auto";
  /** Of a manual compaction: they may ask for what the module cannot give. */
  readonly wishes?: ManualOptions;
  readonly signal: AbortSignal | undefined;
}

export type ConversationChange =
  /** The host's list was read. `isAnother`: the host changed what was there before. */
  | { readonly kind: "read"; readonly added: readonly Entry[]; readonly isAnother: boolean }
  /** Messages that were sent before are sent otherwise from now on. */
  | { readonly kind: "rewritten" }
  /** Results were emptied or left out. `paths`: files that they showed. */
  | { readonly kind: "cleared"; readonly paths: readonly string[] }
  /** A module took messages out. `isSummarized`: a summary stands in their place. */
  | { readonly kind: "removed"; readonly isSummarized: boolean }
  /** A compaction or an undo replaced the conversation. */
  | { readonly kind: "restarted" }
  /** A step was undone. `shownAgain`: ids of messages of collapsed spans that are there again. */
  | { readonly kind: "undone"; readonly shownAgain: readonly string[] };

/** All modules of one conversation, asked together. */
export class ModuleSet {
  readonly #modules: readonly EngineModule[];
  #attached: readonly AttachedModule[] = [];
  /** The module that makes room instead of auto-compact. */
  readonly headroomBy: string | undefined;

  constructor(modules: readonly EngineModule[], conversation: Conversation) {
    this.#modules = modules;
    this.headroomBy = modules.find((module) => module.replacesAutoCompact?.(conversation))?.name;
  }

  /** The parts exist now. */
  attach(parts: EngineParts): void {
    this.#attached = this.#modules.flatMap((module) => module.attach(parts) ?? []);
  }

  /** False if nothing installed could make room instead of auto-compact, whatever the settings. */
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

  leftOut(): LeftOut {
    let removedTokens = 0;
    let hiddenTokens = 0;
    let hiddenSinceReport = 0;
    for (const module of this.#attached) {
      const own = module.leftOut?.();
      if (own === undefined) continue;
      removedTokens += own.removedTokens ?? 0;
      hiddenTokens += own.hiddenTokens ?? 0;
      hiddenSinceReport += own.hiddenSinceReport ?? 0;
    }
    return { removedTokens, hiddenTokens, hiddenSinceReport };
  }

  /** Calls whose results the request has the provider leave out. */
  hiddenToolUseIds(): ReadonlySet<string> {
    return new Set(this.#attached.flatMap((module) => module.hiddenToolUseIds?.() ?? []));
  }

  /** The first offer. */
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

  changed(change: ConversationChange): void {
    for (const module of this.#attached) module.changed?.(change);
  }

  completeFrame(frame: RequestFrame): RequestFrame {
    return this.#attached.reduce((all, module) => module.completeFrame?.(all) ?? all, frame);
  }

  usageReported(usage: OwnUsage): void {
    for (const module of this.#attached) module.usageReported?.(usage);
  }

  responded(response: ResponseFacts, usage: Usage | undefined): void {
    for (const module of this.#attached) module.responded?.(response, usage);
  }

  async close(): Promise<void> {
    for (const module of this.#attached) await module.close?.();
  }
}
