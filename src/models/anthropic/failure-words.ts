import type { ModelFailure } from "../model-error.ts";

export interface FailureWords {
  readonly message: string;
  readonly remedy: { readonly remedy?: string };
}

/** What a person reads: what happened, in the provider's words where it had some, and what to do. */
export function describeFailure(failure: ModelFailure, said: string, model: string): FailureWords {
  const [message, remedy] = words(failure, model, said);
  return { message, remedy: remedy === undefined ? {} : { remedy } };
}

type Words = readonly [message: string, remedy?: string];

function words(failure: ModelFailure, model: string, said: string): Words {
  switch (failure.kind) {
    case "too-long":
      return [`The conversation is too long for ${model}: ${said}`, "Compact it, then call again."];
    case "too-large":
      return [`The request is too large: ${said}`, "Take out pictures and documents, or compact it."];
    case "overloaded":
      return [`${model} is overloaded: ${said}`, "Try again in a while."];
    case "rate-limited":
      return [`Too many requests for ${model}: ${said}`, waitWords(failure.delayMs)];
    case "authentication":
      return [
        `Not allowed to call ${model}: ${said}`,
        "Set ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN) to a key that may use this model, or pass apiKey or a client.",
      ];
    case "unknown-model":
      return [`There is no model ${failure.model}: ${said}`, "Check the name against the provider's list."];
    case "unreachable":
      return [
        `No connection to the provider of ${model}: ${said}`,
        "Check the network and the address (baseURL, ANTHROPIC_BASE_URL).",
      ];
    case "cut-off":
      return [`The answer of ${model} broke off: ${said}`, "Try again."];
    case "thinking-mismatch":
      return [
        `${model} refuses thinking that was written after another history: ${said}`,
        "Leave the thinking out of the earlier messages.",
      ];
    default:
      return [`The call to ${model} failed: ${said}`];
  }
}

const waitWords = (delayMs: number | undefined): string =>
  delayMs === undefined ? "Try again in a while." : `Try again in ${Math.ceil(delayMs / 1_000)} s.`;
