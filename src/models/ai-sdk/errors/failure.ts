import { stringField } from "../../../conversation/untrusted.ts";
import type { ModelFailure } from "../../model-error.ts";
import { delayIn } from "./delay.ts";
import { chain, type ErrorFacts } from "./read-error.ts";
import { tooLongIn } from "./too-long.ts";

export interface FailureContext {
  readonly model: string;
  /** Something of the answer had come: a broken connection then cuts it off. */
  readonly hasBegun: boolean;
}

/** What kind of failure an error is. The order matters: the surer signs come first. */
export function failureOf(facts: ErrorFacts, error: unknown, context: FailureContext): ModelFailure {
  if (facts.name === "AbortError" || facts.name === "ResponseAborted") return { kind: "aborted" };
  return (
    tooLongIn(facts) ??
    accessFailure(facts, context) ??
    contentFailure(facts) ??
    loadFailure(facts) ??
    connectionFailure(facts, error, context) ?? { kind: "other", retry: retryHelps(facts) }
  );
}

function accessFailure(facts: ErrorFacts, { model }: FailureContext): ModelFailure | undefined {
  const { name, status, message } = facts;
  if (/LoadAPIKeyError|AuthenticationError/.test(name)) return { kind: "authentication" };
  if (
    hasCode(
      facts,
      /^(api_key_invalid|invalid_api_key|authentication_error|permission_error|unauthenticated)$/,
    )
  ) {
    return { kind: "authentication" };
  }
  const isUnknown = /NoSuchModelError|ModelNotFoundError/.test(name) || hasCode(facts, /model_?not_?found/);
  if (isUnknown || status === 404 || UNKNOWN_MODEL.test(message)) return { kind: "unknown-model", model };
  return status === 401 || status === 403 ? { kind: "authentication" } : undefined;
}

const UNKNOWN_MODEL = /\bmodel\b[^.]{0,80}\b(does not exist|not found)\b|not a valid model id/i;

function contentFailure(facts: ErrorFacts): ModelFailure | undefined {
  const { status, message } = facts;
  if (hasCode(facts, /^invalid_encrypted_content$/) || FOREIGN_THINKING.test(message)) {
    return { kind: "thinking-mismatch" };
  }
  if (MISSING_THINKING.test(message)) return { kind: "thinking-missing" };
  const policy = facts.codes.find((code) => REFUSAL_CODES.test(code));
  if (policy !== undefined)
    return policy === "content_filter" ? { kind: "refused" } : { kind: "refused", category: policy };
  const isLarge = status === 413 || hasCode(facts, /^(request_too_large|string_above_max_length)$/);
  return isLarge || /payload size exceeds the limit/i.test(message) ? { kind: "too-large" } : undefined;
}

const FOREIGN_THINKING =
  /invalid `signature` in `thinking` block|thought[ _]signature is not valid|corrupted thought signature/i;
const MISSING_THINKING = /expected `thinking` or `redacted_thinking`, but found/i;
const REFUSAL_CODES =
  /content_filter|content_policy|responsibleaipolicy|data_inspection_failed|^invalid_prompt$/;

function loadFailure(facts: ErrorFacts): ModelFailure | undefined {
  const { status, message } = facts;
  // The month's money is spent: waiting does not bring it back.
  if (hasCode(facts, /insufficient_quota|billing|spend_limit/) || SPENT.test(message))
    return { kind: "other", retry: false };
  const delayMs = delayIn(facts);
  const delay = delayMs === undefined ? {} : { delayMs };
  if (status === 429 || hasCode(facts, /rate_limit|resource_exhausted|throttling/))
    return { kind: "rate-limited", ...delay };
  const isOverloaded =
    status === 503 || status === 529 || hasCode(facts, /overloaded|^unavailable$|^slow_down$/);
  return isOverloaded || /^\W*overloaded\W*$/i.test(message) ? { kind: "overloaded", ...delay } : undefined;
}

const SPENT = /reached your (?:specified )?api usage limits|credit balance is too low/i;

function connectionFailure(
  facts: ErrorFacts,
  error: unknown,
  { hasBegun }: FailureContext,
): ModelFailure | undefined {
  if (facts.status !== undefined) return undefined;
  const links = chain(error);
  const isBroken = links.some(
    (link) => NETWORK_CODE.test(stringField(link, "code") ?? "") || isNetworkTypeError(link),
  );
  if (isBroken || CONNECTION_TEXT.test(facts.message)) return { kind: hasBegun ? "cut-off" : "unreachable" };
  return UNFINISHED.test(facts.name) ? { kind: "cut-off" } : undefined;
}

const NETWORK_CODE = /^(E[A-Z_]+|UND_ERR_\w+|Connection(Refused|Closed)|FailedToOpenSocket|CERT_\w+)$/;
const CONNECTION_TEXT = /cannot connect to api|^terminated$|socket hang up|network error|fetch failed/i;
/** The SDK's names for an answer that ends before it is complete. */
const UNFINISHED = /InvalidResponseData|JSONParse|EmptyResponseBody|NoOutputGenerated|NoContentGenerated/;

const isNetworkTypeError = (link: unknown): boolean =>
  stringField(link, "name") === "TypeError" &&
  /fetch|network|terminated/i.test(stringField(link, "message") ?? "");

const hasCode = ({ codes }: ErrorFacts, pattern: RegExp): boolean => codes.some((code) => pattern.test(code));

function retryHelps({ status, isRetryable }: ErrorFacts): boolean {
  if (status === undefined) return isRetryable ?? false;
  return status === 408 || status === 409 || status >= 500;
}
