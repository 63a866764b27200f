import type { ApiVersion } from "@longhaul/core/internal/messages";
import { type JsonRecord, stringField } from "@longhaul/core/internal/messages";
import type { ClaudeFeatures } from "@longhaul/core/measure";
import type { ClientMarks } from "../exchange.ts";

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

/** Returns the thinking mode of a call. If the request sets no mode, returns the model's default. */
export function thinkingMode(body: JsonRecord, { features }: SimulatedModel): string {
  return stringField(body.thinking, "type") ?? (features.thinksByDefault ? "adaptive" : "disabled");
}
