import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { RelayedCall } from "./relay.ts";
import { scrubBody } from "./scrub.ts";
import type { Json } from "./wire.ts";

/** A request of a real client with words of ours in place of its texts. */
export interface RecordedRequest {
  /** Name and version of the client. */
  readonly client: string;
  readonly path: string;
  /** Headers that decide which fields are known. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Json;
}

/** One line for each request. The lines are no JSON file, so the formatter leaves them alone. */
const FILE = fileURLToPath(new URL("../recorded-requests/requests.jsonl", import.meta.url));

const KEPT_HEADERS = ["anthropic-version", "anthropic-beta", "openai-beta"];
const MAX_REQUESTS_PER_CLIENT = 3;

/** Replaces the recorded requests of this client in the fixture. */
export function record(client: string, calls: readonly RelayedCall[]): void {
  const others = recordedRequests().filter((one) => one.client !== client);
  const all = [...others, ...selected(client, calls)];
  all.sort((one, other) => (one.client < other.client ? -1 : one.client > other.client ? 1 : 0));
  writeFileSync(FILE, all.map((one) => `${JSON.stringify(one)}\n`).join(""));
}

export function recordedRequests(): readonly RecordedRequest[] {
  const lines = readFileSync(FILE, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as RecordedRequest);
}

/** Selects the few requests that have a field, a type or a role that the earlier ones do not have. */
function selected(client: string, calls: readonly RelayedCall[]): readonly RecordedRequest[] {
  const seen = new Set<string>();
  const kept: RecordedRequest[] = [];
  for (const { method, path, headers, body, status } of calls) {
    if (method !== "POST" || body === undefined || status >= 400 || needsStored(body)) continue;
    const marks = [...features(body, "")];
    if (marks.every((mark) => seen.has(mark)) || kept.length === MAX_REQUESTS_PER_CLIENT) continue;
    for (const mark of marks) seen.add(mark);
    const short = kept.length === 0 ? body : withFewTools(body);
    kept.push({ client, path, headers: keptHeaders(headers), body: scrubBody(short) });
  }
  return kept;
}

/** True for a request that refers to parts of an earlier response, which only the provider knows. */
const needsStored = ({ previous_response_id, input }: Json): boolean =>
  typeof previous_response_id === "string" ||
  (Array.isArray(input) && input.some((item: Json) => item.type === "item_reference"));

/** Keeps two tools. The first request of the client has all of them, and their schemas are long. */
function withFewTools(body: Json): Json {
  return Array.isArray(body.tools) ? { ...body, tools: body.tools.slice(0, 2) } : body;
}

const keptHeaders = (headers: RelayedCall["headers"]): Record<string, string> =>
  Object.fromEntries(
    KEPT_HEADERS.flatMap((name) => {
      const value = headers[name];
      return typeof value === "string" ? [[name, value]] : [];
    }),
  );

/** Lists the paths of all fields without positions, and the values of `type` and `role`. */
function* features(value: unknown, at: string): Generator<string> {
  if (Array.isArray(value)) for (const one of value) yield* features(one, `${at}[]`);
  else if (typeof value === "object" && value !== null) {
    for (const [key, one] of Object.entries(value)) {
      // The inputs of calls differ, and the rules do not read them.
      if (key === "input" && at.endsWith("content[]")) continue;
      yield* features(one, `${at}.${key}`);
    }
  } else yield /\.(?:type|role)$/.test(at) ? `${at}=${value}` : at;
}
