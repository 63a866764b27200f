import {
  asList,
  field,
  firstString,
  isRecord,
  type JsonRecord,
  parseJson,
  stringField,
} from "../../../conversation/untrusted.ts";

/** What an error of the SDK, of a provider or of the network says, wherever it says it. */
export interface ErrorFacts {
  /** The class, such as `AI_APICallError`, where it has one. */
  readonly name: string;
  /** The provider's words if there are any, else the SDK's. */
  readonly message: string;
  readonly status: number | undefined;
  /** Every code and type that the error and its body name, in small letters. */
  readonly codes: readonly string[];
  /** The innermost record of the body that describes the failure. */
  readonly body: JsonRecord;
  readonly headers: Readonly<Record<string, string>>;
  readonly isRetryable: boolean | undefined;
}

export function readError(thrown: unknown): ErrorFacts {
  const error = lastTry(thrown);
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

/** A retry that gave up holds the failures of all tries; the last one counts. */
function lastTry(error: unknown): unknown {
  return field(error, "lastError") ?? error;
}

/** Bodies are `{error: {…}}`, `{error: "…"}`, the record itself, or a list with one of these (Google). */
function bodyOf(error: unknown): JsonRecord {
  const text = stringField(error, "responseBody");
  // What a provider sends in its stream comes as it is: no class, no body, the record itself.
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
  const details = [field(body, "details")].flatMap((value) => (Array.isArray(value) ? value : [value]));
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

/** An error and its causes: the network's code is at the end. */
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
