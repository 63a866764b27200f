import type { JsonRecord } from "@longhaul/core/internal/messages";
import { createRandom, type Random } from "../demo/random.ts";
import { ApiRefusal } from "../exchange.ts";
import { refusal } from "../wording/refuse.ts";
import type { TextName } from "../wording/texts.ts";

/** What can go wrong on purpose. */
export type Fault =
  /** An answer with this status, in the words of the API. */
  | StatusFault
  /** A stream that begins well and then says that the service is overloaded. Streams only. */
  | { readonly kind: "overload-in-stream"; readonly afterEvents?: number }
  /** The connection ends after so many bytes of the body; with 0 before anything was answered. */
  | { readonly kind: "cut"; readonly afterBytes?: number }
  /** The request is taken and never answered. */
  | { readonly kind: "silence" }
  | { readonly kind: "slow"; readonly firstByteMs?: number; readonly betweenEventsMs?: number }
  /** An event whose data is torn JSON. Streams only. */
  | { readonly kind: "malformed-stream"; readonly afterEvents?: number };

export interface StatusFault {
  readonly kind: "status";
  readonly status: number;
  /** Seconds, sent as `retry-after`; a 429 has it unless this is null. */
  readonly retryAfter?: number | null;
  /** A 429 that no waiting helps against: the month's budget is used up. */
  readonly spendLimit?: boolean;
  readonly type?: string;
  readonly message?: string;
}

/** What a condition may look at. */
export interface FaultCandidate {
  readonly endpoint: string;
  readonly body: JsonRecord | undefined;
  readonly isStream: boolean;
  /** How many requests came before this one, whatever became of them. */
  readonly index: number;
}

export interface FaultConditions {
  /** How often it strikes before it is used up; once unless said otherwise, and without end with a probability. */
  readonly times?: number;
  /** Without it, every call for an answer of the model may be struck, and no other request. */
  readonly when?: (candidate: FaultCandidate) => boolean;
  /** Strikes so many of the requests it could strike, from 0 to 1. */
  readonly probability?: number;
}

interface ArmedFault {
  readonly fault: Fault;
  readonly conditions: FaultConditions;
  remaining: number;
}

const PROBABILITY_STEPS = 1_000_000;

/** The faults that wait for a request, in the order in which they were asked for. */
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

  /** The first that strikes; it is one less from then on. */
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

/** Seconds that a 429 asks to wait for unless the test says otherwise. Short, since clients really wait. */
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

/** Every status that the API has words for. */
export const FAULT_STATUSES: readonly number[] = [...Object.keys(TEXT_OF_STATUS).map(Number), 429];

/** A status on demand, in the API's words for it unless the fault has its own. */
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

/** No waiting helps against a spent budget, so its refusal names none. */
function retryAfter({ status, retryAfter, spendLimit }: StatusFault): number | undefined {
  if (spendLimit) return undefined;
  if (retryAfter === undefined && status === 429) return DEFAULT_RETRY_AFTER_SECONDS;
  return retryAfter ?? undefined;
}
