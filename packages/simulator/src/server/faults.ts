import type { JsonRecord } from "@longhaul/core/internal/messages";
import { createRandom, type Random } from "../demo/random.ts";
import { type Endpoint, isCallForAnswer } from "../exchange.ts";

/** Failures that a test can trigger. */
export type Fault =
  /** An error answer with this status and the text of the API. */
  | StatusFault
  /** An overload that is reported in the middle of a stream. Affects only streamed requests. */
  | { readonly kind: "overload-in-stream"; readonly afterEvents?: number }
  /**
   * Ends the connection after this number of body bytes. The default is 0, which ends the connection before
   * any answer.
   */
  | { readonly kind: "cut"; readonly afterBytes?: number }
  /** Accepts the request and never answers. */
  | { readonly kind: "silence" }
  | { readonly kind: "slow"; readonly firstByteMs?: number; readonly betweenEventsMs?: number }
  /** An event with incomplete JSON. Affects only streamed requests. */
  | { readonly kind: "malformed-stream"; readonly afterEvents?: number };

export interface StatusFault {
  readonly kind: "status";
  readonly status: number;
  /**
   * Seconds in the header `retry-after`. A 429 has this header by default. If the value is null, the header
   * is missing.
   */
  readonly retryAfter?: number | null;
  /** If true, a 429 says that the monthly budget is used up. In that case a retry does not help. */
  readonly spendLimit?: boolean;
  readonly type?: string;
  readonly message?: string;
}

/** Facts about a request that the condition of a fault can check. */
export interface FaultCandidate {
  readonly endpoint: Endpoint;
  readonly body: JsonRecord | undefined;
  readonly isStream: boolean;
  /** Number of earlier requests, including failed ones. */
  readonly index: number;
}

export interface FaultConditions {
  /**
   * Number of requests that the fault affects. The default is one. If there is a probability, the default is
   * no limit.
   */
  readonly times?: number;
  /** Selects the requests that the fault affects. Default: only requests that ask the model for an answer. */
  readonly when?: (candidate: FaultCandidate) => boolean;
  /** Probability from 0 to 1 that the fault affects a matching request. */
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

  /** Returns the first fault that matches the request, and reduces its remaining times by one. */
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

const STREAMS_ONLY: ReadonlySet<Fault["kind"]> = new Set(["overload-in-stream", "malformed-stream"]);

/** Default seconds in `retry-after` of a 429. The time is short, because clients really wait. */
const DEFAULT_RETRY_AFTER_SECONDS = 1;

/**
 * Returns the seconds for `retry-after`, or undefined for no header. If the budget is used up, there is no
 * header, because waiting does not help.
 */
export function retryAfterSeconds({ status, retryAfter, spendLimit }: StatusFault): number | undefined {
  if (spendLimit) return undefined;
  if (retryAfter === undefined && status === 429) return DEFAULT_RETRY_AFTER_SECONDS;
  return retryAfter ?? undefined;
}
