import { LonghaulError } from "../messages/errors.ts";
import type { ContentBlock } from "../messages/message.ts";
import type { Overflow } from "./overflow.ts";
import type { ModelRequest } from "./port.ts";

/**
 * Why a call failed. The kinds are closed. What a provider says in words is matched in its adapter, and for an overflow
 * in `overflow.ts`.
 */
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
  readonly remedy?: string | undefined;
  /** HTTP status, where there was one. */
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  /** The provider's own code for it, for people and for logs. */
  readonly providerCode?: string | undefined;
  /** Blocks that were complete before it failed. */
  readonly partial?: readonly ContentBlock[];
  readonly cause?: unknown;
}

export class ModelError extends LonghaulError {
  static override readonly brand: symbol = Symbol.for("longhaul.ModelError");

  readonly failure: ModelFailure;
  /** True if the same request, sent again later, may succeed. */
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

/** A call that failed, as its adapter knows it. */
export interface FailedCall {
  readonly model: string;
  /** An answer had begun: a broken connection then cuts it off. */
  readonly hasBegun: boolean;
  readonly partial: readonly ContentBlock[];
  /** The request, and the keys that are known: neither may show in an error. */
  readonly request?: ModelRequest | undefined;
  readonly secrets?: readonly string[] | undefined;
}

/** Remedies that an adapter knows better: where its keys and its address come from. */
export type Remedies = Readonly<Partial<Record<ModelFailureKind, string>>>;

interface FailedCallDetails extends Omit<ModelErrorDetails, "remedy"> {
  /** The provider's own words. */
  readonly said?: string | undefined;
  readonly remedies?: Remedies;
}

/** The error as a person reads it: what happened, in the provider's words if it had some, and what to do. */
export function failedCall(
  failure: ModelFailure,
  model: string,
  { said, remedies, ...details }: FailedCallDetails = {},
): ModelError {
  const headline = HEADLINES[failure.kind](model);
  const remedy = remedies?.[failure.kind] ?? remedyFor(failure);
  return new ModelError(failure, said ? `${headline}: ${said}` : `${headline}.`, { ...details, remedy });
}

const HEADLINES: Readonly<Record<ModelFailureKind, (model: string) => string>> = {
  "too-long": (model) => `The conversation is too long for ${model}`,
  "too-large": (model) => `The request has too many bytes or pictures for ${model}`,
  overloaded: (model) => `${model} is overloaded`,
  "rate-limited": (model) => `Too many requests for ${model}`,
  authentication: (model) => `Not allowed to call ${model}`,
  "unknown-model": (model) => `There is no model ${model}`,
  refused: (model) => `${model} declined to answer`,
  "cut-off": (model) => `The answer of ${model} ended in the middle`,
  aborted: () => "The call was aborted",
  "timed-out": (model) => `${model} did not answer in time`,
  unreachable: (model) => `No connection to the provider of ${model}`,
  "thinking-mismatch": (model) => `${model} refuses thinking that was written after another history`,
  "thinking-missing": (model) => `${model} expects thinking at the beginning of a turn with tool calls`,
  "sdk-missing": () => "The provider's SDK cannot be loaded",
  other: (model) => `The call to ${model} failed`,
};

const REMEDIES: Remedies = {
  "too-long": "Compact it, then call again.",
  "too-large": "Take out pictures and documents, or compact it.",
  overloaded: "Try again in a while.",
  authentication: "Check the provider's API key, in the environment or where the model is made.",
  "unknown-model": "Check the name of the model and the address of the provider.",
  refused:
    "Rephrase the last message or take it out of the conversation; the same request is declined again.",
  "cut-off": "Try again.",
  "timed-out": "Try again later, or raise the time limit.",
  unreachable: "Check the network and the address of the provider.",
  "thinking-mismatch": "Leave the thinking out of the earlier messages.",
  "thinking-missing": "Send the thinking back with its reply, or disable thinking for this call.",
};

function remedyFor(failure: ModelFailure): string | undefined {
  if (failure.kind !== "rate-limited") return REMEDIES[failure.kind];
  const { delayMs } = failure;
  return delayMs === undefined ? "Try again in a while." : `Try again in ${Math.ceil(delayMs / 1_000)} s.`;
}
