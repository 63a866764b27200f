import type { JsonRecord } from "@longhaul/core/internal/messages";
import type { ApiMessage } from "@longhaul/core/messages";

/** Providers that the simulator plays. */
export type ProviderName = "anthropic" | "openai";

/** Endpoints that ask the model for an answer. */
const ANSWERING_ENDPOINTS = ["messages", "chat_completions", "responses"] as const;

export type Endpoint =
  | (typeof ANSWERING_ENDPOINTS)[number]
  | "count_tokens"
  | "compact"
  | "stored_response"
  | "models"
  | "other";

export const isCallForAnswer = ({ endpoint }: { readonly endpoint: Endpoint }): boolean =>
  ANSWERING_ENDPOINTS.some((one) => one === endpoint);

/** Ids that Claude Code and the Claude Agent SDK send as headers. Other clients send none. */
export interface ClientMarks {
  readonly sessionId?: string;
  /** Id of the subagent that makes the call. Undefined for calls of the main agent. */
  readonly agentId?: string;
}

/**
 * Purposes of a call. A `side-call` is a call of Claude Code outside the conversation, for example for a
 * title. Such a call has no client-side tools. Calls of clients without {@link ClientMarks} have another purpose,
 * but the turns of a script recognize some of them as side calls.
 */
export const CALL_PURPOSES = ["conversation", "subagent", "summary", "side-call"] as const;
export type CallPurpose = (typeof CALL_PURPOSES)[number];

/** An error answer of the API. Any part of the simulator can throw it, and the server sends it. */
export class ApiRefusal extends Error {
  override readonly name = "ApiRefusal";
  readonly status: number;
  readonly type: string;
  readonly details: JsonRecord | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** Name of the error text in `TEXTS`. Undefined for a fault with a custom text. */
  readonly rule: string | undefined;

  constructor(status: number, type: string, message: string, more: RefusalDetails = {}) {
    super(message);
    this.status = status;
    this.type = type;
    this.details = more.details;
    this.headers = more.headers ?? {};
    this.rule = more.rule;
  }
}

interface RefusalDetails {
  /** `error.details`, with its `error_code`. */
  readonly details?: JsonRecord;
  readonly headers?: Readonly<Record<string, string>>;
  readonly rule?: string;
}

/** One block of a reply before it has ids, signatures and token counts. */
export type TurnBlock =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly thinking: string }
  /** A tool call. If it has no id, the server generates one. */
  | { readonly type: "tool_use"; readonly name: string; readonly input: JsonRecord; readonly id?: string }
  /** A block that is sent unchanged: a server tool, redacted thinking, or an invalid block for tests. */
  | { readonly type: "raw"; readonly block: JsonRecord };

/** Answer of a behavior. By default, the stop reason follows from the blocks. */
export interface Turn {
  readonly blocks: readonly TurnBlock[];
  /** Reason in the words of any provider. The answer has the word of its own provider. */
  readonly stopReason?: string;
  /** `stop_details` of a refusal. */
  readonly stopDetails?: JsonRecord;
  /** Usage to report instead of the counted usage. Input figures that are missing count as 0. */
  readonly usage?: ReportedUsage;
  /** Milliseconds of real time before the answer starts. */
  readonly delayMs?: number;
}

/** Figures of `usage` that a turn reports, for example to make a client compact its conversation. */
export interface ReportedUsage {
  readonly input_tokens?: number;
  readonly cache_creation_input_tokens?: number;
  readonly cache_read_input_tokens?: number;
  readonly output_tokens?: number;
}

/**
 * A call from the model's point of view, with the provider's edits applied. Messages and tools have the form
 * of the Messages API, so that a behavior can play the model of every provider.
 */
export interface SeenRequest {
  readonly model: string;
  readonly messages: readonly ApiMessage[];
  readonly system: string;
  /** Tools with `name`, `description` and `input_schema`. */
  readonly tools: readonly JsonRecord[];
  readonly maxTokens: number;
  readonly purpose: CallPurpose;
  /** The whole body as sent, in the provider's own form. */
  readonly body: JsonRecord;
  readonly provider: ProviderName;
  /** Number of earlier calls for an answer to the same provider. */
  readonly index: number;
}

/** Function that plays the model. Return undefined to let the next behavior answer. */
export type Behavior = (request: SeenRequest) => Turn | undefined;
