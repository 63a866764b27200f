import { field, isRecord, type JsonRecord, parseJson, stringField } from "../messages/untrusted.ts";
import { abortedError } from "./abortable.ts";
import { chain, modelErrorOf } from "./ai-sdk-failure.ts";
import { modelErrorFrom } from "./anthropic-failure.ts";
import { ModelError } from "./model-error.ts";
import type { ModelRequest } from "./port.ts";

export interface ForeignCall {
  /** For the words of the error. */
  readonly model?: string | undefined;
  /** The request: none of it may show in an error. */
  readonly request?: ModelRequest | undefined;
}

/**
 * The failure in whatever a host's own client has thrown: Anthropic's, OpenAI's or Google's SDK, the AI SDK, or
 * something of the host's around one of these. Undefined where it is no failure of a model call. Never throws,
 * since what is read here may be anything, with getters that throw themselves.
 */
export function failureOf(error: unknown, call: ForeignCall = {}): ModelError | undefined {
  try {
    const links = linksOf(error);
    const ours = links.find((link) => link instanceof ModelError);
    if (ours !== undefined) return ours;
    if (links.some(isAbort)) return abortedError();
    // An answer of the provider says more than the words that somebody has put around it.
    return firstFailure(links.filter(isAnswer), call) ?? firstFailure(links, call);
  } catch {
    return undefined;
  }
}

/** The error and what is inside it: causes, the tries of a retry with the last one first. */
function linksOf(error: unknown): readonly unknown[] {
  if (!isRecord(error)) return typeof error === "string" ? [error] : [];
  return chain(error).flatMap((link) => {
    const last = field(link, "lastError");
    return last === undefined ? [link] : [...chain(last), link];
  });
}

const isAbort = (link: unknown): boolean =>
  /^(AbortError|APIUserAbortError)$/.test(stringField(link, "name") ?? "");

const isAnswer = (link: unknown): boolean => statusOf(link) !== undefined || bodyIn(link) !== undefined;

function firstFailure(links: readonly unknown[], call: ForeignCall): ModelError | undefined {
  for (const link of links) {
    const found = read(link, call);
    // Neither a status nor a code nor words that we know: any error at all would look like this.
    const isUnknown = found.failure.kind === "other" && found.status === undefined;
    if (!isUnknown) return found;
  }
  return undefined;
}

function read(link: unknown, { model = "the model", request }: ForeignCall): ModelError {
  const state = { model, request, hasBegun: false, partial: [] };
  if (isAnthropic(link)) return modelErrorFrom(link, state);
  const plain = isRecord(link) ? plainForm(link) : link;
  return modelErrorOf(plain, state);
}

/** Anthropic's form of a body, in an error of its SDK or as it came in the stream. */
function isAnthropic(link: unknown): boolean {
  const body = stringField(link, "type") === "error" ? link : field(link, "error");
  return stringField(body, "type") === "error" && stringField(field(body, "error"), "type") !== undefined;
}

/**
 * In the form that the AI SDK's errors have. Others have the body as an object (`error`, `data`), inside a
 * `response`, or as JSON within the message, and the status under other names.
 */
function plainForm(link: JsonRecord): JsonRecord {
  const body = bodyIn(link);
  const status = statusOf(link);
  return {
    name: stringField(link, "name"),
    message: stringField(link, "message"),
    // The original stays within reach, with its own codes and, at its end, the network's.
    cause: link,
    isRetryable: link.isRetryable,
    ...(status === undefined ? {} : { statusCode: status }),
    ...(body === undefined ? {} : { data: body }),
    responseHeaders: headersIn(link),
  };
}

function statusOf(link: unknown): number | undefined {
  const places = [
    field(link, "statusCode"),
    field(link, "status"),
    field(field(link, "response"), "status"),
    field(field(link, "$metadata"), "httpStatusCode"),
  ];
  const isFailure = (status: unknown): status is number =>
    typeof status === "number" && Number.isInteger(status) && status >= 400 && status < 600;
  return places.find(isFailure);
}

function bodyIn(link: unknown): unknown {
  const text = stringField(link, "responseBody");
  const bodies = [
    text === undefined ? undefined : parseJson(text),
    field(link, "data"),
    field(link, "error"),
    field(field(link, "response"), "data"),
    jsonIn(stringField(link, "message") ?? ""),
  ];
  return bodies.find((body) => isRecord(body) || Array.isArray(body));
}

/** Google's SDK has the whole body as its message; older versions have words before it. */
function jsonIn(message: string): unknown {
  const start = message.indexOf("{");
  return start < 0 ? undefined : parseJson(message.slice(start));
}

function headersIn(link: JsonRecord): JsonRecord {
  for (const headers of [link.responseHeaders, link.headers, field(link.response, "headers")]) {
    if (headers instanceof Headers) return Object.fromEntries(headers);
    if (isRecord(headers)) return headers;
  }
  return {};
}
