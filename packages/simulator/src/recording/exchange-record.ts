import { validateHeaderValue } from "node:http";
import { isNestedTooDeep, isRecord, type JsonRecord } from "@longhaul/core/internal/messages";

/** A request without keys. */
export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  /** Parameters in the order of their names. */
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The body, if it is JSON. */
  readonly json?: unknown;
  /** The body, if it is not JSON. */
  readonly text?: string;
}

/** An answer without keys. */
export interface RecordedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The body, if it is text. */
  readonly text?: string;
  /** The body in base64, if it is not text. */
  readonly base64?: string;
  /** True if the upstream ended the connection in the middle of the answer. */
  readonly cut?: true;
}

/** A request with its answer: one line of a recording. */
export interface RecordedExchange {
  readonly request: RecordedRequest;
  readonly answer: RecordedAnswer;
}

/** First line of a recording. It identifies the format. */
export const RECORDING_HEADER: JsonRecord = { type: "longhaul-recording", version: 1 };

export const isRecordingHeader = (line: unknown): boolean =>
  isRecord(line) && line.type === RECORDING_HEADER.type && line.version === RECORDING_HEADER.version;

/**
 * Checks the parsed JSON of a line. The file may come from anyone, so every field is checked. Returns the
 * reason if the line is not usable.
 */
export function checkedExchange(line: unknown): RecordedExchange | string {
  if (!isRecord(line)) return "it is not an object";
  if (isNestedTooDeep(line)) return "it is nested too deeply";
  const { request, answer } = line;
  if (!isRecord(request) || !isRecord(answer)) return 'it has no "request" or no "answer"';
  const problem = problemOfRequest(request) ?? problemOfAnswer(answer);
  // Every field of the type was checked.
  return problem ?? (line as unknown as RecordedExchange);
}

function problemOfRequest({ method, path, query, headers, text }: JsonRecord): string | undefined {
  if (typeof method !== "string" || typeof path !== "string" || typeof query !== "string")
    return "its request has no method, path or query";
  if (text !== undefined && typeof text !== "string") return "the text of its request is not a string";
  return problemOfHeaders(headers);
}

const FIRST_STATUS = 200;
const LAST_STATUS = 599;

/** True for a status that a client accepts as the status of a whole answer. */
export const isRecordableStatus = (status: unknown): boolean =>
  Number.isInteger(status) && Number(status) >= FIRST_STATUS && Number(status) <= LAST_STATUS;

function problemOfAnswer({ status, headers, text, base64, cut }: JsonRecord): string | undefined {
  if (!isRecordableStatus(status)) return `its status is not a number from ${FIRST_STATUS} to ${LAST_STATUS}`;
  const bodies = [text, base64].filter((body) => body !== undefined);
  if (bodies.length > 1 || !bodies.every((body) => typeof body === "string"))
    return "its answer has no usable body";
  if (cut !== undefined && cut !== true) return '"cut" is not true';
  return problemOfHeaders(headers);
}

function problemOfHeaders(headers: unknown): string | undefined {
  if (!isRecord(headers)) return "its headers are not an object";
  for (const [name, value] of Object.entries(headers)) {
    if (!isKeptHeader(name)) return `the header "${name}" is not allowed in a recording`;
    try {
      if (typeof value !== "string") return `the header "${name}" is not a string`;
      validateHeaderValue(name, value);
    } catch {
      return `the header "${name}" has an invalid value`;
    }
  }
  return undefined;
}

/**
 * Headers that a recording keeps. It keeps no others, because a new header might contain a key or the id of an
 * account.
 */
const KEPT_HEADERS: readonly RegExp[] = [
  /^content-type$/,
  /^anthropic-(?:version|beta|ratelimit-[a-z-]+)$/,
  /^openai-(?:beta|version|model|processing-ms)$/,
  /^x-ratelimit-[a-z-]+$/,
  /^retry-after(?:-ms)?$/,
  /^x-should-retry$/,
  /^(?:x-)?request-id$/,
];

const isKeptHeader = (name: string): boolean => KEPT_HEADERS.some((kept) => kept.test(name));

export function keptHeaders(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): Readonly<Record<string, string>> {
  const kept = Object.entries(headers).filter(([name, value]) => isKeptHeader(name) && value !== undefined);
  return Object.fromEntries(kept.map(([name, value]) => [name, String(value)]));
}
