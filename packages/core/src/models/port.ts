import type { Usage } from "../messages/entry.ts";
import type { ApiRequest, ContentBlock } from "../messages/message.ts";

/**
 * A model as the engine sees it: narrow, and the same for every provider. Requests and replies are in the
 * canonical form (messages and blocks of the Anthropic API); an adapter translates at its edge.
 */
export interface Model {
  /** The name under which the provider knows it; thresholds and prices are found by it. */
  readonly name: string;
  readonly capabilities: ModelCapabilities;
  /**
   * Makes one call. Events come as the provider sends them, the last one is always `end`. Fails with a
   * {@link ModelError} and never retries by itself: see `withRetries`.
   */
  stream(request: ModelRequest, options?: CallOptions): AsyncIterable<ModelEvent>;
  /** Tokens that the request would occupy of the window. */
  countTokens(request: ModelRequest, options?: CallOptions): Promise<TokenCount>;
}

export interface CallOptions {
  /** Ends the call at once, wherever it is. The failure is of kind `aborted`. */
  readonly signal?: AbortSignal | undefined;
}

/** Capabilities that a rewrite may rely on. A capability that is off is never sent, so no request fails for it. */
export interface ModelCapabilities {
  /** Marks (`cache_control`) are honoured. */
  readonly promptCache: boolean;
  /** Tool results can be left out of a cached prefix without breaking it (`cache_edits`). */
  readonly cacheEdits: boolean;
  /** The provider clears tool results and thinking itself (`context_management`). */
  readonly contextEdits: boolean;
  /** The provider summarises: when asked (`compaction`), or at a threshold (a `context_management` edit). */
  readonly compaction: { readonly onDemand: boolean; readonly threshold: boolean };
  /** A thinking block is valid only after the exact history it was written after. */
  readonly boundThinking: boolean;
  readonly images: boolean;
  /** `exact`: `countTokens` asks the provider. */
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

/** Leaves the result of this call out of the cached prefix; the message itself is sent unchanged. */
export interface CacheEdit {
  readonly type: "delete_tool_result";
  readonly tool_use_id: string;
}

/** A strategy of the provider's own context management; the fields depend on the type. */
export interface ContextEdit {
  readonly type: string;
  readonly [field: string]: unknown;
}

export interface ProviderCompaction {
  readonly type: "summarize";
  /** The whole prompt for the provider's summary, of which the user's wishes are a part. */
  readonly instructions?: string;
}

/**
 * A request body in the shape of the Messages API. Fields that are not named here are handed to a provider
 * that speaks this API as they are, and left out for others. The model is the port's own.
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
  /** A reason that we do not know; what came is complete as far as the provider says. */
  | "other";

/** A whole reply, in the canonical form: `content` can be appended to the conversation as it is. */
export interface ModelReply {
  readonly id: string;
  readonly model: string;
  readonly content: readonly ContentBlock[];
  readonly stopReason: StopReason;
  readonly usage: ModelUsage;
  /** Edits that the provider's context management made for this call. */
  readonly appliedEdits: readonly ContextEdit[];
  /** Parts that were sent otherwise than they were given, by the adapter or the provider: never silently. */
  readonly changes: readonly RequestChange[];
}

export interface ModelUsage extends Usage {
  readonly cache_creation_input_tokens: number;
  readonly cache_read_input_tokens: number;
  /** Tokens that cache edits left out of the prefix. */
  readonly cache_deleted_input_tokens?: number;
  /** Cost of calls inside this one that the fields above do not hold, such as the provider's compaction. */
  readonly iterations?: readonly UsageIteration[];
}

export interface UsageIteration extends Usage {
  readonly type: string;
}

export type RequestChange =
  /** Thinking that the provider would have refused, or did refuse, was left out of the request. */
  | { readonly type: "thinking-left-out"; readonly blocks: number; readonly reason: string }
  /** Something the provider has no form for (a field, a kind of block) was left out or sent as text. */
  | { readonly type: "not-supported"; readonly what: string };

export type ModelEvent =
  | { readonly type: "start"; readonly id: string; readonly model: string }
  /** The next piece of an answer. */
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly text: string }
  | { readonly type: "tool-call-start"; readonly id: string; readonly name: string }
  /** The next piece of the call's input, as JSON text. */
  | { readonly type: "tool-call-input"; readonly id: string; readonly json: string }
  /** A block is complete, in the form in which it is kept. */
  | { readonly type: "block"; readonly block: ContentBlock }
  /** The connection is alive although nothing comes. */
  | { readonly type: "keep-alive" }
  | { readonly type: "end"; readonly reply: ModelReply };

export interface TokenCount {
  readonly tokens: number;
  readonly source: "exact" | "estimate";
}
