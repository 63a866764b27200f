import { MAX_REQUEST_BYTES } from "../../../conversation/check/limits.ts";
import type { JsonRecord } from "../../../conversation/untrusted.ts";
import type { MovableClock } from "../../clock.ts";
import type { ApiRefusal, SimulatedRequest } from "../exchange.ts";
import { type HeaderOptions, readHeaders } from "../rules/headers.ts";
import { refusal, refuse } from "../wording/refuse.ts";
import { type Answer, NETWORK_TOO_LARGE, type Pace, refusalAnswer } from "./answer.ts";
import { BodyMemory } from "./body-memory.ts";
import type { Catalogue } from "./catalogue.ts";
import type { Fault, FaultCandidate, Faults, StatusFault } from "./faults.ts";
import type { Ids } from "./ids.ts";
import { LogEntry, type LoggedRequest, loggedError, type RequestLog } from "./log.ts";
import { modelInfo, modelPage } from "./model-info.ts";
import { identityHeaders, rateLimitHeaders } from "./response-headers.ts";
import type { Route } from "./routes.ts";
import type { Call, CallDesk } from "./serve.ts";
import { refusalOf } from "./status-faults.ts";

export interface DeskParts {
  readonly catalogue: Catalogue;
  readonly clock: MovableClock;
  readonly ids: Ids;
  readonly faults: Faults;
  readonly log: RequestLog;
  readonly pace: Pace;
  readonly headerOptions: HeaderOptions;
  readonly onRequest: ((request: LoggedRequest) => void) | undefined;
  /** Plays the API behind `POST /v1/messages` and its counting sister. */
  converse(request: SimulatedRequest, entry: LogEntry, headers: Readonly<Record<string, string>>): Answer;
}

/** Takes every request in, judges its headers, and hands it to whoever can answer it. */
export class Desk implements CallDesk {
  readonly maxBodyBytes: number = MAX_REQUEST_BYTES;
  readonly pace: Pace;
  readonly #parts: DeskParts;
  readonly #bodies = new BodyMemory();

  constructor(parts: DeskParts) {
    this.#parts = parts;
    this.pace = parts.pace;
  }

  open(method: string, path: string, route: Route | undefined): LogEntry {
    const { ids, log, clock } = this.#parts;
    const entry = new LogEntry({
      index: log.length,
      requestId: ids.request(),
      endpoint: route?.endpoint ?? "other",
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

  strike(candidate: FaultCandidate): Fault | undefined {
    return this.#parts.faults.strike(candidate);
  }

  answer(call: Call): Answer {
    const { route, method, entry, headers } = call;
    // Clients probe paths of other services: nothing is wrong with their requests to this one.
    if (route === undefined) {
      return refusalAnswer(refusal("notFound"), entry.requestId, this.#identity(entry));
    }
    const allow = route.methods.join(", ");
    if (method === "OPTIONS")
      return { kind: "empty", status: 204, headers: { ...this.#identity(entry), allow } };
    if (!route.methods.includes(method)) {
      throw refusal("methodNotAllowed").with({ allow });
    }
    const read = readHeaders(headers, this.#parts.headerOptions);
    const { version, betas, unknownBetas, workspace, client } = read;
    entry.version = version;
    entry.workspace = workspace;
    entry.betas = [...betas];
    entry.unknownBetas = unknownBetas;
    entry.client = client;
    if (route.endpoint !== "messages" && route.endpoint !== "count_tokens") return this.#models(call, betas);
    if (call.body === undefined) throw call.bodyProblem ?? refusal("noBody");
    const request: SimulatedRequest = {
      endpoint: route.endpoint,
      version,
      betas,
      body: call.body,
      bytes: call.bytes,
      model: this.#parts.catalogue.find(call.body.model),
      workspace,
      client,
      startedAt: entry.startedAt,
    };
    return this.#parts.converse(request, entry, this.#identity(entry));
  }

  refuse(refused: ApiRefusal, entry: LogEntry): Answer {
    entry.error = loggedError(refused);
    return refusalAnswer(refused, entry.requestId, this.#identity(entry));
  }

  statusFault(fault: StatusFault, entry: LogEntry): Answer {
    const refused = refusalOf(fault, this.#parts.ids.organization, entry.model ?? "unknown");
    const answer = this.refuse(refused, entry);
    return fault.status === NETWORK_TOO_LARGE.status ? NETWORK_TOO_LARGE : answer;
  }

  closed(entry: LogEntry): void {
    this.#parts.onRequest?.(entry);
  }

  #models(call: Call, betas: ReadonlySet<string>): Answer {
    const { catalogue, clock } = this.#parts;
    const identity = this.#identity(call.entry);
    const headers = { ...identity, ...rateLimitHeaders({ now: clock.now() }) };
    const id = call.route?.modelId;
    if (id === undefined)
      return { kind: "json", status: 200, headers, body: modelPage(catalogue, call.query, betas) };
    const model = catalogue.find(id);
    if (model === undefined) refuse("modelUnknown", { model: id });
    return { kind: "json", status: 200, headers, body: modelInfo(model, betas) };
  }

  #identity(entry: LogEntry): Record<string, string> {
    return identityHeaders(entry.requestId, this.#parts.ids.organization, entry.workspace);
  }
}
