import {
  asList,
  field,
  firstString,
  isRecord,
  type JsonRecord,
  listField,
  parseJson,
  stringField,
} from "../messages/untrusted.ts";
import { createModelError, type FailedCall, ModelError, type ModelFailure } from "./model-error.ts";
import { type Overflow, overflowIn } from "./overflow.ts";
import { headerDelayMs } from "./retry.ts";
import { sanitizeErrorText } from "./sanitize-error-text.ts";

/** Converts any error that the SDK throws or sends into a `ModelError`. */
export function modelErrorOf(error: unknown, state: FailedCall): ModelError {
  if (error instanceof ModelError) return error;
  const facts = readError(error);
  return createModelError(classifyError(facts, error, state), state.model, {
    providerMessage: messageToShow(facts, state),
    status: facts.status,
    requestId: facts.headers["x-request-id"] ?? facts.headers["request-id"],
    providerCode: facts.codes[0],
    partial: state.partial,
    cause: error,
  });
}

/**
 * Returns the message to show. Hides the SDK's own messages about invalid answers, because they quote the
 * answer at length.
 */
function messageToShow({ name, message }: ErrorFacts, { request }: FailedCall): string {
  const isAboutAnswer = /TypeValidationError|JSONParseError|InvalidResponseData/.test(name);
  return isAboutAnswer ? "the SDK could not read the answer." : sanitizeErrorText(message, request);
}

/** Classifies an error. The order matters: the more reliable signs come first. */
function classifyError(facts: ErrorFacts, error: unknown, state: FailedCall): ModelFailure {
  if (facts.name === "AbortError" || facts.name === "ResponseAborted") return { kind: "aborted" };
  return (
    overflowFailure(facts) ??
    accessFailure(facts, state) ??
    contentFailure(facts) ??
    loadFailure(facts) ??
    connectionFailure(facts, error, state) ?? { kind: "other", retry: retryHelps(facts) }
  );
}

function accessFailure(facts: ErrorFacts, { model }: FailedCall): ModelFailure | undefined {
  const { name, status, message } = facts;
  if (/LoadAPIKeyError|AuthenticationError/.test(name)) return { kind: "authentication" };
  if (hasCode(facts, KEY_CODES)) return { kind: "authentication" };
  const isUnknown = /NoSuchModelError|ModelNotFoundError/.test(name) || hasCode(facts, /model_?not_?found/);
  if (isUnknown || status === 404 || UNKNOWN_MODEL.test(message)) return { kind: "unknown-model", model };
  return status === 401 || status === 403 ? { kind: "authentication" } : undefined;
}

const KEY_CODES = /^(api_key_invalid|invalid_api_key|authentication_error|permission_error|unauthenticated)$/;
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
  // The budget of the account is spent, so a retry does not help.
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
  { hasStarted }: FailedCall,
): ModelFailure | undefined {
  if (facts.status !== undefined) return undefined;
  const links = chain(error);
  const isBroken = links.some(
    (link) => NETWORK_CODE.test(stringField(link, "code") ?? "") || isNetworkTypeError(link),
  );
  if (isBroken || CONNECTION_TEXT.test(facts.message))
    return { kind: hasStarted ? "cut-off" : "unreachable" };
  return UNFINISHED.test(facts.name) ? { kind: "cut-off" } : undefined;
}

const NETWORK_CODE = /^(E[A-Z_]+|UND_ERR_\w+|Connection(Refused|Closed)|FailedToOpenSocket|CERT_\w+)$/;
const CONNECTION_TEXT = /cannot connect to api|^terminated$|socket hang up|network error|fetch failed/i;
/** The SDK's error names for an incomplete answer. */
const UNFINISHED = /InvalidResponseData|JSONParse|EmptyResponseBody|NoOutputGenerated|NoContentGenerated/;

const isNetworkTypeError = (link: unknown): boolean =>
  stringField(link, "name") === "TypeError" &&
  /fetch|network|terminated/i.test(stringField(link, "message") ?? "");

const hasCode = ({ codes }: ErrorFacts, pattern: RegExp): boolean => codes.some((code) => pattern.test(code));

function retryHelps({ status, isRetryable }: ErrorFacts): boolean {
  if (status === undefined) return isRetryable ?? false;
  return status === 408 || status === 409 || status >= 500;
}

/** Codes of OpenAI and compatible servers, llama.cpp and Copilot. */
const OVERFLOW_CODES =
  /^(context_length_exceeded|exceed_context_size_error|model_max_prompt_tokens_exceeded)$/;
/** Status codes that never mean an overflow, whatever the text says. */
const OTHER_STATUS: ReadonlySet<number> = new Set([401, 402, 403, 404, 408, 502, 503, 504, 529]);

/**
 * Returns a failure if the error reports that the input does not fit. Checks the code first, then the text.
 */
function overflowFailure(facts: ErrorFacts): ModelFailure | undefined {
  const { status, message } = facts;
  if (hasCode(facts, OVERFLOW_CODES)) return { kind: "too-long", ...numbersIn(facts) };
  if (status !== undefined && OTHER_STATUS.has(status)) return undefined;
  // A request larger than the per-minute limit never succeeds. Other rate limits pass with time.
  if (status === 429 && !/request too large/i.test(message)) return undefined;
  const numbers = numbersIn(facts);
  return numbers === undefined ? undefined : { kind: "too-long", ...numbers };
}

function numbersIn({ message, body }: ErrorFacts): Overflow | undefined {
  // llama.cpp reports the figures in separate fields.
  const { n_prompt_tokens: tokens, n_ctx: limit } = body;
  if (typeof tokens === "number" && typeof limit === "number") return { tokens, limit };
  return overflowIn(message);
}

/** Returns the delay that the provider requests: in a header, in Google's error details, or in the text. */
function delayIn({ headers, body, message }: ErrorFacts): number | undefined {
  const byHeader = headerDelayMs((name) => headers[name]);
  if (byHeader !== undefined) return byHeader;
  const details = listField(body, "details").map((detail) => stringField(detail, "retryDelay"));
  const stated = details.find((delay) => delay !== undefined);
  const spoken = /(?:try again|retry) in ((?:[\d.]+ ?(?:ms|s|m|h)[a-z]* ?)+)/i.exec(message)?.[1];
  return durationMs(stated ?? "") ?? durationMs(spoken ?? "");
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Parses durations such as `7m12.5s`, `34.07s`, `20ms`, `5 seconds`. */
function durationMs(text: string): number | undefined {
  const parts = [...text.toLowerCase().matchAll(/([\d.]+) ?(ms|s|m|h)/g)];
  const total = parts.reduce((sum, [, amount, unit = ""]) => sum + Number(amount) * (UNIT_MS[unit] ?? 0), 0);
  return parts.length > 0 && Number.isFinite(total) ? Math.ceil(total) : undefined;
}

/** Facts from an error of the SDK, a provider or the network, wherever the error stores them. */
interface ErrorFacts {
  /** The class name, such as `AI_APICallError`, if the error has one. */
  readonly name: string;
  /** The provider's message if there is one, otherwise the SDK's. */
  readonly message: string;
  readonly status: number | undefined;
  /** Every code and type in the error and its body, in lower case. */
  readonly codes: readonly string[];
  /** The innermost record of the body that describes the failure. */
  readonly body: JsonRecord;
  readonly headers: Readonly<Record<string, string>>;
  readonly isRetryable: boolean | undefined;
}

function readError(thrown: unknown): ErrorFacts {
  // A retry error contains the errors of all attempts. The error of the last attempt counts.
  const error = field(thrown, "lastError") ?? thrown;
  const body = bodyOf(error);
  const own = isRecord(error) ? error : {};
  return {
    name: stringField(error, "name") ?? "",
    message: messageOf(error, body),
    status: statusOf(own, body),
    codes: codesOf(error, body),
    body,
    headers: headersOf(own.responseHeaders),
    isRetryable: typeof own.isRetryable === "boolean" ? own.isRetryable : undefined,
  };
}

/**
 * Returns the record that describes the failure. Bodies are `{error: {…}}`, `{error: "…"}`, the record
 * itself, or a list with one of these (Google).
 */
function bodyOf(error: unknown): JsonRecord {
  const text = stringField(error, "responseBody");
  // A provider's error inside a stream is the plain record, without a class or a body.
  const own = error instanceof Error ? undefined : error;
  const parsed = text === undefined ? (field(error, "data") ?? own) : parseJson(text);
  const body = Array.isArray(parsed) ? parsed[0] : parsed;
  for (const inner of [field(field(body, "response"), "error"), field(body, "error"), body]) {
    if (isRecord(inner)) return inner;
    if (typeof inner === "string") return { message: inner };
  }
  return {};
}

function messageOf(error: unknown, body: JsonRecord): string {
  const said = firstString(body, "message", "detail") ?? firstString(error, "message");
  return said ?? (typeof error === "string" ? error : "The provider gave no reason.");
}

function statusOf(error: JsonRecord, body: JsonRecord): number | undefined {
  const places = [error.statusCode, error.status, body.status, body.code, error.code];
  return places.map(Number).find((status) => Number.isInteger(status) && status >= 400 && status < 600);
}

function codesOf(error: unknown, body: JsonRecord): readonly string[] {
  const details = [field(body, "details")].flat();
  const found = [
    ...namedIn(body),
    ...details.flatMap((detail) => [stringField(detail, "error_code"), stringField(detail, "reason")]),
    ...namedIn(field(body, "innererror")),
    ...chain(error).flatMap(namedIn),
  ];
  return [...new Set(found.filter((code) => code !== undefined).map((code) => code.toLowerCase()))];
}

const namedIn = (value: unknown): readonly (string | undefined)[] =>
  ["code", "type", "status"].map((name) => stringField(value, name));

/** Lists an error and its causes. The last cause has the error code of the network. */
export function chain(error: unknown): readonly unknown[] {
  const links: unknown[] = [];
  for (let link = error; isRecord(link) && !links.includes(link); link = link.cause) {
    links.push(link, ...asList(link.errors));
  }
  return links;
}

function headersOf(headers: unknown): Readonly<Record<string, string>> {
  const pairs = isRecord(headers) ? Object.entries(headers) : [];
  return Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase(), String(value)]));
}
