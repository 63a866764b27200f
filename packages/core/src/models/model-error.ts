import { LonghaulError } from "../messages/errors.ts";
import type { ContentBlock } from "../messages/message.ts";
import type { Overflow } from "./overflow.ts";
import type { ModelRequest } from "./port.ts";

/**
 * Reason for a failed call. The list of kinds is closed. Each adapter matches the error texts of its
 * provider, and `overflow.ts` matches the texts that report an overflow.
 */
export type ModelFailure =
  /** The request exceeds the context window. The figures are the provider's. */
  | ({ readonly kind: "too-long" } & Overflow)
  /** The body exceeds the byte limit or contains too many media files. */
  | { readonly kind: "too-large" }
  | { readonly kind: "overloaded"; readonly delayMs?: number }
  | { readonly kind: "rate-limited"; readonly delayMs?: number }
  /** No key, a wrong key, or a key that may not use this model. */
  | { readonly kind: "authentication" }
  | { readonly kind: "unknown-model"; readonly model: string }
  /** The model declined to answer. */
  | { readonly kind: "refused"; readonly category?: string }
  /** The answer ended early. `partial` contains the blocks that arrived. */
  | { readonly kind: "cut-off" }
  | { readonly kind: "aborted" }
  /** The first byte or the whole answer took longer than the caller's time limit. */
  | { readonly kind: "timed-out"; readonly limitMs: number; readonly waitedFor: "first-byte" | "answer" }
  /** No connection: wrong address, no network, or no server at the address. */
  | { readonly kind: "unreachable" }
  /** A thinking block was sent after a different history than the one it was written for. */
  | { readonly kind: "thinking-mismatch" }
  /**
   * Thinking is enabled, but the assistant turn with the answered tool calls does not start with a thinking
   * block.
   */
  | { readonly kind: "thinking-missing" }
  /** The provider's SDK is not installed. */
  | { readonly kind: "sdk-missing"; readonly package: string }
  /** Any other failure. `retry` follows from the status. */
  | { readonly kind: "other"; readonly retry: boolean };

export type ModelFailureKind = ModelFailure["kind"];

export interface ModelErrorDetails {
  readonly remedy?: string | undefined;
  /** HTTP status, if the provider sent one. */
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  /** The provider's error code, for people and logs. */
  readonly providerCode?: string | undefined;
  /** Blocks that were complete before the failure. */
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
  /**
   * The partial reply is hidden from logs and JSON, because it is part of the conversation and does not
   * explain the failure.
   */
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

/** Facts that an adapter knows about a failed call. */
export interface FailedCall {
  readonly model: string;
  /** True if the answer had started. If the connection breaks after that, the answer counts as cut off. */
  readonly hasStarted: boolean;
  readonly partial: readonly ContentBlock[];
  /** The request and the known keys. Neither may appear in an error. */
  readonly request?: ModelRequest | undefined;
  readonly secrets?: readonly string[] | undefined;
}

/** Returns the opening words of the message for a code, without the final period. */
export const headlineOf = (code: `model-${ModelFailureKind}`, model: string): string =>
  HEADLINES[code.slice("model-".length) as ModelFailureKind](model);

/**
 * Advice that replaces the default advice. An adapter knows better where its keys and its address come from.
 */
export type Remedies = Readonly<Partial<Record<ModelFailureKind, string>>>;

interface FailedCallDetails extends Omit<ModelErrorDetails, "remedy"> {
  /** The provider's message. */
  readonly providerMessage?: string | undefined;
  readonly remedies?: Remedies;
}

/**
 * Creates an error with a message for people: the failure, the provider's own text if there is one, and what
 * to do.
 */
export function createModelError(
  failure: ModelFailure,
  model: string,
  { providerMessage: said, remedies, ...details }: FailedCallDetails = {},
): ModelError {
  const headline = HEADLINES[failure.kind](model);
  const remedy = remedies?.[failure.kind] ?? remedyFor(failure);
  return new ModelError(failure, said ? `${headline}: ${said}` : `${headline}.`, { ...details, remedy });
}

const HEADLINES: Readonly<Record<ModelFailureKind, (model: string) => string>> = {
  "too-long": (model) => `The conversation is too long for ${model}`,
  "too-large": (model) => `The request is too large for ${model} (bytes or images)`,
  overloaded: (model) => `${model} is overloaded`,
  "rate-limited": (model) => `Too many requests for ${model}`,
  authentication: (model) => `Not allowed to call ${model}`,
  "unknown-model": (model) => `The provider has no model ${model}`,
  refused: (model) => `${model} declined to answer`,
  "cut-off": (model) => `The answer of ${model} ended in the middle`,
  aborted: () => "The call was aborted",
  "timed-out": (model) => `${model} did not answer in time`,
  unreachable: (model) => `No connection to the provider of ${model}`,
  "thinking-mismatch": (model) => `${model} rejects thinking that belongs to another history`,
  "thinking-missing": (model) => `${model} requires thinking at the start of a turn with tool calls`,
  "sdk-missing": () => "Cannot use the provider's SDK",
  other: (model) => `The call to ${model} failed`,
};

const REMEDIES: Remedies = {
  "too-long": "Compact the conversation, then call again.",
  "too-large": "Remove images and documents, or compact the conversation.",
  overloaded: "Try again in a few minutes.",
  authentication: "Check the provider's API key in the environment, or in the code that creates the model.",
  "unknown-model": "Check the name of the model and the address of the provider.",
  refused:
    "Rephrase the last message or remove it from the conversation. The model declines the same request again.",
  "cut-off": "Try again.",
  "timed-out": "Try again later, or raise the time limit.",
  unreachable: "Check the network and the address of the provider.",
  "thinking-mismatch": "Remove the thinking from the earlier messages.",
  "thinking-missing":
    "Send the thinking together with the reply that it belongs to, or disable thinking for this call.",
};

function remedyFor(failure: ModelFailure): string | undefined {
  if (failure.kind === "other") {
    return failure.retry
      ? "Try again in a few minutes."
      : "Fix the cause that the provider names. The same request fails again.";
  }
  if (failure.kind !== "rate-limited") return REMEDIES[failure.kind];
  const { delayMs } = failure;
  return delayMs === undefined
    ? "Try again in a few minutes."
    : `Try again in ${Math.ceil(delayMs / 1_000)} s.`;
}
