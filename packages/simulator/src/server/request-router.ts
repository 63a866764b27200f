import { once } from "node:events";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { MovableClock } from "../clock.ts";
import { ApiRefusal, isCallForAnswer } from "../exchange.ts";
import type { Api, Call, Route } from "./api.ts";
import { BodyProblem, receiveBody, TooLargeForTheNetwork } from "./body.ts";
import { BodyMemory } from "./body-memory.ts";
import { type Answer, deliver, Outlet, type Pace } from "./delivery.ts";
import type { Fault, Faults, StatusFault } from "./faults.ts";
import type { Ids } from "./ids.ts";
import { LogEntry, type LoggedRequest, loggedError, type RequestLog } from "./request-log.ts";

interface RouterParts {
  /** The APIs of all providers. The first one answers paths that no API has. */
  readonly apis: readonly [Api, ...Api[]];
  readonly clock: MovableClock;
  readonly ids: Pick<Ids, "request">;
  readonly faults: Faults;
  readonly log: RequestLog;
  readonly pace: Pace;
  readonly onRequest: ((request: LoggedRequest) => void) | undefined;
}

/** The API that a request is for. Without a route, the API does not have the path. */
interface Target {
  readonly api: Api;
  readonly route: Route | undefined;
}

const TOO_LARGE_STATUS = 413;

/** Receives every request and routes it to the API that answers it. */
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
    const target = this.#targetOf(url.pathname, request.headers);
    const entry = this.#open(request.method ?? "GET", url.pathname, target);
    const answer = await this.#settle(request, url, entry, target).catch((error: unknown) => {
      if (request.complete) throw error;
      return undefined;
    });
    if (answer === undefined) {
      if (entry.fault?.kind === "silence" && !gone.signal.aborted) await once(gone.signal, "abort");
      entry.outcome = "abandoned";
    } else await this.#say(answer, response, gone.signal, entry, target.api);
    entry.durationMs = performance.now() - startedAt;
    this.#parts.onRequest?.(entry);
  }

  #targetOf(path: string, headers: IncomingHttpHeaders): Target {
    const plain = path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
    const { apis } = this.#parts;
    for (const api of apis) {
      const route = api.findRoute(plain, headers);
      if (route !== undefined) return { api, route };
    }
    return { api: apis[0], route: undefined };
  }

  #open(method: string, path: string, { api, route }: Target): LogEntry {
    const { ids, log, clock } = this.#parts;
    const entry = new LogEntry(
      {
        index: log.length,
        requestId: ids.request(),
        provider: api.provider,
        endpoint: route?.endpoint ?? "other",
        method,
        path,
        startedAt: clock.now(),
      },
      (body, checked) => api.check(body, checked),
    );
    log.add(entry);
    return entry;
  }

  #answer(call: Omit<Call, "route">, { api, route }: Target): Answer {
    const { entry } = call;
    // Clients also request paths of other services. Such a request is answered with 404, but not logged as an
    // error.
    if (route === undefined) return api.refuse(api.notFound, entry);
    const allow = route.methods.join(", ");
    if (entry.method === "OPTIONS")
      return { kind: "empty", status: 204, headers: { ...api.identity(entry), allow } };
    if (!route.methods.includes(entry.method)) {
      const { status, type, message, details, rule } = api.methodNotAllowed;
      throw new ApiRefusal(status, type, message, {
        ...(details === undefined ? {} : { details }),
        ...(rule === undefined ? {} : { rule }),
        headers: { allow },
      });
    }
    return api.answer({ ...call, route });
  }

  /** Reads a request and creates its answer. Returns undefined if a fault makes the server silent. */
  async #settle(
    request: IncomingMessage,
    url: URL,
    entry: LogEntry,
    target: Target,
  ): Promise<Answer | undefined> {
    const { api, route } = target;
    try {
      const { body, bodyProblem } = await this.#read(request, entry, api);
      entry.body = body;
      entry.isStream = body?.stream === true && isCallForAnswer(entry);
      entry.model = typeof body?.model === "string" ? body.model : modelIn(route);
      const { endpoint, isStream, index } = entry;
      entry.fault = this.#parts.faults.strike({ endpoint, body, isStream, index });
      if (entry.fault?.kind === "silence") return undefined;
      if (entry.fault?.kind === "status") return this.#statusFault(entry.fault, entry, api);
      const { headers } = request;
      return this.#answer({ query: url.searchParams, headers, body, bodyProblem, entry }, target);
    } catch (error) {
      if (error instanceof TooLargeForTheNetwork) {
        entry.error = loggedError(api.tooLarge.refusal);
        return api.tooLarge.answer;
      }
      if (error instanceof BodyProblem) return this.#refuse(api.bodyRefusal(error), entry, api);
      if (error instanceof ApiRefusal) return this.#refuse(error, entry, api);
      if (request.destroyed && !request.complete) throw error;
      return this.#refuse(ownFailure(error), entry, api);
    }
  }

  async #read(
    request: IncomingMessage,
    entry: LogEntry,
    api: Api,
  ): Promise<Pick<Call, "body" | "bodyProblem">> {
    const { content, wireBytes } = await receiveBody(request, api.maxBodyBytes);
    entry.bytes = wireBytes;
    if (request.method !== "POST") return { body: undefined, bodyProblem: undefined };
    try {
      return { body: this.#bodies.parse(content), bodyProblem: undefined };
    } catch (error) {
      if (error instanceof BodyProblem) return { body: undefined, bodyProblem: api.bodyRefusal(error) };
      throw error;
    }
  }

  async #say(
    answer: Answer,
    response: ServerResponse,
    signal: AbortSignal,
    entry: LogEntry,
    { overloaded }: Api,
  ): Promise<void> {
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
    if (isOverloaded) entry.error = loggedError(overloaded);
  }

  #refuse(refused: ApiRefusal, entry: LogEntry, api: Api): Answer {
    entry.error = loggedError(refused);
    return api.refuse(refused, entry);
  }

  #statusFault(fault: StatusFault, entry: LogEntry, api: Api): Answer {
    const answer = this.#refuse(api.statusRefusal(fault, entry), entry, api);
    return fault.status === TOO_LARGE_STATUS ? api.tooLarge.answer : answer;
  }
}

/** Parses the target of a request. An invalid target such as `//` becomes an unknown path. */
function addressOf(target: string): URL {
  const base = "http://localhost";
  return new URL(URL.canParse(target, base) ? target : "/unreadable", base);
}

const modelIn = (route: Route | undefined): string | undefined =>
  route?.endpoint === "models" ? route.id : undefined;

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
