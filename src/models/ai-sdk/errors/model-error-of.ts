import type { ContentBlock } from "../../../conversation/block.ts";
import { ModelError, type ModelErrorDetails, type ModelFailure } from "../../model-error.ts";
import type { ModelRequest } from "../../port.ts";
import { fitToShow } from "../../provider-words.ts";
import { failureOf } from "./failure.ts";
import { type ErrorFacts, readError } from "./read-error.ts";

export interface CallState {
  readonly model: string;
  readonly hasBegun: boolean;
  readonly partial: readonly ContentBlock[];
  /** What was asked: none of it may show in an error. */
  readonly request?: ModelRequest | undefined;
}

/** Whatever the SDK threw or sent as an error, as a failure of the port. */
export function modelErrorOf(error: unknown, state: CallState): ModelError {
  if (error instanceof ModelError) return error;
  const facts = readError(error);
  const failure = failureOf(facts, error, state);
  const requestId = facts.headers["x-request-id"] ?? facts.headers["request-id"];
  return callError(failure, state, {
    cause: error,
    ...(facts.status === undefined ? {} : { status: facts.status }),
    ...(requestId === undefined ? {} : { requestId }),
    ...(facts.codes[0] === undefined ? {} : { providerCode: facts.codes[0] }),
    said: saidIn(facts, state),
  });
}

/** The SDK's own complaints about an answer quote it at length. */
function saidIn({ name, message }: ErrorFacts, { request }: CallState): string {
  const isAboutAnswer = /TypeValidationError|JSONParseError|InvalidResponseData/.test(name);
  return isAboutAnswer ? "the SDK could not read the answer." : fitToShow(message, request);
}

/** A failure with words for people; `said` are the provider's. */
export function callError(
  failure: ModelFailure,
  state: CallState,
  { said, ...details }: ModelErrorDetails & { readonly said?: string } = {},
): ModelError {
  const headline = HEADLINES[failure.kind](state.model);
  const message = said === undefined || said === "" ? headline : `${headline} It was said: ${said}`;
  const remedy = REMEDIES[failure.kind];
  return new ModelError(failure, message, {
    ...(remedy === undefined ? {} : { remedy }),
    ...details,
    partial: state.partial,
  });
}

const HEADLINES: Readonly<Record<ModelFailure["kind"], (model: string) => string>> = {
  "too-long": (model) => `The request is longer than the window of ${model}.`,
  "too-large": (model) => `The request has too many bytes for ${model}.`,
  overloaded: (model) => `${model} is overloaded.`,
  "rate-limited": (model) => `The rate limit of ${model} is reached.`,
  authentication: (model) => `${model} may not be used with this key, or there is none.`,
  "unknown-model": (model) => `The provider does not know the model ${model}.`,
  refused: (model) => `${model} declined to answer.`,
  "cut-off": (model) => `The answer of ${model} ended in the middle.`,
  aborted: () => "The call was aborted.",
  unreachable: (model) => `The provider of ${model} cannot be reached.`,
  "thinking-mismatch": (model) => `${model} did not recognise the thinking that was sent back to it.`,
  "sdk-missing": () => "The AI SDK is not installed.",
  other: (model) => `The call of ${model} failed.`,
};

const REMEDIES: Readonly<Partial<Record<ModelFailure["kind"], string>>> = {
  authentication: "Check the provider's API key, in the environment or where the model is made.",
  "unknown-model": "Check the name of the model and the address of the provider.",
  unreachable: "Check the network and the address of the provider.",
};
