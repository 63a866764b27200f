import type { JsonRecord } from "@longhaul/core/internal/messages";
import { CALL_PURPOSES } from "../exchange.ts";
import { ENDPOINT_NAMES } from "../server/fault-file.ts";
import type { LoggedRequest, RequestLog } from "../server/request-log.ts";
import { requestReport } from "../server/request-report.ts";
import { JournalError } from "./journal-error.ts";

/** Default and maximum number of requests in one answer. */
const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1_000;

/** Parameters whose value must equal a field of the request, with the possible values. */
const FILTERS = {
  provider: ["anthropic", "openai"],
  endpoint: ENDPOINT_NAMES,
  purpose: CALL_PURPOSES,
  model: undefined,
} as const satisfies Readonly<Partial<Record<keyof LoggedRequest, readonly string[] | undefined>>>;

const PARAMETERS = [...Object.keys(FILTERS), "since", "limit", "bodies"];

/** Returns one page of the requests that the log keeps. */
export function requestPage(log: RequestLog, query: URLSearchParams): JsonRecord {
  return { ...page(log.all, log, query), total: log.length, oldest: log.all[0]?.index ?? null };
}

export function invalidPage(log: RequestLog, query: URLSearchParams): JsonRecord {
  return { ...page(log.invalid, log, query), total: log.invalidCount };
}

export function oneRequest(log: RequestLog, id: string): JsonRecord {
  const index = Number(id);
  const found = [...log.all, ...log.invalid].find((request) => request.index === index);
  if (found !== undefined) return { ...requestReport(found), body: found.body ?? null };
  const oldest = log.all[0]?.index ?? 0;
  throw new JournalError(
    404,
    `The log has no request ${index}.`,
    `The log keeps requests ${oldest} to ${log.length - 1}. Set keepRequests to keep more.`,
  );
}

/** `next` is the value of `since` for the next page. At the end, it is the index of the next new request. */
function page(
  requests: readonly LoggedRequest[],
  log: RequestLog,
  query: URLSearchParams,
): { readonly requests: readonly JsonRecord[]; readonly next: number; readonly more: boolean } {
  const other = [...query.keys()].find((name) => !PARAMETERS.includes(name));
  if (other !== undefined) throw wrong(`unknown parameter "${other}"`);
  const repeated = PARAMETERS.find((name) => query.getAll(name).length > 1);
  if (repeated !== undefined) throw wrong(`${repeated} occurs more than once`);
  const since = countIn(query, "since", 0);
  const limit = Math.min(countIn(query, "limit", DEFAULT_LIMIT), MAX_LIMIT);
  // A client that reads page after page would never reach the end.
  if (limit === 0) throw wrong("limit must be at least 1");
  const fits = filterOf(query);
  const matching = requests.filter((request) => request.index >= since && fits(request));
  const shown = matching.slice(0, limit);
  const more = matching.length > shown.length;
  const withBodies = flagIn(query, "bodies");
  return {
    requests: shown.map((request) => ({
      ...requestReport(request),
      ...(withBodies && { body: request.body ?? null }),
    })),
    next: more ? (matching[shown.length]?.index ?? since) : log.length,
    more,
  };
}

function filterOf(query: URLSearchParams): (request: LoggedRequest) => boolean {
  const wanted = (Object.keys(FILTERS) as (keyof typeof FILTERS)[]).flatMap((name) => {
    const value = query.get(name);
    if (value === null) return [];
    const values: readonly string[] | undefined = FILTERS[name];
    if (values?.includes(value) === false) throw wrong(`${name} must be one of ${values.join(", ")}`);
    return [{ name, value }];
  });
  return (request) => wanted.every(({ name, value }) => request[name] === value);
}

function countIn(query: URLSearchParams, name: string, fallback: number): number {
  const text = query.get(name);
  if (text === null) return fallback;
  if (!/^\d{1,9}$/.test(text)) throw wrong(`${name} must be a whole number`);
  return Number(text);
}

function flagIn(query: URLSearchParams, name: string): boolean {
  const text = query.get(name);
  if (text === null) return false;
  if (text !== "true" && text !== "false") throw wrong(`${name} must be true or false`);
  return text === "true";
}

const wrong = (problem: string): JournalError =>
  new JournalError(400, `Invalid query: ${problem}.`, `Known parameters: ${PARAMETERS.join(", ")}.`);
