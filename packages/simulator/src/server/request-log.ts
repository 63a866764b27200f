import type { ApiVersion, JsonRecord } from "@longhaul/core/internal/messages";
import {
  type ApiRefusal,
  type CallPurpose,
  type ClientMarks,
  type Endpoint,
  isCallForAnswer,
  type ProviderName,
} from "../exchange.ts";
import type { Fault } from "./faults.ts";
import { usageFigures } from "./usage-figures.ts";

/** Current outcome of a request. */
export type Outcome =
  /** The request is still running, or it will never get an answer. */
  | "open"
  | "answered"
  /** A fault ended the connection in the middle of the answer. */
  | "cut"
  /** The client disconnected before the end. */
  | "abandoned";

/** One request as tests see it. */
export type LoggedRequest = Readonly<Omit<LogEntry, "workspace" | "wholeBody" | "forgetBody">>;

export interface LoggedError {
  readonly status: number;
  readonly type: string;
  readonly message: string;
  /** `error.details.error_code` of Anthropic, `error.code` of OpenAI. */
  readonly code: string | undefined;
  /** Name of the rule that the request broke. Undefined for triggered faults. */
  readonly rule: string | undefined;
}

export function loggedError({ status, type, message, details, rule }: ApiRefusal): LoggedError {
  const code = details?.error_code ?? details?.code;
  return { status, type, message, code: typeof code === "string" ? code : undefined, rule };
}

export interface LogTotals {
  readonly requests: number;
  readonly errors: number;
  /**
   * Number of requests that were refused because a thinking block was changed or does not match its
   * conversation.
   */
  readonly bindingRefusals: number;
  /**
   * Input tokens of all requests that ask the model for an answer. Requests that only count tokens are free
   * and not included.
   */
  readonly inputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
  readonly costDollars: number;
}

/**
 * Checks the body of a request with the request checker of its API. Returns undefined if the body alone is not
 * enough to judge it.
 */
export type RequestCheck = (body: JsonRecord, entry: LogEntry) => readonly Finding[] | undefined;

/** A problem that a request checker found. */
export interface Finding {
  /** Name of the rule. */
  readonly rule: string;
  /** Position in the body. */
  readonly path: string;
  readonly message: string;
}

/** Log record of a request. The parts of the server fill it in while they work. */
export class LogEntry {
  readonly index: number;
  readonly requestId: string;
  readonly provider: ProviderName;
  readonly endpoint: Endpoint;
  readonly method: string;
  readonly path: string;
  /** Start of the request in milliseconds, by the simulator's clock. */
  readonly startedAt: number;
  /** HTTP status of the answer. Undefined until the answer starts. */
  status: number | undefined;
  outcome: Outcome = "open";
  version: ApiVersion | undefined;
  workspace: string | undefined;
  betas: readonly string[] = [];
  /** Names in `betas` that the simulator does not know. The real API may refuse them. */
  unknownBetas: readonly string[] = [];
  model: string | undefined;
  client: ClientMarks = {};
  /** Purpose of the model call. Undefined if the request does not call a model or is malformed. */
  purpose: CallPurpose | undefined;
  isStream = false;
  /**
   * The body as the client sent it. Undefined for requests without a body. In a long run, only the newest
   * requests keep their bodies.
   */
  body: JsonRecord | undefined;
  /**
   * The body with the stored messages of its thread added. It is needed because the new messages alone would
   * break the rules of a conversation.
   */
  wholeBody: JsonRecord | undefined;
  /** Size of the body in bytes, before decompression. */
  bytes = 0;
  usage: JsonRecord | undefined;
  inputTokens: number | undefined;
  /** Cost of the call, including its compaction. Undefined if the model's prices are unknown. */
  costDollars: number | undefined;
  stopReason: string | undefined;
  appliedEdits: readonly JsonRecord[] = [];
  fault: Fault | undefined;
  error: LoggedError | undefined;
  /** Duration of the request in milliseconds of real time. */
  durationMs = 0;
  readonly #check: RequestCheck;
  #checked: readonly Finding[] | undefined;

  constructor(
    start: Pick<LogEntry, "index" | "requestId" | "provider" | "endpoint" | "method" | "path" | "startedAt">,
    check: RequestCheck,
  ) {
    this.#check = check;
    this.index = start.index;
    this.requestId = start.requestId;
    this.provider = start.provider;
    this.endpoint = start.endpoint;
    this.method = start.method;
    this.path = start.path;
    this.startedAt = start.startedAt;
  }

  /**
   * Findings of the request checker. They are computed at the first access, or before the body is dropped.
   * Undefined if the request has no body, or if the checker cannot judge it.
   */
  get findings(): readonly Finding[] | undefined {
    if (this.#checked === undefined && this.body !== undefined) {
      this.#checked = this.#check(this.wholeBody ?? this.body, this);
    }
    return this.#checked;
  }

  /** Drops the body. Computes the findings first, because they need the body. */
  forgetBody(): void {
    void this.findings;
    this.body = undefined;
    this.wholeBody = undefined;
  }
}

/**
 * Rules about thinking blocks that a client sent back. They are broken if the block or its conversation was
 * changed.
 */
const BINDING_RULES: readonly (string | undefined)[] = [
  "signatureInvalid",
  "latestThinkingModified",
  "thinkingBoundElsewhere",
];

/**
 * True if the refusal is about a thread. Such a refusal is not the client's fault, and the client sends the
 * whole conversation next.
 */
const isThreadRefusal = ({ code }: LoggedError): boolean => code?.startsWith("thread_") === true;

/**
 * True if the API refused the request because of its content, or if the request checker finds a problem. Refusals
 * that a test triggered and refusals of threads do not count.
 */
function isInvalid(entry: LogEntry): boolean {
  const { error, fault, findings } = entry;
  const isMalformed = error !== undefined && isForContent(error.status, entry);
  if (isMalformed && fault?.kind !== "status" && !isThreadRefusal(error)) return true;
  return findings !== undefined && findings.length > 0;
}

/** A call for an answer gets 404 if its model is unknown or retired, or if an item that it names does not exist. */
const isForContent = (status: number, entry: LogEntry): boolean =>
  status === 400 || status === 413 || (status === 404 && isCallForAnswer(entry));

const isBindingRefusal = ({ error }: LoggedRequest): boolean =>
  error !== undefined && BINDING_RULES.includes(error.rule);

/**
 * Number of invalid requests that the log keeps after it drops their neighbors. The first ones show the cause,
 * and a client that repeats an error would fill the memory.
 */
const KEPT_INVALID_REQUESTS = 1_000;

interface LogLimits {
  /** Number of newest requests that keep their bodies. */
  readonly keepBodies: number;
  /** Number of newest requests that the log keeps. */
  readonly keepRequests: number;
}

/**
 * Log of the requests since the start or the last reset. It keeps the newest requests and the first invalid
 * ones. Its totals include all requests.
 */
export class RequestLog {
  readonly #limits: LogLimits;
  /** The newest requests, oldest first. */
  #entries: LogEntry[] = [];
  /** Requests that were still running when the log dropped them. Their figures are not final. */
  #running = new Set<LogEntry>();
  #dropped = new DroppedRequests();

  constructor(limits: LogLimits) {
    this.#limits = limits;
  }

  add(entry: LogEntry): void {
    const { keepBodies, keepRequests } = this.#limits;
    this.#entries.push(entry);
    this.#entries[this.#entries.length - 1 - keepBodies]?.forgetBody();
    if (this.#entries.length <= keepRequests) return;
    const oldest = this.#entries.shift();
    if (oldest !== undefined) this.#running.add(oldest);
    this.#settle();
  }

  /** The newest requests, oldest first. The option `keepRequests` limits their number. */
  get all(): readonly LoggedRequest[] {
    return this.#entries;
  }

  /** Number of all requests, including those that the log no longer keeps. */
  get length(): number {
    return this.#dropped.totals.requests + this.#running.size + this.#entries.length;
  }

  get last(): LoggedRequest | undefined {
    return this.#entries.at(-1);
  }

  /** Requests in `all` that ask the model for an answer. */
  get messages(): readonly LoggedRequest[] {
    return this.#entries.filter(isCallForAnswer);
  }

  /**
   * Requests that were refused as invalid, or in which the request checker finds a problem. The list is empty
   * for a correct client. It excludes refusals that a test triggered, and refusals of threads. Of the requests
   * that are no longer in `all`, it contains the first 1,000.
   */
  get invalid(): readonly LoggedRequest[] {
    this.#settle();
    return [...this.#dropped.invalid, ...this.#unsettled.filter(isInvalid)];
  }

  /** Number of all invalid requests. */
  get invalidCount(): number {
    this.#settle();
    return this.#dropped.invalidCount + this.#unsettled.filter(isInvalid).length;
  }

  /**
   * Requests in `invalid` that were refused because a thinking block was changed or does not match its
   * conversation.
   */
  get bindingRefusals(): readonly LoggedRequest[] {
    this.#settle();
    return [...this.#dropped.invalid, ...this.#unsettled].filter(isBindingRefusal);
  }

  /** Figures of all requests, including those that the log no longer keeps. */
  get totals(): LogTotals {
    this.#settle();
    return this.#unsettled.map(figuresOf).reduce(sumOf, this.#dropped.totals);
  }

  clear(): void {
    this.#entries = [];
    this.#running = new Set();
    this.#dropped = new DroppedRequests();
  }

  /** Requests whose figures are not in the totals of the dropped requests. */
  get #unsettled(): readonly LogEntry[] {
    return [...this.#running, ...this.#entries];
  }

  #settle(): void {
    for (const entry of this.#running) {
      if (entry.outcome === "open") continue;
      this.#running.delete(entry);
      this.#dropped.add(entry);
    }
  }
}

/** Figures of the requests that the log no longer keeps. */
class DroppedRequests {
  totals: LogTotals = NO_REQUESTS;
  invalidCount = 0;
  readonly invalid: LogEntry[] = [];

  add(entry: LogEntry): void {
    entry.forgetBody();
    this.totals = sumOf(this.totals, figuresOf(entry));
    if (!isInvalid(entry)) return;
    this.invalidCount++;
    if (this.invalid.length < KEPT_INVALID_REQUESTS) this.invalid.push(entry);
  }
}

const NO_REQUESTS: LogTotals = Object.freeze({
  requests: 0,
  errors: 0,
  bindingRefusals: 0,
  inputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  costDollars: 0,
});

function figuresOf(entry: LogEntry): LogTotals {
  const { cacheRead, cacheWrite, output } = usageFigures(entry.usage);
  return {
    requests: 1,
    errors: entry.error === undefined ? 0 : 1,
    bindingRefusals: isBindingRefusal(entry) ? 1 : 0,
    inputTokens: isCallForAnswer(entry) ? (entry.inputTokens ?? 0) : 0,
    cacheReadTokens: cacheRead,
    cacheWriteTokens: cacheWrite,
    outputTokens: output,
    costDollars: entry.costDollars ?? 0,
  };
}

function sumOf(one: LogTotals, other: LogTotals): LogTotals {
  return {
    requests: one.requests + other.requests,
    errors: one.errors + other.errors,
    bindingRefusals: one.bindingRefusals + other.bindingRefusals,
    inputTokens: one.inputTokens + other.inputTokens,
    cacheReadTokens: one.cacheReadTokens + other.cacheReadTokens,
    cacheWriteTokens: one.cacheWriteTokens + other.cacheWriteTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    costDollars: one.costDollars + other.costDollars,
  };
}
