import type { ApiVersion } from "@longhaul/core/internal/messages";
import { type JsonRecord, stringField } from "@longhaul/core/internal/messages";
import type { ClaudeFeatures } from "@longhaul/core/measure";
import type { ApiMessage } from "@longhaul/core/messages";

/**
 * One call, with parsed headers, parsed body and known model. The parts of the simulator pass a call on in
 * this form.
 */
export interface SimulatedRequest {
  readonly endpoint: "messages" | "count_tokens";
  readonly version: ApiVersion;
  readonly betas: ReadonlySet<string>;
  /** The body as sent. It is a JSON object, but otherwise unchecked. */
  readonly body: JsonRecord;
  readonly bytes: number;
  /** Undefined if the body names no known model. The rules refuse such a call. */
  readonly model: SimulatedModel | undefined;
  /** Each workspace has a separate cache. */
  readonly workspace: string;
  readonly client: ClientMarks;
  /** Start of the call by the simulator's clock, in milliseconds. */
  readonly startedAt: number;
}

/** Ids that Claude Code and the Claude Agent SDK send as headers. Other clients send none. */
export interface ClientMarks {
  readonly sessionId?: string;
  /** Id of the subagent that makes the call. Undefined for calls of the main agent. */
  readonly agentId?: string;
}

/**
 * Purposes of a call. A `side-call` is a call of Claude Code outside the conversation, for example for a
 * title. Such a call has no client-side tools. Calls of clients without {@link ClientMarks} are never side
 * calls.
 */
export const CALL_PURPOSES = ["conversation", "subagent", "summary", "side-call"] as const;
export type CallPurpose = (typeof CALL_PURPOSES)[number];

export interface SimulatedModel {
  readonly id: string;
  readonly windowTokens: number;
  readonly maxOutputTokens: number;
  readonly bindsThinking: boolean;
  readonly features: ClaudeFeatures;
}

/** Switches for rules of the real API on which reports conflict. */
export interface Switches {
  /**
   * Merges or refuses consecutive messages of one role. The current API reference merges them. Older captures
   * show refusals.
   */
  readonly consecutiveRoles: "merged" | "refused";
  /** Refuses tool blocks in a request without tools. */
  readonly requireTools: boolean;
  /**
   * True: refuses thinking that does not match its conversation, as for accounts since 2026-08-31. False:
   * only reports it.
   */
  readonly enforceBinding: boolean;
  /**
   * Refuses or accepts signatures that this simulator did not write. Accept them for recorded conversations.
   */
  readonly foreignSignatures: "refused" | "accepted";
  /** Accepts `cache_edits` in a request. No public API has this field. */
  readonly cacheEdits: boolean;
  /** Accepts message threads, or refuses them as documented. */
  readonly threads: "accepted" | "refused";
  /**
   * Handling of betas that no known SDK or client sends. The simulator accepts them and lists them in the
   * log, or refuses them like the API.
   */
  readonly unknownBetas: "accepted" | "refused";
}

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

/** A call from the model's point of view, with the provider's edits applied. */
export interface SeenRequest {
  readonly model: string;
  readonly messages: readonly ApiMessage[];
  readonly system: string;
  readonly tools: readonly JsonRecord[];
  readonly maxTokens: number;
  readonly purpose: CallPurpose;
  /** The whole body as sent. */
  readonly body: JsonRecord;
  /** Number of earlier calls to `/v1/messages`. */
  readonly index: number;
}

/** Function that plays the model. Return undefined to let the next behavior answer. */
export type Behavior = (request: SeenRequest) => Turn | undefined;

/** Returns the thinking mode of a call. If the request sets no mode, returns the model's default. */
export function thinkingMode(body: JsonRecord, { features }: SimulatedModel): string {
  return stringField(body.thinking, "type") ?? (features.thinksByDefault ? "adaptive" : "disabled");
}
