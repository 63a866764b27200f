import type { ContentBlock } from "../conversation/message.ts";
import { LonghaulError } from "../errors.ts";
import type { Overflow } from "./overflow.ts";

/** Why a call failed. The kinds are closed; what a provider says in words is matched only in its adapter. */
export type ModelFailure =
  /** The request exceeds the window; the figures are those that the provider states. */
  | ({ readonly kind: "too-long" } & Overflow)
  /** The body exceeds the byte limit, or holds more media than allowed. */
  | { readonly kind: "too-large" }
  | { readonly kind: "overloaded"; readonly delayMs?: number }
  | { readonly kind: "rate-limited"; readonly delayMs?: number }
  /** No key, a wrong key, or a key that may not use this model. */
  | { readonly kind: "authentication" }
  | { readonly kind: "unknown-model"; readonly model: string }
  /** The model declined to answer. */
  | { readonly kind: "refused"; readonly category?: string }
  /** The answer ended in the middle; what came is in `partial`. */
  | { readonly kind: "cut-off" }
  | { readonly kind: "aborted" }
  /** The first byte, or the whole answer, took longer than the caller waits. */
  | { readonly kind: "timed-out"; readonly limitMs: number; readonly waitedFor: "first-byte" | "answer" }
  /** No connection: wrong address, no network, nobody listening. */
  | { readonly kind: "unreachable" }
  /** Thinking was sent after another history than the one it was written after. */
  | { readonly kind: "thinking-mismatch" }
  /** Thinking is enabled, and the turn whose tool results were sent does not begin with it. */
  | { readonly kind: "thinking-missing" }
  /** The provider's SDK is not installed. */
  | { readonly kind: "sdk-missing"; readonly package: string }
  /** Whatever else the provider said; `retry` is what its status tells. */
  | { readonly kind: "other"; readonly retry: boolean };

export type ModelFailureKind = ModelFailure["kind"];

export interface ModelErrorDetails {
  readonly remedy?: string;
  /** HTTP status, where there was one. */
  readonly status?: number;
  readonly requestId?: string;
  /** The provider's own code for it, for people and for logs. */
  readonly providerCode?: string;
  /** Blocks that were complete before it failed. */
  readonly partial?: readonly ContentBlock[];
  readonly cause?: unknown;
}

export class ModelError extends LonghaulError {
  readonly failure: ModelFailure;
  /** Whether the same request, sent again later, may succeed. */
  readonly retryHelps: boolean;
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  readonly providerCode: string | undefined;
  /** Not shown where the error is logged or written as JSON: it is what was said, not what went wrong. */
  declare readonly partial: readonly ContentBlock[];

  constructor(failure: ModelFailure, message: string, details: ModelErrorDetails = {}) {
    super(`model-${failure.kind}`, message, {
      ...(details.remedy === undefined ? {} : { remedy: details.remedy }),
      facts: factsOf(failure, details),
      cause: details.cause,
    });
    this.failure = failure;
    this.retryHelps = failure.kind === "other" ? failure.retry : RETRY_HELPS.has(failure.kind);
    this.status = details.status;
    this.requestId = details.requestId;
    this.providerCode = details.providerCode;
    Object.defineProperty(this, "partial", { value: details.partial ?? [], enumerable: false });
  }
}

const RETRY_HELPS: ReadonlySet<ModelFailureKind> = new Set([
  "overloaded",
  "rate-limited",
  "cut-off",
  "unreachable",
]);

function factsOf(failure: ModelFailure, details: ModelErrorDetails): Record<string, string | number> {
  const facts: Record<string, string | number> = {};
  for (const [name, value] of Object.entries({ ...failure, ...details })) {
    if (name === "kind" || name === "remedy") continue;
    if (typeof value === "string" || typeof value === "number") facts[name] = value;
  }
  return facts;
}
