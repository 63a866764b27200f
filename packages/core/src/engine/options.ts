import type { CompactionPorts } from "../compaction/apply/new-entries.ts";
import type { Compaction } from "../compaction/compact.ts";
import type { HostState } from "../compaction/restore/host-state.ts";
import type { SummaryInstructions } from "../compaction/summary/summary-prompt.ts";
import type { SummaryProgress } from "../compaction/write/attempts.ts";
import type { RequestFrame } from "../compaction/write/shared-prefix.ts";
import type { HookRunner } from "../hooks/hook.ts";
import type { CountText } from "../measure/tokens/measure.ts";
import type { ModelTable } from "../measure/window/models.ts";
import type { CustomPrices } from "../measure/window/prices.ts";
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

/**
 * Caller of the model call. The last three callers never cause an automatic compaction, because that would
 * deadlock.
 */
export type Caller = "main" | "sdk" | "subagent" | "compact" | "session-memory" | "collapse";

/** A message in either form: as the API accepts it, or an entry of a session. */
export type Message = ApiMessage | Entry;

/** All options of a compactor, by topic. Unknown names are refused. */
export interface CompactorOptions<Modules extends readonly CompactorModule[] = readonly CompactorModule[]> {
  /**
   * The model of the conversation. It determines the context window and the provider features, and it writes
   * the summary. If the host makes all calls itself, pass only the name of the model. In that case, the
   * built-in summarizer writes the summary.
   */
  readonly model?: Model | string | undefined;
  /** Request fields of every call besides messages: system prompt, tools, thinking, max_tokens. */
  readonly request?: RequestFrame | undefined;
  readonly window?: WindowSources | undefined;
  readonly cost?: CostOptions | undefined;
  readonly settings?: SettingsSources | undefined;
  readonly clearing?: Partial<ClearingOptions> | undefined;
  readonly compaction?: Partial<CompactionOptions> | undefined;
  /** State that only the host knows. The engine reads it when it restores context. */
  readonly state?: HostState | undefined;
  /** The agent's file tools, if their names differ from {@link FILE_TOOLS}. */
  readonly fileTools?: FileTools | undefined;
  readonly hooks?: HookRunner | undefined;
  /**
   * Optional mechanisms: `sessionNotes`, `memoryFiles`, `spanCollapse`, `messageSnip`, `cachedEdits`,
   * `apiClearing`.
   */
  readonly modules?: Modules | undefined;
  /** Stores every message before it is compacted. Without a transcript, only the summary remains. */
  readonly transcript?: TranscriptPort | undefined;
  readonly host?: HostCallbacks | undefined;
  readonly ports?: Partial<EnginePorts> | undefined;
  readonly session?: SessionOptions | undefined;
}

/** Sources for the size of the context window, besides the built-in model table. */
export interface WindowSources {
  /** Size of the window. Overrides all other sources. */
  readonly tokens?: number | undefined;
  /**
   * The window that the file of a resumed session proves, see `windowEvidence`. Null means that the file
   * proves no window.
   */
  readonly evidence?: WindowEvidence | null | undefined;
  /** Windows by model name. They override the built-in table. */
  readonly models?: ModelTable | undefined;
}

/** Prices of tokens and of the prompt cache. They decide if a compaction pays. */
export interface CostOptions {
  /** Prices that replace the published ones. The key is a model name or a part of it. */
  readonly prices?: Readonly<Record<string, CustomPrices>> | undefined;
  /** Lifetime of the prompt cache: five minutes or one hour. A cache for one hour costs more to write. */
  readonly cacheTtl?: "5m" | "1h" | undefined;
}

/** Facts about the session for hooks and new entries. */
export interface SessionOptions {
  readonly id?: string | undefined;
  readonly cwd?: string | undefined;
  /**
   * The permission mode of the agent. A function is called at each compaction, because the mode can change.
   */
  readonly permissionMode?: string | (() => string) | undefined;
}

/** Clock, random numbers and token estimator. */
export interface EnginePorts extends CompactionPorts {
  readonly countText: CountText;
}

export interface ClearingOptions {
  /**
   * `auto` (default) clears by time after the cache expires. Before that, it uses edits of the cached prefix
   * if the provider supports them. If not, it clears by size when a compaction would be due.
   */
  readonly form: "auto" | "size" | "time" | "cached" | "api" | "off";
  /** Tools whose results can be fetched again. */
  readonly tools: readonly string[];
  /** Maximum tokens of clearable results that remain after a clearing. */
  readonly targetTokens: number;
  readonly idleMinutes: number;
}

/** The inherited `instructions` apply to every summary. */
export interface CompactionOptions extends SummaryInstructions {
  /** A smaller model for summaries that cannot share the cached prefix. */
  readonly model: Model;
  /** Tokens of the newest messages to keep verbatim. In a small window, the engine keeps fewer tokens. */
  readonly keepRecentTokens: number;
  /** `provider` uses the provider's own signed compaction, if available. */
  readonly summarizer: "model" | "provider" | "built-in";
  /** True to compact only after an overflow, never before one. */
  readonly reactiveOnly: boolean;
  /** True if no user is present. The summary then says so. */
  readonly autonomous: boolean;
  /** True (default) to let the model write the summary in the background, so that no turn waits for it. */
  readonly background: boolean;
  /**
   * Largest share of the spending on the conversation that background summaries of a model may cost, 0.1 by
   * default. If the next one would cost more, the built-in summarizer writes it. The first summary of a
   * conversation is always a model's. With 1, every summary is. Without known prices, the share has no
   * effect.
   */
  readonly summaryCostShare: number;
  /**
   * Time that a model may take for the first byte of a summary or of notes, in milliseconds. 60,000 by
   * default.
   */
  readonly firstByteTimeoutMs: number;
  /**
   * Total time limit for all calls that write one summary, in milliseconds. 300,000 by default. After that
   * time, the built-in summarizer writes the summary.
   */
  readonly timeoutMs: number;
}

/** Storage of the whole conversation. When `append` resolves, the entries must be stored durably. */
export interface TranscriptPort {
  readonly path: string;
  append(entries: readonly Entry[]): Promise<void>;
  /**
   * Returns true for a stored entry, so that the engine does not write the entries of a resumed session
   * again.
   */
  has?(uuid: string): boolean;
  /** Returns stored entries by id, in any order. Required to expand collapsed spans. */
  read?(uuids: readonly string[]): Promise<readonly Entry[]>;
  /**
   * Returns the newest step of the stored conversation and the state before it, or undefined if there is no
   * step. With `redo`, the step is the newest undo. Required for undo and redo.
   */
  stepBack?(choice: { readonly redo: boolean }): Promise<StepBack | undefined>;
}

/**
 * Callbacks of the host. The engine reports and ignores an exception in a callback, so that the exception
 * cannot stop a compaction.
 */
export interface HostCallbacks {
  readonly onEvent?: ((event: CompactorEvent) => void) | undefined;
  readonly onProgress?: ((progress: SummaryProgress) => void) | undefined;
  /**
   * Called with `compacting` at the start and every 30 seconds, and with undefined at the end, even after a
   * failure.
   */
  readonly onStatus?: ((status: "compacting" | undefined) => void) | undefined;
  readonly onStreamMode?: ((mode: "requesting" | "thinking" | "responding" | undefined) => void) | undefined;
  /** Called with the number of received characters of the summary, and with 0 at the end. */
  readonly onLength?: ((characters: number) => void) | undefined;
  /** Called with the outcome of each hook as text for the user. */
  readonly onHookMessage?: ((text: string) => void) | undefined;
  /**
   * Called with each message of a compaction: boundary, summary, kept messages, attachments, hook results.
   */
  readonly onMessage?: ((entry: Entry) => void) | undefined;
  /**
   * Called with files whose content was cleared. The agent no longer sees this content, so its next read of
   * such a file must return the content again.
   */
  readonly onFilesForgotten?: ((paths: readonly string[]) => void) | undefined;
  /** Callbacks that empty the host's caches after a compaction of the main conversation. */
  readonly caches?: readonly (() => void)[] | undefined;
}

export interface BeforeOptions {
  readonly signal?: AbortSignal | undefined;
  readonly caller?: Caller | undefined;
  /** Changed request fields. They apply until the host passes new ones. */
  readonly request?: RequestFrame | undefined;
}

/** The result of a turn: the request to send, the messages to continue with, and a report. */
export interface Turn<T extends Message = Message> {
  readonly id: string;
  /**
   * The conversation to continue with. It consists of messages or entries, like the host's list. If nothing
   * changed, this is the host's own array.
   */
  readonly messages: readonly T[];
  /** The request to send: checked, with the edits and cache marks that the provider supports. */
  readonly request: ModelRequest;
  readonly tokens: number;
  readonly thresholds: Thresholds;
  readonly window: WindowState;
  readonly compaction: Compaction | undefined;
  readonly cleared: number;
  /**
   * Reason why nothing was compacted. Undefined after a compaction, or if a compaction failed (see
   * `problem`).
   */
  readonly skipped: SkipReason | undefined;
  /** Violations of the API's rules in the conversation, and their repairs. */
  readonly findings: readonly Finding[];
  /**
   * A problem and its remedy. Set if you should make no further call, or if a compaction failed. Also set
   * once for a setup problem: an unknown model name, a missing SDK, a wrong key.
   */
  readonly problem: LonghaulError | undefined;
}

/** The inherited `instructions` apply to this summary, in addition to those for every summary. */
export interface ManualOptions extends SummaryInstructions {
  /**
   * True to compact even if the compaction does not pay, see `SMALLEST_WORTHWHILE_SAVING`. `instructions`
   * have the same effect. Otherwise, a compaction that does not pay fails with `compaction-ineffective` and
   * changes nothing.
   */
  readonly force?: boolean | undefined;
  /** Uuid or index of a message. Summarizes that message and everything after it, and keeps the rest. */
  readonly from?: string | number | undefined;
  /** Uuid or index of a message. Summarizes everything before that message and keeps the rest. */
  readonly upTo?: string | number | undefined;
  readonly keepRecentTokens?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ClearOptions {
  /** Number of newest results to keep, 3 by default. */
  readonly keep?: number | undefined;
}

export interface UndoOptions {
  readonly signal?: AbortSignal | undefined;
}

/** Options of a subagent. `INHERITANCE` decides which missing options get the parent's value. */
export interface ChildOptions extends Omit<CompactorOptions, "ports" | "settings"> {
  readonly settings?: Pick<SettingsSources, "values"> | undefined;
  readonly agentId?: string | undefined;
  readonly description?: string | undefined;
}

/** An optional mechanism of the engine. Create one with `sessionNotes` or similar functions. */
export interface CompactorModule<Commands extends object = object> {
  readonly name: string;
  /** Never set. Only its type matters: the methods that the module adds to a compactor. */
  readonly adds?: Commands | undefined;
}

/** The methods that these modules add to a compactor. */
export type CommandsOf<Modules extends readonly CompactorModule[]> = Combined<CommandsIn<Modules[number]>>;

type CommandsIn<Module> = Module extends CompactorModule<infer Commands> ? Commands : never;

/** Intersection of all members of a union of objects. */
type Combined<Union> = (Union extends unknown ? (each: Union) => void : never) extends (
  all: infer All,
) => void
  ? All & object
  : never;

/** Keeps one conversation within its context window. */
export interface Compactor<Commands extends object = object> {
  readonly agentId: string | undefined;
  /** The module that frees space instead of auto-compact, such as "collapse". */
  readonly headroomBy: string | undefined;
  /** Call this before every model call. */
  before<T extends Message>(messages: readonly T[], options?: BeforeOptions): Promise<Turn<T>>;
  /** Call this after every response. */
  after(response: ResponseFacts): void;
  /**
   * Call this after a failed call. Returns the turn for the retry, or undefined if you should show the error
   * to the user or if the signal has already fired. If an overflow occurs while a switch forbids compaction,
   * throws a `ModelError` with a remedy and your error as its cause.
   */
  recover<T extends Message>(
    error: unknown,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<Turn<T> | undefined>;
  /** Compacts on the user's request. Throws an error with a remedy if that fails. */
  compact<T extends Message>(messages: readonly T[], options?: ManualOptions): Promise<Turn<T>>;
  /**
   * Clears the results of tools that can run again, except the newest results. Throws if there is nothing to
   * clear.
   */
  clear<T extends Message>(messages: readonly T[], options?: ClearOptions): Promise<Turn<T>>;
  /**
   * Undoes the newest compaction, collapse, expansion or snip. Restores the earlier messages and keeps all
   * newer ones. Call it again to undo the previous step. Needs a transcript with `stepBack`.
   */
  undo<T extends Message>(messages: readonly T[], options?: UndoOptions): Promise<Turn<T>>;
  /** Reverts the last undo. */
  redo<T extends Message>(messages: readonly T[], options?: UndoOptions): Promise<Turn<T>>;
  /** Creates a compactor for a subagent, with its own window, state and breaker. */
  child(options?: ChildOptions): Compactor<Commands> & Commands;
  /**
   * Ends the conversation. Resolves when the transcript has stored everything. The main conversation no
   * longer lists a closed subagent.
   */
  close(): Promise<void>;
  readonly children: readonly Compactor[];
}

/** Usage of OpenAI's Chat Completions API. `prompt_tokens` includes tokens read from the cache. */
export interface OpenAiChatUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly prompt_tokens_details?: { readonly cached_tokens?: number | null } | null;
}

/** Usage of OpenAI's Responses API. `input_tokens` includes tokens read from the cache. */
export interface OpenAiResponsesUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly input_tokens_details: { readonly cached_tokens?: number | null };
}

/**
 * Usage of the AI SDK, version 5 and later. `inputTokens` includes tokens read from and written to the cache.
 */
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

/** Usage of the Messages API. `input_tokens` excludes cached tokens. */
export type OwnUsage = Usage & { readonly cache_deleted_input_tokens?: number };

export type AnyUsage = OwnUsage | OpenAiChatUsage | OpenAiResponsesUsage | AiSdkUsage;

/**
 * A response, or only some of its fields. The response is a `ModelReply`, or comes from the Messages API,
 * OpenAI or the AI SDK.
 */
export interface ResponseFacts {
  readonly id?: string;
  readonly model?: string;
  readonly usage?: AnyUsage | null;
  readonly content?: readonly ContentBlock[] | string;
}

/** A response with the usage in our form. */
export type KnownResponse = Omit<ResponseFacts, "usage"> & { readonly usage?: OwnUsage | null };
