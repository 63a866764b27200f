import { field, stringField } from "../messages/untrusted.ts";
import {
  createModelError,
  type FailedCall,
  ModelError,
  type ModelFailure,
  type Remedies,
} from "./model-error.ts";
import { overflowIn } from "./overflow.ts";
import { headerDelayMs } from "./retry.ts";
import { sanitizeErrorText } from "./sanitize-error-text.ts";

/** Converts anything that a call threw into a `ModelError`. Never called for an abort. */
export function modelErrorFrom(thrown: unknown, call: FailedCall): ModelError {
  if (thrown instanceof ModelError) return thrown;
  const wire = readWireError(thrown);
  const failure = wire.isAnswer ? answerFailure(wire, call.model) : failureWithoutAnswer(thrown, wire, call);
  return createModelError(failure, call.model, {
    providerMessage: sanitizeErrorText(wire.text, call.request, call.secrets),
    remedies: REMEDIES,
    status: wire.status,
    requestId: wire.requestId,
    providerCode: wire.code ?? wire.type,
    partial: [...call.partial],
    cause: thrown,
  });
}

const REMEDIES: Remedies = {
  authentication:
    "Set ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN) to a key that may use this model, or pass apiKey or a client.",
  unreachable: "Check the network and the address (baseURL, ANTHROPIC_BASE_URL).",
};

/**
 * Texts of failures that no status or code identifies. `overflow.ts` has the texts of an overflow, because
 * other providers use similar texts. If the provider changes a text, the failure gets the kind `other`.
 */
const WORDS = {
  tooMuchMedia: /too much media|image exceeds .* maximum|maximum of \d+ pdf pages|too many images/i,
  thinkingMismatch:
    /invalid `signature` in `(?:redacted_)?thinking` block|blocks in the latest assistant message cannot be modified|bound to a different conversation/i,
  thinkingMissing: /expected `thinking` or `redacted_thinking`, but found/i,
  spendLimit: /reached your (?:specified )?api usage limits|spend limit|credit balance is too low/i,
  noCredentials: /could not resolve authentication method|`apiKey` function|api key is required/i,
  aboutModel: /\bmodel\b/i,
};

/**
 * Classifies an error answer by its status or its type. One of them is enough, because an error inside a
 * stream has only the type, and some proxies send only the status.
 */
function answerFailure(wire: WireError, model: string): ModelFailure {
  const is = (status: number, type: string): boolean => wire.status === status || wire.type === type;
  if (is(529, "overloaded_error")) return { kind: "overloaded", ...delayOf(wire) };
  if (is(429, "rate_limit_error")) return rateLimit(wire);
  if (is(413, "request_too_large")) return { kind: "too-large" };
  if (is(401, "authentication_error") || is(403, "permission_error")) return { kind: "authentication" };
  if (is(404, "not_found_error") && wire.code === undefined && WORDS.aboutModel.test(wire.text)) {
    return { kind: "unknown-model", model };
  }
  return (
    (isInputRefusal(wire) ? inputFailure(wire) : undefined) ?? { kind: "other", retry: isTemporary(wire) }
  );
}

/**
 * Returns true if the error can mean a full window. Servers of other vendors report a full window with
 * various statuses.
 */
const isInputRefusal = ({ status, type }: WireError): boolean =>
  status === 400 || status === 422 || status === 500 || type === "invalid_request_error";

/** Error codes of other failures. With such a code, the error text is not read. */
const OTHER_CODES = /^(?:compaction|thread|tool|available_tools|request_body)_/;

function inputFailure({ code, text }: WireError): ModelFailure | undefined {
  if (code !== undefined && OTHER_CODES.test(code)) return undefined;
  const overflow = overflowIn(text);
  if (overflow !== undefined) return { kind: "too-long", ...overflow };
  if (WORDS.thinkingMismatch.test(text)) return { kind: "thinking-mismatch" };
  if (WORDS.thinkingMissing.test(text)) return { kind: "thinking-missing" };
  if (WORDS.tooMuchMedia.test(text)) return { kind: "too-large" };
  return undefined;
}

/** Classifies a rate limit. A spend limit has the same status as a rate limit, but waiting does not help. */
function rateLimit(wire: WireError): ModelFailure {
  const isSpent =
    wire.code === undefined ? WORDS.spendLimit.test(wire.text) : wire.code === "enforced_spend_limit_reached";
  return isSpent ? { kind: "other", retry: false } : { kind: "rate-limited", ...delayOf(wire) };
}

function delayOf(wire: WireError): { readonly delayMs?: number } {
  const delayMs = headerDelayMs(wire.header);
  return delayMs === undefined ? {} : { delayMs };
}

/**
 * Returns true if a retry can help. The server's retry header decides first. Without it, the status decides:
 * timeouts, conflicts and server errors are temporary. Without a status, the type of the error decides.
 */
function isTemporary({ status, type, header }: WireError): boolean {
  const advice = header("x-should-retry");
  if (advice === "true" || advice === "false") return advice === "true";
  if (status === undefined) return type === "api_error" || type === "timeout_error";
  return status === 408 || status === 409 || status >= 500;
}

function failureWithoutAnswer(thrown: unknown, wire: WireError, call: FailedCall): ModelFailure {
  if (WORDS.noCredentials.test(wire.text)) return { kind: "authentication" };
  if (call.hasStarted) return { kind: "cut-off" };
  return isConnectionError(thrown) ? { kind: "unreachable" } : { kind: "other", retry: false };
}

/**
 * Returns true for a connection error. Connection errors of the SDK are API errors without a status. `fetch`
 * itself throws a TypeError with a cause.
 */
function isConnectionError(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false;
  if ("status" in thrown && "requestID" in thrown) return true;
  return thrown instanceof TypeError && field(thrown, "cause") instanceof Error;
}

/** Facts of an error from any version of the SDK. */
interface WireError {
  readonly status: number | undefined;
  /** `error.type` in the body, such as `overloaded_error`. */
  readonly type: string | undefined;
  /** `error.details.error_code`: the stable name of the cause, if the error has one. */
  readonly code: string | undefined;
  /** The message of the provider or of the SDK. */
  readonly text: string;
  readonly requestId: string | undefined;
  /** True if the error came from the provider. Such an error has a status, or is an event of the stream. */
  readonly isAnswer: boolean;
  header(name: string): string | undefined;
}

function readWireError(thrown: unknown): WireError {
  const status = field(thrown, "status");
  // The SDK puts the body in `error`. If the SDK did not parse an event of the stream, the thrown value is
  // the body itself.
  const body = field(thrown, "type") === "error" ? thrown : field(thrown, "error");
  const error = field(body, "error") ?? body;
  const headers = field(thrown, "headers");
  return {
    status: typeof status === "number" ? status : undefined,
    type: stringField(error, "type"),
    code: stringField(field(error, "details"), "error_code"),
    text:
      stringField(error, "message") ?? (thrown instanceof Error ? deepestMessage(thrown) : String(thrown)),
    requestId: stringField(thrown, "requestID") ?? stringField(body, "request_id"),
    isAnswer: typeof status === "number" || field(body, "error") !== undefined,
    header: (name) => (headers instanceof Headers ? (headers.get(name) ?? undefined) : undefined),
  };
}

/**
 * Returns the error's message together with the message of its deepest cause. The SDK's "Connection error."
 * hides the system's message, for example that the connection was refused.
 */
function deepestMessage(error: Error): string {
  let deepest = error.message;
  let cause = error.cause;
  for (let depth = 0; depth < 5 && cause instanceof Error; depth++) {
    if (cause.message !== "") deepest = cause.message;
    cause = cause.cause;
  }
  return deepest === error.message ? deepest : `${error.message.replace(/\.$/, "")}: ${deepest}`;
}
