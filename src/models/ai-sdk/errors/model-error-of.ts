import type { ContentBlock } from "../../../conversation/message.ts";
import { failureWords } from "../../failure-words.ts";
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
  const { message, ...remedy } = failureWords(failure, state.model, said);
  return new ModelError(failure, message, { ...remedy, ...details, partial: state.partial });
}
