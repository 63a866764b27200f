import type { ApiVersion } from "@longhaul/core/internal/messages";
import { type JsonRecord, stringField } from "@longhaul/core/internal/messages";
import type { ApiRequest } from "@longhaul/core/messages";
import type { CheckOptions, Finding } from "@longhaul/core/request";
import { checkRequest } from "@longhaul/core/request";
import type { ApiRefusal, CallPurpose, ClientMarks } from "../exchange.ts";
import type { TextName } from "../wording/texts.ts";
import type { Fault } from "./faults.ts";

export type Endpoint = "messages" | "count_tokens" | "models" | "other";

/** What became of a request so far. */
export type Outcome =
  /** Not yet at its end, or silent for ever. */
  | "open"
  | "answered"
  /** By a fault: we ended the connection in the middle. */
  | "cut"
  /** The client went away before the end. */
  | "abandoned";

/** One request as tests read it. */
export type LoggedRequest = Readonly<
  Omit<LogEntry, "workspace" | "checkOptions" | "wholeBody" | "forgetBody">
>;

export interface LoggedError {
  readonly status: number;
  readonly type: string;
  readonly message: string;
  /** `error.details.error_code`. */
  readonly code: string | undefined;
  /** The simulator's name for the rule that the request broke; undefined for faults on demand. */
  readonly rule: string | undefined;
}

export function loggedError({ status, type, message, details, rule }: ApiRefusal): LoggedError {
  const code = details?.error_code;
  return { status, type, message, code: typeof code === "string" ? code : undefined, rule };
}

export interface LogTotals {
  readonly requests: number;
  readonly errors: number;
  /** Refusals of thinking that is not bound to the history it was sent in. */
  readonly bindingRefusals: number;
  /** Of calls for an answer; counting alone is free. */
  readonly inputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
  readonly costDollars: number;
}

/** The log's own view of a request: the parts of the server fill it in while they work. */
export class LogEntry {
  readonly index: number;
  readonly requestId: string;
  readonly endpoint: Endpoint;
  readonly method: string;
  readonly path: string;
  /** By the simulator's clock, in milliseconds. */
  readonly startedAt: number;
  /** Undefined as long as nothing was answered. */
  status: number | undefined;
  outcome: Outcome = "open";
  version: ApiVersion | undefined;
  workspace: string | undefined;
  betas: readonly string[] = [];
  /** Names in `betas` that the simulator does not know. The real API may refuse them. */
  unknownBetas: readonly string[] = [];
  model: string | undefined;
  client: ClientMarks = {};
  /** Undefined for requests that are no calls of a model, and for malformed ones. */
  purpose: CallPurpose | undefined;
  isStream = false;
  /** As sent. Undefined for requests without one, and for all but the newest ones of a long run. */
  body: JsonRecord | undefined;
  /** The body with all that a thread keeps of the conversation: by itself, what is new breaks every rule. */
  wholeBody: JsonRecord | undefined;
  /** Of the body as it came over the wire. */
  bytes = 0;
  usage: JsonRecord | undefined;
  inputTokens: number | undefined;
  /** Calls inside the call included. Undefined where the model's prices are not known. */
  costDollars: number | undefined;
  stopReason: string | undefined;
  appliedEdits: readonly JsonRecord[] = [];
  fault: Fault | undefined;
  error: LoggedError | undefined;
  /** In real time. */
  durationMs = 0;
  checkOptions: CheckOptions = {};
  #checked: readonly Finding[] | undefined;

  constructor(start: Pick<LogEntry, "index" | "requestId" | "endpoint" | "method" | "path" | "startedAt">) {
    this.index = start.index;
    this.requestId = start.requestId;
    this.endpoint = start.endpoint;
    this.method = start.method;
    this.path = start.path;
    this.startedAt = start.startedAt;
  }

  /**
   * What the checker of requests finds in it; looked for when first asked, or when the body is given up.
   * Undefined for requests without one, and for what was to continue a thread that nobody keeps.
   */
  get findings(): readonly Finding[] | undefined {
    const body = this.wholeBody ?? (isContinuation(this.body) ? undefined : this.body);
    if (this.#checked === undefined && body !== undefined) {
      this.#checked = checkRequest(body as unknown as ApiRequest, this.checkOptions).findings;
    }
    return this.#checked;
  }

  /** What can be found in it is looked for now: afterwards nobody could. */
  forgetBody(): void {
    void this.findings;
    this.body = undefined;
    this.wholeBody = undefined;
  }
}

const isContinuation = (body: JsonRecord | undefined): boolean =>
  stringField(body?.thread, "type") === "continue";

/** Rules on thinking that came back changed, or after another history. */
const BINDING_RULES: readonly (string | undefined)[] = [
  "signatureInvalid",
  "latestThinkingModified",
  "thinkingBoundElsewhere",
] satisfies readonly TextName[];

/** A client that offers a thread and is refused sends the whole conversation next: that is how it is meant. */
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

  /** Only the calls for an answer of the model. */
  get messages(): readonly LoggedRequest[] {
    return this.#entries.filter(({ endpoint }) => endpoint === "messages");
  }

  /**
   * Requests that the API refused as malformed, or in which the checker finds something: empty for a client
   * that does everything right. Refusals on demand and refused threads do not count.
   */
  get invalid(): readonly LoggedRequest[] {
    return this.#entries.filter(({ error, fault, findings }) => {
      const isMalformed = error?.status === 400 && fault?.kind !== "status" && !isThreadRefusal(error);
      return isMalformed || (findings !== undefined && findings.length > 0);
    });
  }

  /** Requests whose thinking is not bound to the history it was sent in: a real account refuses them. */
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
      inputTokens: sum(({ inputTokens, endpoint }) => (endpoint === "messages" ? inputTokens : 0)),
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
