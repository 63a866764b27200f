import { once } from "node:events";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { JsonRecord } from "@longhaul/core/internal/messages";
import { MAX_REQUEST_BYTES } from "@longhaul/core/request";
import type { MovableClock } from "../clock.ts";
import { ApiRefusal, type SimulatedRequest } from "../exchange.ts";
import { type HeaderOptions, readHeaders } from "../rules/headers.ts";
import { refusal, refuse } from "../wording/refuse.ts";
import { receiveBody, TooLargeForTheNetwork } from "./body.ts";
import { BodyMemory } from "./body-memory.ts";
import { type Catalog, modelInfo, modelPage } from "./catalog.ts";
import { type Answer, deliver, NETWORK_TOO_LARGE, Outlet, type Pace, refusalAnswer } from "./delivery.ts";
import { type Fault, type Faults, refusalOf, type StatusFault } from "./faults.ts";
import type { Ids } from "./ids.ts";
import { rateLimitHeaders } from "./rate-limit-headers.ts";
import { type Endpoint, LogEntry, type LoggedRequest, loggedError, type RequestLog } from "./request-log.ts";

interface RouterParts {
  readonly catalog: Catalog;
  readonly clock: MovableClock;
  readonly ids: Ids;
  readonly faults: Faults;
  readonly log: RequestLog;
  readonly pace: Pace;
  readonly headerOptions: HeaderOptions;
  readonly onRequest: ((request: LoggedRequest) => void) | undefined;
  /** Answers requests to `POST /v1/messages` and to the endpoint that counts tokens. */
  converse(request: SimulatedRequest, entry: LogEntry, headers: Readonly<Record<string, string>>): Answer;
}

/** A complete request that is not checked yet. */
interface Call {
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: JsonRecord | undefined;
  /**
   * Error of a body that is not valid JSON. It is not thrown at once, because the headers are checked first.
   */
  readonly bodyProblem: ApiRefusal | undefined;
  readonly entry: LogEntry;
}

/** Receives every request, checks its headers, and routes it to the part that answers it. */
export class RequestRouter {
  readonly #parts: RouterParts;
  readonly #bodies = new BodyMemory();

  constructor(parts: RouterParts) {
    this.#parts = parts;
  }

  /** Handles one request from its first byte to the last byte of its answer. */
  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const startedAt = performance.now();
    const gone = new AbortController();
    response.on("close", () => gone.abort());
    response.on("error", () => gone.abort());
    const url = addressOf(request.url ?? "/");
    const entry = this.open(request.method ?? "GET", url.pathname);
    const answer = await this.#settle(request, url, entry).catch((error: unknown) => {
      if (request.complete) throw error;
      return undefined;
    });
    if (answer === undefined) {
      if (entry.fault?.kind === "silence" && !gone.signal.aborted) await once(gone.signal, "abort");
      entry.outcome = "abandoned";
    } else await this.#say(answer, response, gone.signal, entry);
    entry.durationMs = performance.now() - startedAt;
    this.#parts.onRequest?.(entry);
  }

  open(method: string, path: string): LogEntry {
    const { ids, log, clock } = this.#parts;
    const entry = new LogEntry({
      index: log.length,
      requestId: ids.request(),
      endpoint: findRoute(path)?.endpoint ?? "other",
      method,
      path,
      startedAt: clock.now(),
    });
    log.add(entry);
    return entry;
  }

  parse(content: Buffer): JsonRecord {
    return this.#bodies.parse(content);
  }

  answer(call: Call): Answer {
    const { entry } = call;
    const route = findRoute(entry.path);
    // Clients also request paths of other services. Such a request is answered with 404, but not logged as an
    // error.
    if (route === undefined) {
      return refusalAnswer(refusal("notFound"), entry.requestId, this.#identity(entry));
    }
    const allow = route.methods.join(", ");
    if (entry.method === "OPTIONS")
      return { kind: "empty", status: 204, headers: { ...this.#identity(entry), allow } };
    if (!route.methods.includes(entry.method)) {
      const { status, type, message, rule = "" } = refusal("methodNotAllowed");
      throw new ApiRefusal(status, type, message, { rule, headers: { allow } });
    }
    const { version, betas, unknownBetas, workspace, client } = readHeaders(
      call.headers,
      this.#parts.headerOptions,
    );
    entry.version = version;
    entry.workspace = workspace;
    entry.betas = [...betas];
    entry.unknownBetas = unknownBetas;
    entry.client = client;
    if (route.endpoint !== "messages" && route.endpoint !== "count_tokens")
      return this.#models(call, route.modelId, betas);
    if (call.body === undefined) throw call.bodyProblem ?? refusal("noBody");
    const request: SimulatedRequest = {
      endpoint: route.endpoint,
      version,
      betas,
      body: call.body,
      bytes: entry.bytes,
      model: this.#parts.catalog.find(call.body.model),
      workspace,
      client,
      startedAt: entry.startedAt,
    };
    return this.#parts.converse(request, entry, this.#identity(entry));
  }

  /** Reads a request and creates its answer. Returns undefined if a fault makes the server silent. */
  async #settle(request: IncomingMessage, url: URL, entry: LogEntry): Promise<Answer | undefined> {
    try {
      const { body, bodyProblem } = await this.#read(request, entry);
      entry.body = body;
      entry.isStream = body?.stream === true && entry.endpoint === "messages";
      entry.model = typeof body?.model === "string" ? body.model : findRoute(entry.path)?.modelId;
      const { endpoint, isStream, index } = entry;
      entry.fault = this.#parts.faults.strike({ endpoint, body, isStream, index });
      if (entry.fault?.kind === "silence") return undefined;
      if (entry.fault?.kind === "status") return this.#statusFault(entry.fault, entry);
      const { headers } = request;
      return this.answer({ query: url.searchParams, headers, body, bodyProblem, entry });
    } catch (error) {
      if (error instanceof TooLargeForTheNetwork) {
        entry.error = loggedError(refusal("tooManyBytes"));
        return NETWORK_TOO_LARGE;
      }
      if (error instanceof ApiRefusal) return this.#refuse(error, entry);
      if (request.destroyed && !request.complete) throw error;
      return this.#refuse(ownFailure(error), entry);
    }
  }

  async #read(request: IncomingMessage, entry: LogEntry): Promise<Pick<Call, "body" | "bodyProblem">> {
    const { content, wireBytes } = await receiveBody(request, MAX_REQUEST_BYTES);
    entry.bytes = wireBytes;
    if (request.method !== "POST") return { body: undefined, bodyProblem: undefined };
    try {
      return { body: this.parse(content), bodyProblem: undefined };
    } catch (error) {
      if (error instanceof ApiRefusal) return { body: undefined, bodyProblem: error };
      throw error;
    }
  }

  async #say(answer: Answer, response: ServerResponse, signal: AbortSignal, entry: LogEntry): Promise<void> {
    const { fault } = entry;
    const outlet = new Outlet(response, {
      signal,
      cutAfterBytes: fault?.kind === "cut" ? (fault.afterBytes ?? 0) : undefined,
      onBegin: (status) => {
        entry.status = status;
      },
    });
    const isOverloaded = await deliver(answer, outlet, paceOf(fault, this.#parts.pace), fault);
    entry.outcome = outlet.outcome;
    if (isOverloaded) entry.error = loggedError(refusal("overloaded"));
  }

  #refuse(refused: ApiRefusal, entry: LogEntry): Answer {
    entry.error = loggedError(refused);
    return refusalAnswer(refused, entry.requestId, this.#identity(entry));
  }

  #statusFault(fault: StatusFault, entry: LogEntry): Answer {
    const refused = refusalOf(fault, this.#parts.ids.organization, entry.model ?? "unknown");
    const answer = this.#refuse(refused, entry);
    return fault.status === NETWORK_TOO_LARGE.status ? NETWORK_TOO_LARGE : answer;
  }

  #models({ query, entry }: Call, id: string | undefined, betas: ReadonlySet<string>): Answer {
    const { catalog, clock } = this.#parts;
    const headers = { ...this.#identity(entry), ...rateLimitHeaders(clock.now()) };
    if (id === undefined)
      return { kind: "json", status: 200, headers, body: modelPage(catalog, query, betas) };
    const model = catalog.find(id) ?? refuse("modelUnknown", { model: id });
    return { kind: "json", status: 200, headers, body: modelInfo(model, betas) };
  }

  /**
   * Returns the headers of an answer. The key determines the workspace, so a call without a key gets no
   * workspace header.
   */
  #identity({ requestId, workspace }: LogEntry): Record<string, string> {
    const own = { "request-id": requestId, "anthropic-organization-id": this.#parts.ids.organization };
    return workspace === undefined ? own : { ...own, "anthropic-workspace-id": workspace };
  }
}

/** Parses the target of a request. An invalid target such as `//` becomes an unknown path. */
function addressOf(target: string): URL {
  const base = "http://localhost";
  return new URL(URL.canParse(target, base) ? target : "/unreadable", base);
}

/**
 * Creates the error answer for a bug in the simulator or in a test's behavior. Its header tells the client
 * not to retry.
 */
function ownFailure(error: unknown): ApiRefusal {
  const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return new ApiRefusal(500, "api_error", `The simulator itself failed: ${reason}`, {
    headers: { "x-should-retry": "false" },
  });
}

function paceOf(fault: Fault | undefined, pace: Pace): Pace {
  if (fault?.kind !== "slow") return pace;
  return {
    firstByteMs: fault.firstByteMs ?? pace.firstByteMs,
    betweenEventsMs: fault.betweenEventsMs ?? pace.betweenEventsMs,
  };
}

interface Route {
  readonly endpoint: Endpoint;
  readonly methods: readonly string[];
  /** Model id in the path `/v1/models/{id}`. */
  readonly modelId?: string;
}

const MODELS_PATH = "/v1/models";

/** Finds the endpoint of a path. Returns undefined for a path that the API does not have. */
function findRoute(path: string): Route | undefined {
  const plain = path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
  if (plain === "/v1/messages") return { endpoint: "messages", methods: ["POST"] };
  if (plain === "/v1/messages/count_tokens") return { endpoint: "count_tokens", methods: ["POST"] };
  if (plain === MODELS_PATH) return { endpoint: "models", methods: ["GET", "HEAD"] };
  if (!plain.startsWith(`${MODELS_PATH}/`)) return undefined;
  const modelId = safelyDecoded(plain.slice(MODELS_PATH.length + 1));
  return modelId.includes("/") ? undefined : { endpoint: "models", methods: ["GET", "HEAD"], modelId };
}

function safelyDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
