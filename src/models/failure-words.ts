import type { ModelFailure, ModelFailureKind } from "./model-error.ts";

export interface FailureWords {
  readonly message: string;
  readonly remedy?: string;
}

/** What a person reads: what happened, in the provider's words where it had some, and what to do. */
export function failureWords(
  failure: ModelFailure,
  model: string,
  said: string | undefined,
  remedies: Remedies = {},
): FailureWords {
  const headline = HEADLINES[failure.kind](model);
  const remedy = remedies[failure.kind] ?? remedyFor(failure);
  return {
    message: said ? `${headline}: ${said}` : `${headline}.`,
    ...(remedy === undefined ? {} : { remedy }),
  };
}

/** What an adapter knows better: where its keys and its address come from. */
export type Remedies = Readonly<Partial<Record<ModelFailureKind, string>>>;

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
