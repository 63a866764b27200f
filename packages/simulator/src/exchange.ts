import type { ApiVersion } from "@longhaul/core/internal/messages";
import { type JsonRecord, stringField } from "@longhaul/core/internal/messages";
import type { ClaudeFeatures } from "@longhaul/core/measure";
import type { ApiMessage } from "@longhaul/core/messages";

/** One call as the parts of the simulator pass it on: headers read, body parsed, model found. */
export interface SimulatedRequest {
  readonly endpoint: "messages" | "count_tokens";
  readonly version: ApiVersion;
  readonly betas: ReadonlySet<string>;
  /** The body as sent. Only checked to be a JSON object. */
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
  /** Id of a subagent. Only its calls have it. */
  readonly agentId?: string;
}

/**
 * The part of a client that makes a call. `side-call` is a call of Claude Code outside the conversation, for
 * example for a title. It has no client-side tools. A client without {@link ClientMarks} makes none.
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

/** Selects a reading of the real API where reports conflict. */
export interface Switches {
  /** Merges consecutive messages of one role (current reference) or refuses them (older captures). */
  readonly consecutiveRoles: "merged" | "refused";
  /** Refuses tool blocks in a request without tools. */
  readonly requireTools: boolean;
  /** Enforces bound thinking in the workspace (accounts since 2026-08-31), or only reports mismatches. */
  readonly enforceBinding: boolean;
  /** Refuses signatures that this simulator did not write. Recorded conversations have foreign ones. */
  readonly foreignSignatures: "refused" | "accepted";
  /** Accepts `cache_edits` in a request. No public API has this field. */
  readonly cacheEdits: boolean;
  /** Accepts message threads, or refuses them as documented. */
  readonly threads: "accepted" | "refused";
  /** Betas that no known SDK or client sends: listed in the log, or refused like the API does. */
  readonly unknownBetas: "accepted" | "refused";
}

/** An error answer in the API's terms. Any part throws it, and the server sends it. */
export class ApiRefusal extends Error {
  override readonly name = "ApiRefusal";
  readonly status: number;
  readonly type: string;
  readonly details: JsonRecord | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** Name of its text. Undefined for a fault with a custom text. */
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
  /** Without an id, the server generates one. */
  | { readonly type: "tool_use"; readonly name: string; readonly input: JsonRecord; readonly id?: string }
  /** Sent unchanged: server tools, redacted thinking, or invalid blocks for tests. */
  | { readonly type: "raw"; readonly block: JsonRecord };

/** Answer of a behavior. The stop reason follows from the blocks unless it is given. */
export interface Turn {
  readonly blocks: readonly TurnBlock[];
  readonly stopReason?: string;
  /** `stop_details` of a refusal. */
  readonly stopDetails?: JsonRecord;
  /** Reported instead of the counted usage. Missing input figures are 0. */
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

/** Plays the model. Return undefined to let the next behavior answer. */
export type Behavior = (request: SeenRequest) => Turn | undefined;

/** Returns the thinking mode of a call: from the request, or the model's default. */
export function thinkingMode(body: JsonRecord, { features }: SimulatedModel): string {
  return stringField(body.thinking, "type") ?? (features.thinksByDefault ? "adaptive" : "disabled");
}
