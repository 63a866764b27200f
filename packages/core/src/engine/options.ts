import type { CompactionPorts } from "../compaction/apply/new-entries.ts";
import type { Compaction } from "../compaction/compact.ts";
import type { HostState } from "../compaction/restore/host-state.ts";
import type { SummaryWishes } from "../compaction/summary/summary-prompt.ts";
import type { SummaryProgress } from "../compaction/write/attempts.ts";
import type { RequestFrame } from "../compaction/write/shared-prefix.ts";
import type { HookRunner } from "../hooks/hook.ts";
import type { CountText } from "../measure/tokens/measure.ts";
import type { ModelTable } from "../measure/window/models.ts";
import type { OwnPrices } from "../measure/window/prices.ts";
import type { WindowEvidence } from "../measure/window/session-window.ts";
import type { SettingsSources } from "../measure/window/settings.ts";
import type { Thresholds, WindowState } from "../measure/window/thresholds.ts";
import type { Entry, Usage } from "../messages/entry.ts";
import type { LonghaulError } from "../messages/errors.ts";
import type { ApiMessage, ContentBlock } from "../messages/message.ts";
import type { FileTools } from "../messages/tool-kinds.ts";
import type { StepBack } from "../messages/undo-marks.ts";
import type { Model, ModelRequest } from "../models/port.ts";
import type { Finding } from "../request/check/rule.ts";
import type { CompactorEvent, SkipReason } from "./events.ts";

/** Who makes the call that a turn is about. The last three are never compacted by themselves: it would deadlock. */
export type Caller = "main" | "sdk" | "subagent" | "compact" | "session-memory" | "collapse";

/** A conversation in either form: messages as the API takes them, or entries as a session keeps them. */
export type Message = ApiMessage | Entry;

/** Everything a compactor can be told, by topic. Names that are not here are refused. */
export interface CompactorOptions<Modules extends readonly CompactorModule[] = readonly CompactorModule[]> {
  /**
   * The model of the conversation: its window, what its provider can do, and who writes the summary. Only its name
   * where the host makes all calls itself: then the built-in summariser writes.
   */
  readonly model?: Model | string | undefined;
  /** What goes with every call besides messages: system prompt, tools, thinking, max_tokens. */
  readonly request?: RequestFrame | undefined;
  readonly window?: WindowSources | undefined;
  readonly cost?: CostOptions | undefined;
  readonly settings?: SettingsSources | undefined;
  readonly clearing?: Partial<ClearingOptions> | undefined;
  readonly compaction?: Partial<CompactionOptions> | undefined;
  /** What only the host knows, asked for when it is put back. */
  readonly state?: HostState | undefined;
  /** The agent's tools for files, where they have other names than those of {@link FILE_TOOLS}. */
  readonly fileTools?: FileTools | undefined;
  readonly hooks?: HookRunner | undefined;
  /**
   * Mechanisms that the engine works without: `sessionNotes`, `memoryFiles`, `spanCollapse`, `messageSnip`,
   * `cachedEdits`, `apiClearing`.
   */
  readonly modules?: Modules | undefined;
  /** Gets every message before it is compacted away. Without one the summary is all that is left of them. */
  readonly transcript?: TranscriptPort | undefined;
  readonly host?: HostCallbacks | undefined;
  readonly ports?: Partial<EnginePorts> | undefined;
  readonly session?: SessionOptions | undefined;
}

/** Sources of the context window's size, besides the built-in table of models. */
export interface WindowSources {
  /** Size of the window. It wins over every other source. */
  readonly tokens?: number | undefined;
  /** The window that the resumed session's file shows, see `windowEvidence`; null: the file shows none. */
  readonly evidence?: WindowEvidence | null | undefined;
  /** Windows by model name, before those of the built-in table. */
  readonly models?: ModelTable | undefined;
}

/** Prices of tokens and of the prompt cache. Whether a compaction pays depends on them. */
export interface CostOptions {
  /** By a model's name or a part of it, in place of the published ones. */
  readonly prices?: Readonly<Record<string, OwnPrices>> | undefined;
  /** How long the provider keeps the prompt cache: five minutes, or the hour that costs more to write. */
  readonly cacheTtl?: "5m" | "1h" | undefined;
}

/** Facts of the session that hooks and new entries carry. */
export interface SessionOptions {
  readonly id?: string | undefined;
  readonly cwd?: string | undefined;
  /** A function is asked at each compaction: modes change. */
  readonly permissionMode?: string | (() => string) | undefined;
}

/** Clock, randomness and the estimator of tokens. */
export interface EnginePorts extends CompactionPorts {
  readonly countText: CountText;
}

export interface ClearingOptions {
  /**
   * `auto` (default): by time when the cache has gone cold, else by edits in the cached prefix where the
   * provider has them, else by size when a compaction would be due otherwise.
   */
  readonly form: "auto" | "size" | "time" | "cached" | "api" | "off";
  /** Tools whose results can be had again. */
  readonly tools: readonly string[];
  /** What is left of eligible results, at most, in tokens. */
  readonly targetTokens: number;
  readonly idleMinutes: number;
}

/** The instructions are for every summary. */
export interface CompactionOptions extends SummaryWishes {
  /** A smaller model for summaries that cannot share the cached prefix. */
  readonly model: Model;
  /** Newest messages kept verbatim, in tokens; fewer where the window is small. */
  readonly keepRecentTokens: number;
  /** `provider`: the provider's own signed compaction, where it has one. */
  readonly summariser: "model" | "provider" | "built-in";
  /** Never compact ahead of an overflow, only after one. */
  readonly reactiveOnly: boolean;
  /** There is no person at the keyboard: the summary says so. */
  readonly autonomous: boolean;
  /** Whether a model writes the summary ahead of need, so that no turn waits for it; it does unless this is false. */
  readonly background: boolean;
  /** Milliseconds that a call for a summary or for notes waits for its first byte. 60,000 by default. */
  readonly firstByteTimeoutMs: number;
  /** Milliseconds for all calls for one summary together. 300,000 by default. Then the built-in summarizer writes it. */
  readonly timeoutMs: number;
}

/** Where everything is kept. Appends are durable when they resolve. */
export interface TranscriptPort {
  readonly path: string;
  append(entries: readonly Entry[]): Promise<void>;
  /** What a resumed session has in it already is not written again. */
  has?(uuid: string): boolean;
  /** Entries that were written, by their ids, in any order; without it nothing that was collapsed can be expanded. */
  read?(uuids: readonly string[]): Promise<readonly Entry[]>;
  /**
   * The newest step that led to the conversation as it is written now, and what was before it; with `redo` the newest
   * undo. Undefined where there is none. Without this nothing can be undone.
   */
  stepBack?(choice: { readonly redo: boolean }): Promise<StepBack | undefined>;
}

/** Told as things happen. None of them may stop a compaction: what throws here is reported and passed over. */
export interface HostCallbacks {
  readonly onEvent?: ((event: CompactorEvent) => void) | undefined;
  readonly onProgress?: ((progress: SummaryProgress) => void) | undefined;
  /** `compacting` while it runs and every 30 seconds again; undefined at the end, whatever happened. */
  readonly onStatus?: ((status: "compacting" | undefined) => void) | undefined;
  readonly onStreamMode?: ((mode: "requesting" | "thinking" | "responding" | undefined) => void) | undefined;
  /** Characters of the summary received so far; 0 at the end. */
  readonly onLength?: ((characters: number) => void) | undefined;
  /** What a hook ended with, in words, for the screen. */
  readonly onHookMessage?: ((text: string) => void) | undefined;
  /** The compaction's messages one at a time: boundary, summary, kept messages, attachments, hook results. */
  readonly onMessage?: ((entry: Entry) => void) | undefined;
  /** Files whose reads were cleared: the agent no longer sees them, so its next read must be a real one. */
  readonly onFilesForgotten?: ((paths: readonly string[]) => void) | undefined;
  /** The host's own caches, to be emptied after a compaction of the main conversation. */
  readonly caches?: readonly (() => void)[] | undefined;
}

export interface BeforeOptions {
  readonly signal?: AbortSignal | undefined;
  readonly caller?: Caller | undefined;
  /** What differs this time from the request given at the start; it stays until it is given again. */
  readonly request?: RequestFrame | undefined;
}

/** What to send, what to go on with, and what happened. */
export interface Turn<T extends Message = Message> {
  readonly id: string;
  /** The conversation to go on with, in the form in which it came; the very array when nothing changed. */
  readonly messages: readonly T[];
  /** Ready to be sent: checked, and with the edits and cache marks that the provider takes. */
  readonly request: ModelRequest;
  readonly tokens: number;
  readonly thresholds: Thresholds;
  readonly window: WindowState;
  readonly compaction: Compaction | undefined;
  readonly cleared: number;
  /** Why nothing was compacted; undefined when something was, or when a compaction failed (see `problem`). */
  readonly skipped: SkipReason | undefined;
  /** What the conversation broke of the API's rules, and how it was mended. */
  readonly findings: readonly Finding[];
  /**
   * Set where no further call should be made, or a compaction failed: what it means and what to do. Also set once for
   * a setup that works worse than it could: an unknown model name, a missing SDK, a wrong key.
   */
  readonly problem: LonghaulError | undefined;
}

/** The instructions are for this summary, after those for every summary. */
export interface ManualOptions extends SummaryWishes {
  /**
   * Compact even if it does not pay, see `SMALLEST_WORTHWHILE_SAVING`. Instructions imply it. Without either, such a
   * compaction fails with `compaction-ineffective` and changes nothing.
   */
  readonly force?: boolean | undefined;
  /** Summarise this message and all after it, and keep what came before: an entry's uuid, or an index. */
  readonly from?: string | number | undefined;
  /** Summarise what comes before this message and keep the rest. */
  readonly upTo?: string | number | undefined;
  readonly keepRecentTokens?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ClearOptions {
  /** So many of the newest results stay; 3. */
  readonly keep?: number | undefined;
}

export interface UndoOptions {
  readonly signal?: AbortSignal | undefined;
}

/** An option that is not given here has the value of the parent where `INHERITANCE` says so. */
export interface ChildOptions extends Omit<CompactorOptions, "ports" | "settings"> {
  readonly settings?: Pick<SettingsSources, "values"> | undefined;
  readonly agentId?: string | undefined;
  readonly description?: string | undefined;
}

/** A mechanism that the engine works without, as `sessionNotes` and others make it. */
export interface CompactorModule<Commands extends object = object> {
  readonly name: string;
  /** Never set. It carries the type of the methods that the module adds to a compactor. */
  readonly adds?: Commands | undefined;
}

/** The methods that these modules add to a compactor. */
export type CommandsOf<Modules extends readonly CompactorModule[]> = Combined<CommandsIn<Modules[number]>>;

type CommandsIn<Module> = Module extends CompactorModule<infer Commands> ? Commands : never;

/** All members of a union of objects. */
type Combined<Union> = (Union extends unknown ? (each: Union) => void : never) extends (
  all: infer All,
) => void
  ? All & object
  : never;

/** One conversation's window, kept. */
export interface Compactor<Commands extends object = object> {
  readonly agentId: string | undefined;
  /** The module that makes room instead of auto-compact, such as "collapse". */
  readonly headroomBy: string | undefined;
  /** Before every model call. */
  before<T extends Message>(messages: readonly T[], options?: BeforeOptions): Promise<Turn<T>>;
  /** After every response. */
  after(response: ResponseFacts): void;
  /**
   * After a failed call: the turn to call again with. Undefined when your own error should go to the user. Throws a
   * `ModelError` with a remedy, and your error as its cause, when an overflow meets a switch that forbids compaction.
   */
  recover<T extends Message>(
    error: unknown,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<Turn<T> | undefined>;
  /** When the user asks for it. Fails with an error that says what to do. */
  compact<T extends Message>(messages: readonly T[], options?: ManualOptions): Promise<Turn<T>>;
  /** Empties results of tools that can be run again, all but the newest. Fails with an error where there are none. */
  clear<T extends Message>(messages: readonly T[], options?: ClearOptions): Promise<Turn<T>>;
  /**
   * Takes back the newest compaction, collapse, expansion or snip: the conversation is as it was before it, plus what
   * came since. The next time the one before it. Needs a transcript with `stepBack`.
   */
  undo<T extends Message>(messages: readonly T[], options?: UndoOptions): Promise<Turn<T>>;
  /** Takes the last undo back. */
  redo<T extends Message>(messages: readonly T[], options?: UndoOptions): Promise<Turn<T>>;
  /** A subagent's own conversation: its own window, state and breaker. */
  child(options?: ChildOptions): Compactor<Commands> & Commands;
  /** The end of a conversation. Resolves when the transcript has everything; a subagent is no longer listed. */
  close(): Promise<void>;
  readonly children: readonly Compactor[];
}

/** Usage of OpenAI's Chat Completions. `prompt_tokens` includes what was read from the cache. */
export interface OpenAiChatUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly prompt_tokens_details?: { readonly cached_tokens?: number | null } | null;
}

/** Usage of OpenAI's Responses. `input_tokens` includes what was read from the cache. */
export interface OpenAiResponsesUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly input_tokens_details: { readonly cached_tokens?: number | null };
}

/** Usage of the AI SDK, version 5 and later. `inputTokens` includes what was read from and written to the cache. */
export interface AiSdkUsage {
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  readonly cachedInputTokens?: number | undefined;
  readonly inputTokenDetails?:
    | {
        readonly cacheReadTokens?: number | undefined;
        readonly cacheWriteTokens?: number | undefined;
      }
    | undefined;
}

/** Usage as the Messages API reports it. `input_tokens` excludes what the cache holds. */
export type OwnUsage = Usage & { readonly cache_deleted_input_tokens?: number };

export type AnyUsage = OwnUsage | OpenAiChatUsage | OpenAiResponsesUsage | AiSdkUsage;

/** A response as far as the provider gave it: a `ModelReply`, or the response of the Messages API, OpenAI or the AI SDK. */
export interface ResponseFacts {
  readonly id?: string;
  readonly model?: string;
  readonly usage?: AnyUsage | null;
  readonly content?: readonly ContentBlock[] | string;
}

/** A response with usage in our form. */
export type KnownResponse = Omit<ResponseFacts, "usage"> & { readonly usage?: OwnUsage | null };
