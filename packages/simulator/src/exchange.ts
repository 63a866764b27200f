import type { ApiVersion } from "@longhaul/core/internal/messages";
import { type JsonRecord, stringField } from "@longhaul/core/internal/messages";
import type { ClaudeFeatures } from "@longhaul/core/measure";
import type { ApiMessage } from "@longhaul/core/messages";

/** One call as the parts of the simulator hand it on: headers read, body parsed, model found. */
export interface SimulatedRequest {
  readonly endpoint: "messages" | "count_tokens";
  readonly version: ApiVersion;
  readonly betas: ReadonlySet<string>;
  /** As sent; only its being a JSON object has been checked. */
  readonly body: JsonRecord;
  readonly bytes: number;
  /** Undefined when the body names no model of the simulator; the rules refuse such a call. */
  readonly model: SimulatedModel | undefined;
  /** Caches are kept apart by workspace. */
  readonly workspace: string;
  readonly client: ClientMarks;
  /** By the simulator's clock, in milliseconds. */
  readonly startedAt: number;
}

/** Ids that Claude Code and the Claude Agent SDK send as headers. Other clients send none. */
export interface ClientMarks {
  readonly sessionId?: string;
  /** Only calls of a subagent carry it. */
  readonly agentId?: string;
}

/**
 * The part of a client that makes a call. `side-call` is a call of Claude Code besides the conversation, such as
 * for a title: it brings no tools that the client runs. A client without {@link ClientMarks} makes none.
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

/** Where reports about the real API conflict, a test says which reading it wants. */
export interface Switches {
  /** Whether consecutive messages of one role are merged (current reference) or refused (older captures). */
  readonly consecutiveRoles: "merged" | "refused";
  /** Whether tool blocks in a request without tools are refused. */
  readonly requireTools: boolean;
  /** Whether the workspace enforces bound thinking (accounts since 2026-08-31) or only reports mismatches. */
  readonly enforceBinding: boolean;
  /** Whether signatures must be ones this simulator wrote; recorded conversations carry foreign ones. */
  readonly foreignSignatures: "refused" | "accepted";
  /** The opt-in capability of SPEC 5.3: `cache_edits` in a request. */
  readonly cacheEdits: boolean;
  /** Message threads, or the documented refusal of them. */
  readonly threads: "accepted" | "refused";
  /** Betas that no SDK and no client known here sends: listed in the log, or refused as the API does. */
  readonly unknownBetas: "accepted" | "refused";
}

/** An answer that is an error, in the terms of the API. Thrown by any part; the server writes it out. */
export class ApiRefusal extends Error {
  override readonly name = "ApiRefusal";
  readonly status: number;
  readonly type: string;
  readonly details: JsonRecord | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** The name of its text; undefined for a fault with words of its own. */
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
  /** Without an id the server makes one. */
  | { readonly type: "tool_use"; readonly name: string; readonly input: JsonRecord; readonly id?: string }
  /** Sent as it is: server tools, redacted thinking, or nonsense for tests. */
  | { readonly type: "raw"; readonly block: JsonRecord };

/** What a behaviour answers with. The stop reason follows from the blocks unless it is given. */
export interface Turn {
  readonly blocks: readonly TurnBlock[];
  readonly stopReason?: string;
  /** For a refusal: `stop_details`. */
  readonly stopDetails?: JsonRecord;
  /** Reported in place of the counted usage. Input figures that are not given are 0. */
  readonly usage?: ReportedUsage;
  /** Milliseconds of real time before the answer begins. */
  readonly delayMs?: number;
}

/** Figures of `usage` that a turn reports, for example to make a client compact its conversation. */
export interface ReportedUsage {
  readonly input_tokens?: number;
  readonly cache_creation_input_tokens?: number;
  readonly cache_read_input_tokens?: number;
  readonly output_tokens?: number;
}

/** What a behaviour sees of a call: what the model would see, with the provider's edits applied. */
export interface SeenRequest {
  readonly model: string;
  readonly messages: readonly ApiMessage[];
  readonly system: string;
  readonly tools: readonly JsonRecord[];
  readonly maxTokens: number;
  readonly purpose: CallPurpose;
  /** The whole body as sent. */
  readonly body: JsonRecord;
  /** How many calls to `/v1/messages` came before this one. */
  readonly index: number;
}

/** Plays the model. Undefined hands the call to the next behaviour. */
export type Behaviour = (request: SeenRequest) => Turn | undefined;

/** How the model thinks in a call: as the request says, or as it does by itself. */
export function thinkingMode(body: JsonRecord, { features }: SimulatedModel): string {
  return stringField(body.thinking, "type") ?? (features.thinksByDefault ? "adaptive" : "disabled");
}
