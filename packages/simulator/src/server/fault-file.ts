import { LonghaulError } from "@longhaul/core/errors";
import { type Endpoint, isCallForAnswer } from "../exchange.ts";
import { StrictJson } from "../strict-json.ts";
import type { Fault, FaultConditions } from "./faults.ts";

/** A fault with the conditions that JSON can express. */
export interface ParsedFault {
  readonly fault: Fault | number;
  readonly conditions: FaultConditions;
}

const EXAMPLE =
  'Write a fault such as {"fault": 529, "times": 2} or {"fault": {"kind": "cut", "afterBytes": 500}}.';

const read = new StrictJson(
  (problem) =>
    new LonghaulError("simulator-fault-invalid", `Invalid fault: ${problem}.`, { remedy: EXAMPLE }),
);

/** All endpoints. The type makes the compiler reject a table that lacks one. */
const ENDPOINTS: Readonly<Record<Endpoint, true>> = {
  messages: true,
  chat_completions: true,
  responses: true,
  count_tokens: true,
  compact: true,
  stored_response: true,
  models: true,
  other: true,
};
export const ENDPOINT_NAMES: readonly Endpoint[] = Object.keys(ENDPOINTS) as Endpoint[];

/** Parses one fault or a list of faults. Rejects unknown fields. */
export function parseFaults(json: unknown): readonly ParsedFault[] {
  return Array.isArray(json)
    ? json.map((one, index) => parseArmed(one, `faults[${index}]`))
    : [parseArmed(json, "body")];
}

/** Refuses a fault that would never strike. Without types, a mistake would leave the test without its fault. */
export function requireFault(fault: Fault | number, conditions: FaultConditions): void {
  parseFault(fault, "fault");
  const { when, times, probability } = read.record(conditions, "conditions", CONDITION_NAMES);
  if (times !== undefined && times !== Number.POSITIVE_INFINITY) read.count(times, "conditions.times", 1);
  if (probability !== undefined) shareIn(probability, "conditions.probability");
  if (when !== undefined && typeof when !== "function")
    throw read.wrong("conditions.when", "a function", when);
}

const CONDITION_NAMES = [
  "times",
  "when",
  "probability",
] as const satisfies readonly (keyof FaultConditions)[];

function parseArmed(value: unknown, at: string): ParsedFault {
  const fields = read.record(value, at, ["fault", "times", "probability", "endpoint", "model"]);
  const { fault, times, probability, endpoint, model } = fields;
  const wanted = endpoint === undefined ? undefined : read.oneOf(ENDPOINT_NAMES, endpoint, `${at}.endpoint`);
  const name = model === undefined ? undefined : read.text(model, `${at}.model`);
  return {
    fault: parseFault(fault, `${at}.fault`),
    conditions: {
      ...(times !== undefined && { times: read.count(times, `${at}.times`, 1) }),
      ...(probability !== undefined && { probability: shareIn(probability, `${at}.probability`) }),
      ...((wanted ?? name) !== undefined && { when: candidateTest(wanted, name) }),
    },
  };
}

/** Without an endpoint, the fault affects only requests that ask the model for an answer. */
const candidateTest =
  (endpoint: Endpoint | undefined, model: string | undefined): NonNullable<FaultConditions["when"]> =>
  (candidate) =>
    (endpoint === undefined ? isCallForAnswer(candidate) : candidate.endpoint === endpoint) &&
    (model === undefined || candidate.body?.model === model);

const LEAST_STATUS = 400;
const LARGEST_STATUS = 599;

function statusIn(value: unknown, at: string): number {
  const isStatus =
    Number.isInteger(value) && Number(value) >= LEAST_STATUS && Number(value) <= LARGEST_STATUS;
  if (!isStatus) throw read.wrong(at, `a status from ${LEAST_STATUS} to ${LARGEST_STATUS}`, value);
  return Number(value);
}

function secondsIn(value: unknown, at: string): number {
  const isTime = typeof value === "number" && Number.isFinite(value) && value >= 0;
  if (!isTime) throw read.wrong(at, "a number of seconds", value);
  return value;
}

function shareIn(value: unknown, at: string): number {
  const isShare = typeof value === "number" && value >= 0 && value <= 1;
  if (!isShare) throw read.wrong(at, "a number from 0 to 1", value);
  return value;
}

const KINDS = [
  "status",
  "overload-in-stream",
  "cut",
  "silence",
  "slow",
  "malformed-stream",
] as const satisfies readonly Fault["kind"][];

/** Number fields of the kinds whose fields are all numbers. */
const COUNTS: Readonly<Record<Exclude<Fault["kind"], "status">, readonly string[]>> = {
  "overload-in-stream": ["afterEvents"],
  "malformed-stream": ["afterEvents"],
  cut: ["afterBytes"],
  silence: [],
  slow: ["firstByteMs", "betweenEventsMs"],
};

function parseFault(value: unknown, at: string): Fault | number {
  if (typeof value === "number") return statusIn(value, at);
  if (typeof value !== "object" || value === null || !("kind" in value))
    throw read.wrong(at, "a status, or an object with a kind", value);
  const kind = read.oneOf(KINDS, value.kind, `${at}.kind`);
  if (kind === "status") return parseStatus(value, at);
  const { kind: _, ...counts } = read.record(value, at, ["kind", ...COUNTS[kind]]);
  const checked = Object.entries(counts).map(([name, count]) => {
    const place = `${at}.${name}`;
    return [name, kind === "slow" ? read.milliseconds(count, place) : read.count(count, place)];
  });
  return { kind, ...Object.fromEntries(checked) };
}

function parseStatus(value: unknown, at: string): Fault {
  const known = ["kind", "status", "retryAfter", "spendLimit", "type", "message"];
  const { status, retryAfter, spendLimit, type, message } = read.record(value, at, known);
  return {
    kind: "status",
    status: statusIn(status, `${at}.status`),
    ...(retryAfter !== undefined && {
      retryAfter: retryAfter === null ? null : secondsIn(retryAfter, `${at}.retryAfter`),
    }),
    ...(spendLimit !== undefined && { spendLimit: read.flag(spendLimit, `${at}.spendLimit`) }),
    ...(type !== undefined && { type: read.text(type, `${at}.type`) }),
    ...(message !== undefined && { message: read.text(message, `${at}.message`) }),
  };
}
