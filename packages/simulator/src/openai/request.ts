import type { JsonRecord } from "@longhaul/core/internal/messages";

/** Endpoints of OpenAI that receive a conversation. `count_tokens` is `POST /v1/responses/input_tokens`. */
export type OpenAiEndpoint = "chat_completions" | "responses" | "compact" | "count_tokens";

/** One call to OpenAI, with parsed headers, parsed body and known model. */
export interface OpenAiRequest {
  readonly endpoint: OpenAiEndpoint;
  /** The body as sent. It is a JSON object, but otherwise unchecked. */
  readonly body: JsonRecord;
  readonly bytes: number;
  /** Undefined if the body names no known model. The rules refuse such a call. */
  readonly model: OpenAiModel | undefined;
  /**
   * Input and output items of the stored responses that `previous_response_id` or `conversation` continues,
   * oldest first. Empty for a request that continues nothing. Undefined if the id is unknown.
   */
  readonly earlier: readonly JsonRecord[] | undefined;
  /**
   * What the Responses API remembers from earlier calls of the project. The endpoint fills it, the rules only
   * ask. Undefined for chat completions: rules that need it do not apply then.
   */
  readonly memory?: ResponsesMemory;
  /** Each project has a separate cache and separate stored responses. */
  readonly workspace: string;
  /** Start of the call by the simulator's clock, in milliseconds. */
  readonly startedAt: number;
}

/** Lookups over stored responses and over content that this simulator wrote. */
export interface ResponsesMemory {
  /** Returns the stored item with this id. Items of responses with `store: false` are not stored. */
  storedItem(id: string): JsonRecord | undefined;
  /**
   * Returns the id of the reasoning item without which the API refuses this item: the last reasoning item
   * that precedes it in the output of its response. Undefined if it needs none.
   */
  requiredReasoning(itemId: string): string | undefined;
  /** Reads `encrypted_content` of a reasoning or compaction item. Undefined if this simulator did not write it. */
  writtenContent(encrypted: string): WrittenContent | undefined;
}

export interface WrittenContent {
  /** Id of the reasoning item for which it was written. Undefined for the content of a compaction item. */
  readonly itemId: string | undefined;
}

export interface OpenAiModel {
  readonly id: string;
  readonly windowTokens: number;
  readonly maxOutputTokens: number;
  /** True for models that reason before they answer. They refuse some sampling parameters. */
  readonly isReasoning: boolean;
  /** Values of `reasoning.effort` and `reasoning_effort` that the model accepts. */
  readonly efforts: readonly string[];
  readonly acceptsImages: boolean;
  /** True for a name that OpenAI has retired. The API refuses it. */
  readonly isRetired: boolean;
}

/** Switches for rules of OpenAI's API on which sources conflict or are silent. */
export interface OpenAiSwitches {
  /**
   * Refuses or accepts `encrypted_content` that this simulator did not write. Accept it for recorded
   * conversations.
   */
  readonly foreignReasoning: "refused" | "accepted";
  /** Refuses or accepts fields of the body that the API reference does not list. */
  readonly unknownFields: "refused" | "accepted";
}
