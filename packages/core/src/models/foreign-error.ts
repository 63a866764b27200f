import { field, isRecord, type JsonRecord, parseJson, stringField } from "../messages/untrusted.ts";
import { abortedError } from "./abortable.ts";
import { chain, modelErrorOf } from "./ai-sdk-failure.ts";
import { modelErrorFrom } from "./anthropic-failure.ts";
import { ModelError } from "./model-error.ts";
import type { ModelRequest } from "./port.ts";

export interface ForeignCall {
  /** Model name for the error message. */
  readonly model?: string | undefined;
  /** The request. No part of it may appear in an error. */
  readonly request?: ModelRequest | undefined;
}

/** See the public `failureOf` in failure-of.ts. */
export function failureOf(error: unknown, call: ForeignCall = {}): ModelError | undefined {
  try {
    const links = linksOf(error);
    const ours = links.find((link) => link instanceof ModelError);
    if (ours !== undefined) return ours;
    if (links.some(isAbort)) return abortedError();
    // The provider's answer is more specific than the text of an error that wraps it.
    return firstFailure(links.filter(isAnswer), call) ?? firstFailure(links, call);
  } catch {
    return undefined;
  }
}

/**
 * Lists the error and everything inside it: its causes, and the errors of all attempts of a retry. The last
 * attempt comes first.
 */
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
    // An error without a status, a known code or a known text can be any unrelated error.
    const isUnknown = found.failure.kind === "other" && found.status === undefined;
    if (!isUnknown) return found;
  }
  return undefined;
}

function read(link: unknown, { model = "the model", request }: ForeignCall): ModelError {
  const state = { model, request, hasStarted: false, partial: [] };
  if (isAnthropic(link)) return modelErrorFrom(link, state);
  const plain = isRecord(link) ? plainForm(link) : link;
  return modelErrorOf(plain, state);
}

/** Returns true for a body in Anthropic's form, in an error of its SDK or directly from the stream. */
function isAnthropic(link: unknown): boolean {
  const body = stringField(link, "type") === "error" ? link : field(link, "error");
  return stringField(body, "type") === "error" && stringField(field(body, "error"), "type") !== undefined;
}

/**
 * Converts an error to the form of the AI SDK's errors. Other SDKs keep the body in an object (`error`,
 * `data`), in a `response`, or as JSON in the message. They also use other names for the status.
 */
function plainForm(link: JsonRecord): JsonRecord {
  const body = bodyIn(link);
  const status = statusOf(link);
  return {
    name: stringField(link, "name"),
    message: stringField(link, "message"),
    // Keeps the original error with its codes. The last of its causes has the network's error code.
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

/**
 * Parses the JSON in a message. Google's SDK uses the whole body as its message. Older versions of the SDK
 * put text before the JSON.
 */
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
