import type { Usage } from "../messages/entry.ts";
import type { ApiRequest, ContentBlock } from "../messages/message.ts";

declare global {
  /**
   * The only types of a runtime in our types. They are declared without members, so that our types compile in
   * projects without the types of a browser and without those of Node. Where a runtime declares them, the
   * compiler merges both declarations.
   */
  interface AbortSignal {}
  interface AbortController {}
}

/**
 * A model as the engine sees it, with one narrow interface for every provider. Requests and replies have the
 * canonical form (messages and blocks of the Anthropic API). Each adapter translates them.
 */
export interface Model {
  /** The provider's name for the model. Thresholds and prices are looked up by this name. */
  readonly name: string;
  readonly capabilities: ModelCapabilities;
  /**
   * Makes one call and yields events as the provider sends them. The last event is always `end`. Fails with a
   * {@link ModelError} and never retries. For retries, see `withRetries`.
   */
  stream(request: ModelRequest, options?: CallOptions): AsyncIterable<ModelEvent>;
  /** Counts the tokens of the request. */
  countTokens(request: ModelRequest, options?: CallOptions): Promise<TokenCount>;
}

export interface CallOptions {
  /** Ends the call immediately. The failure has the kind `aborted`. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Provider features that the engine may use. The engine never uses a feature that is off, so no request fails
 * because of an unsupported feature.
 */
export interface ModelCapabilities {
  /** The provider honors cache marks (`cache_control`). */
  readonly promptCache: boolean;
  /** The provider can drop tool results from a cached prefix without invalidating it (`cache_edits`). */
  readonly cacheEdits: boolean;
  /** The provider can clear tool results and thinking itself (`context_management`). */
  readonly contextEdits: boolean;
  /**
   * The provider can summarize: on demand (`compaction`), or at a threshold (a `context_management` edit).
   */
  readonly compaction: { readonly onDemand: boolean; readonly threshold: boolean };
  /** A thinking block is valid only after exactly the history that preceded it when the model wrote it. */
  readonly boundThinking: boolean;
  readonly images: boolean;
  /** `exact` means that `countTokens` asks the provider. */
  readonly countTokens: "exact" | "estimate";
}

export interface ToolDefinition {
  readonly name: string;
  readonly description?: string;
  readonly input_schema: { readonly type: "object"; readonly [keyword: string]: unknown };
  readonly [field: string]: unknown;
}

export type ToolChoice =
  | { readonly type: "auto" | "any" | "none" }
  | { readonly type: "tool"; readonly name: string };

/** Drops the result of this tool call from the cached prefix. The message itself is sent unchanged. */
export interface CacheEdit {
  readonly type: "delete_tool_result";
  readonly tool_use_id: string;
}

/** A strategy of the provider's context management. The fields depend on the type. */
export interface ContextEdit {
  readonly type: string;
  readonly [field: string]: unknown;
}

export interface ProviderCompaction {
  readonly type: "summarize";
  /** The whole prompt for the provider's summary. It includes the user's instructions. */
  readonly instructions?: string;
}

/**
 * A request body in the form of the Messages API. Adapters for this API pass unknown fields through, and
 * other adapters drop them. A request does not name the model, because the port knows its model.
 */
export interface ModelRequest extends Omit<ApiRequest, "model"> {
  readonly tools?: readonly ToolDefinition[];
  readonly tool_choice?: ToolChoice;
  readonly stop_sequences?: readonly string[];
  readonly output_config?: { readonly effort?: string; readonly [field: string]: unknown };
  readonly context_management?: { readonly edits: readonly ContextEdit[] };
  readonly compaction?: ProviderCompaction;
  readonly cache_edits?: readonly CacheEdit[];
}

export type StopReason =
  | "end_turn"
  | "max_tokens"
  | "stop_sequence"
  | "tool_use"
  | "pause_turn"
  | "compaction"
  | "model_context_window_exceeded"
  /** An unknown stop reason. The reply is complete as far as the provider reports. */
  | "other";

/** A whole reply in the canonical form. You can append `content` to the conversation unchanged. */
export interface ModelReply {
  readonly id: string;
  readonly model: string;
  readonly content: readonly ContentBlock[];
  readonly stopReason: StopReason;
  readonly usage: ModelUsage;
  /** Edits that the provider's context management made in this call. */
  readonly appliedEdits: readonly ContextEdit[];
  /** Parts of the request that the adapter or the provider changed. Every change is listed. */
  readonly changes: readonly RequestChange[];
}

export interface ModelUsage extends Usage {
  readonly cache_creation_input_tokens: number;
  readonly cache_read_input_tokens: number;
  /** Tokens that cache edits removed from the prefix. */
  readonly cache_deleted_input_tokens?: number;
  /** Usage of inner calls, such as the provider's compaction, that the fields above do not include. */
  readonly iterations?: readonly UsageIteration[];
}

export interface UsageIteration extends Usage {
  readonly type: string;
}

export type RequestChange =
  /** The adapter removed thinking that the provider refused or would have refused. */
  | { readonly type: "thinking-left-out"; readonly blocks: number; readonly reason: string }
  /**
   * The provider does not support something (a field, a block type), so the adapter dropped it or sent it as
   * text.
   */
  | { readonly type: "not-supported"; readonly what: string };

export type ModelEvent =
  | { readonly type: "start"; readonly id: string; readonly model: string }
  /** The next piece of the answer. */
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly text: string }
  | { readonly type: "tool-call-start"; readonly id: string; readonly name: string }
  /** The next piece of the tool call's input, as JSON text. */
  | { readonly type: "tool-call-input"; readonly id: string; readonly json: string }
  /** A complete block, in the form to keep. */
  | { readonly type: "block"; readonly block: ContentBlock }
  /** The connection is alive, but no content arrived. */
  | { readonly type: "keep-alive" }
  | { readonly type: "end"; readonly reply: ModelReply };

export interface TokenCount {
  readonly tokens: number;
  readonly source: "exact" | "estimate";
}
