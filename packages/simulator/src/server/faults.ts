import type { JsonRecord } from "@longhaul/core/internal/messages";
import { createRandom, type Random } from "../demo/random.ts";
import { ApiRefusal } from "../exchange.ts";
import { refusal } from "../wording/refuse.ts";
import type { TextName } from "../wording/texts.ts";

/** Failures that a test can trigger. */
export type Fault =
  /** An answer with this status and the API's text. */
  | StatusFault
  /** A stream that starts normally and then reports an overload. Streams only. */
  | { readonly kind: "overload-in-stream"; readonly afterEvents?: number }
  /** Ends the connection after this number of body bytes. With 0, before any answer. */
  | { readonly kind: "cut"; readonly afterBytes?: number }
  /** Accepts the request and never answers. */
  | { readonly kind: "silence" }
  | { readonly kind: "slow"; readonly firstByteMs?: number; readonly betweenEventsMs?: number }
  /** An event with incomplete JSON. Streams only. */
  | { readonly kind: "malformed-stream"; readonly afterEvents?: number };

export interface StatusFault {
  readonly kind: "status";
  readonly status: number;
  /** Seconds, sent as `retry-after`. A 429 has it unless this is null. */
  readonly retryAfter?: number | null;
  /** A 429 that a retry cannot fix: the month's budget is used up. */
  readonly spendLimit?: boolean;
  readonly type?: string;
  readonly message?: string;
}

/** Facts that a condition can check. */
export interface FaultCandidate {
  readonly endpoint: string;
  readonly body: JsonRecord | undefined;
  readonly isStream: boolean;
  /** Number of earlier requests, whatever their outcome. */
  readonly index: number;
}

export interface FaultConditions {
  /** Number of times that it strikes. Default: once, or without limit if there is a probability. */
  readonly times?: number;
  /** Condition of the fault. Default: every call for an answer of the model, and no other request. */
  readonly when?: (candidate: FaultCandidate) => boolean;
  /** Probability from 0 to 1 that it strikes a matching request. */
  readonly probability?: number;
}

interface ArmedFault {
  readonly fault: Fault;
  readonly conditions: FaultConditions;
  remaining: number;
}

const PROBABILITY_STEPS = 1_000_000;

/** Pending faults, in the order of registration. */
export class Faults {
  readonly #random: Random;
  #armed: ArmedFault[] = [];

  constructor(seed: number) {
    this.#random = createRandom(seed);
  }

  arm(fault: Fault | number, conditions: FaultConditions = {}): void {
    const always = conditions.probability === undefined ? 1 : Number.POSITIVE_INFINITY;
    this.#armed.push({
      fault: typeof fault === "number" ? { kind: "status", status: fault } : fault,
      conditions,
      remaining: conditions.times ?? always,
    });
  }

  /** Returns the first fault that matches, and uses up one of its times. */
  strike(candidate: FaultCandidate): Fault | undefined {
    const struck = this.#armed.find((armed) => this.#strikes(armed, candidate));
    if (struck === undefined) return undefined;
    struck.remaining--;
    if (struck.remaining <= 0) this.#armed = this.#armed.filter((armed) => armed !== struck);
    return struck.fault;
  }

  clear(): void {
    this.#armed = [];
  }

  #strikes({ fault, conditions, remaining }: ArmedFault, candidate: FaultCandidate): boolean {
    if (remaining <= 0) return false;
    if (STREAMS_ONLY.has(fault.kind) && !candidate.isStream) return false;
    const isMeant = conditions.when ?? isCallForAnswer;
    if (!isMeant(candidate)) return false;
    if (conditions.probability === undefined) return true;
    return this.#random.between(1, PROBABILITY_STEPS) <= conditions.probability * PROBABILITY_STEPS;
  }
}

const isCallForAnswer = ({ endpoint }: FaultCandidate): boolean => endpoint === "messages";

const STREAMS_ONLY: ReadonlySet<Fault["kind"]> = new Set(["overload-in-stream", "malformed-stream"]);

/** Default wait of a 429 in seconds. Short, because clients really wait. */
const DEFAULT_RETRY_AFTER_SECONDS = 1;

const TEXT_OF_STATUS = {
  400: "badRequest",
  401: "keyInvalid",
  402: "noBilling",
  403: "noPermission",
  404: "notFound",
  408: "requestTimeout",
  409: "conflict",
  413: "tooManyBytes",
  500: "internalError",
  504: "timeout",
  529: "overloaded",
} as const satisfies Record<number, TextName>;

/** Every status that the API has a text for. */
export const FAULT_STATUSES: readonly number[] = [...Object.keys(TEXT_OF_STATUS).map(Number), 429];

/** Creates the refusal of a status fault, with the API's text unless the fault has its own. */
export function refusalOf(fault: StatusFault, organization: string, model: string): ApiRefusal {
  const { status, message, details, type } = wordsFor(fault, organization, model);
  const wait = retryAfter(fault);
  return new ApiRefusal(status, fault.type ?? type, fault.message ?? message, {
    ...(details === undefined ? {} : { details }),
    headers: wait === undefined ? {} : { "retry-after": String(wait) },
  });
}

function wordsFor({ status, spendLimit }: StatusFault, organization: string, model: string): ApiRefusal {
  if (status === 429)
    return spendLimit ? refusal("spendLimit") : refusal("rateLimit", { organization, model });
  const text = TEXT_OF_STATUS[status as keyof typeof TEXT_OF_STATUS];
  return text === undefined ? new ApiRefusal(status, "api_error", `Status ${status}`) : refusal(text);
}

/** Returns the wait time. Waiting does not help if the budget is used up, so that refusal has none. */
function retryAfter({ status, retryAfter, spendLimit }: StatusFault): number | undefined {
  if (spendLimit) return undefined;
  if (retryAfter === undefined && status === 429) return DEFAULT_RETRY_AFTER_SECONDS;
  return retryAfter ?? undefined;
}
