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

/** Every request since the start or the last reset. */
export class RequestLog {
  readonly #entries: LogEntry[] = [];
  readonly #keptBodies: number;

  constructor(keptBodies: number) {
    this.#keptBodies = keptBodies;
  }

  add(entry: LogEntry): void {
    this.#entries.push(entry);
    this.#entries[this.#entries.length - 1 - this.#keptBodies]?.forgetBody();
  }

  get all(): readonly LoggedRequest[] {
    return this.#entries;
  }

  get length(): number {
    return this.#entries.length;
  }

  get last(): LoggedRequest | undefined {
    return this.#entries.at(-1);
  }

  /** Requests that ask the model for an answer. */
  get messages(): readonly LoggedRequest[] {
    return this.#entries.filter(isCallForAnswer);
  }

  /**
   * Requests that were refused as invalid, or in which the request checker finds a problem. The list is empty
   * for a correct client. It excludes refusals that a test triggered, and refusals of threads.
   */
  get invalid(): readonly LoggedRequest[] {
    return this.#entries.filter(({ error, fault, findings }) => {
      const isMalformed = error?.status === 400 && fault?.kind !== "status" && !isThreadRefusal(error);
      return isMalformed || (findings !== undefined && findings.length > 0);
    });
  }

  /** Requests that were refused because a thinking block was changed or does not match its conversation. */
  get bindingRefusals(): readonly LoggedRequest[] {
    return this.#entries.filter(({ error }) => error !== undefined && BINDING_RULES.includes(error.rule));
  }

  get totals(): LogTotals {
    const sum = (read: (entry: LogEntry) => unknown): number =>
      this.#entries.reduce((total, entry) => {
        const value = read(entry);
        return total + (typeof value === "number" ? value : 0);
      }, 0);
    return {
      requests: this.#entries.length,
      errors: this.#entries.filter(({ error }) => error !== undefined).length,
      bindingRefusals: this.bindingRefusals.length,
      inputTokens: sum((entry) => (isCallForAnswer(entry) ? entry.inputTokens : 0)),
      cacheReadTokens: sum(({ usage }) => usage?.cache_read_input_tokens),
      cacheWriteTokens: sum(({ usage }) => usage?.cache_creation_input_tokens),
      outputTokens: sum(({ usage }) => usage?.output_tokens),
      costDollars: sum(({ costDollars }) => costDollars),
    };
  }

  clear(): void {
    this.#entries.length = 0;
  }
}
