import type { IncomingHttpHeaders } from "node:http";
import { type JsonRecord, stringField } from "@longhaul/core/internal/messages";
import { maxMediaFor } from "@longhaul/core/internal/request";
import type { ApiRequest } from "@longhaul/core/messages";
import { type CheckOptions, checkRequest, MAX_MEDIA, MAX_REQUEST_BYTES } from "@longhaul/core/request";
import type { MovableClock } from "../clock.ts";
import type { ApiRefusal } from "../exchange.ts";
import type { Api, Call, Route } from "../server/api.ts";
import type { BodyProblem } from "../server/body.ts";
import type { Answer } from "../server/delivery.ts";
import type { StatusFault } from "../server/faults.ts";
import type { Ids } from "../server/ids.ts";
import type { Finding, LogEntry } from "../server/request-log.ts";
import { type Catalog, modelInfo, modelPage } from "./answer/catalog.ts";
import type { Conversations } from "./answer/conversations.ts";
import { rateLimitHeaders } from "./answer/rate-limit-headers.ts";
import { refusalOf } from "./answer/status-faults.ts";
import type { SimulatedRequest, Switches } from "./request.ts";
import { type HeaderOptions, readHeaders } from "./rules/headers.ts";
import { refusal, refuse } from "./wording/refuse.ts";
import { TEXTS } from "./wording/texts.ts";

interface MessagesApiParts {
  readonly catalog: Catalog;
  readonly clock: MovableClock;
  readonly ids: Ids;
  readonly headerOptions: HeaderOptions;
  readonly conversations: Conversations;
  readonly switches: Switches;
}

const MODELS_PATH = "/v1/models";

/** The API of Anthropic: messages, token counts and models. */
export class MessagesApi implements Api {
  readonly provider = "anthropic";
  readonly maxBodyBytes: number = MAX_REQUEST_BYTES;
  readonly notFound: ApiRefusal = refusal("notFound");
  readonly methodNotAllowed: ApiRefusal = refusal("methodNotAllowed");
  readonly overloaded: ApiRefusal = refusal("overloaded");
  /**
   * The network in front of the API sends this answer if a body is too large. The answer has neither the
   * usual error format nor a request id.
   */
  readonly tooLarge: Api["tooLarge"] = {
    answer: {
      kind: "json",
      status: 413,
      headers: {},
      body: { error: { type: "request_too_large", message: TEXTS.tooManyBytes.text } },
    },
    refusal: refusal("tooManyBytes"),
  };
  readonly #parts: MessagesApiParts;

  constructor(parts: MessagesApiParts) {
    this.#parts = parts;
  }

  findRoute(path: string, headers: IncomingHttpHeaders): Route | undefined {
    if (path === "/v1/messages") return { endpoint: "messages", methods: ["POST"] };
    if (path === "/v1/messages/count_tokens") return { endpoint: "count_tokens", methods: ["POST"] };
    if (!isForAnthropic(headers)) return undefined;
    if (path === MODELS_PATH) return { endpoint: "models", methods: ["GET", "HEAD"] };
    if (!path.startsWith(`${MODELS_PATH}/`)) return undefined;
    const id = safelyDecoded(path.slice(MODELS_PATH.length + 1));
    return id.includes("/") ? undefined : { endpoint: "models", methods: ["GET", "HEAD"], id };
  }

  answer(call: Call): Answer {
    const { entry, route } = call;
    const { version, betas, unknownBetas, workspace, client } = readHeaders(
      call.headers,
      this.#parts.headerOptions,
    );
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
      bytes: entry.bytes,
      model: this.#parts.catalog.find(call.body.model),
      workspace,
      client,
      startedAt: entry.startedAt,
    };
    return this.#parts.conversations.answer(request, entry, this.identity(entry));
  }

  bodyRefusal({ problem }: BodyProblem): ApiRefusal {
    switch (problem.kind) {
      case "not-json":
        return refusal("notJson", problem);
      case "not-object":
        return refusal("bodyNotObject");
      case "too-deep":
        return refusal("tooDeep", problem);
      case "encoding-unsupported":
        return refusal("encodingUnsupported", problem);
      case "encoding-invalid":
        return refusal("encodingInvalid", problem);
      case "too-large-decoded":
        return refusal("tooLargeDecoded");
    }
  }

  refuse(refused: ApiRefusal, entry: LogEntry): Answer {
    const { status, type, message, details, headers } = refused;
    const error = { type, message, ...(details === undefined ? {} : { details }) };
    return {
      kind: "json",
      status,
      headers: { ...this.identity(entry), ...headers },
      body: { type: "error", error, request_id: entry.requestId },
    };
  }

  statusRefusal(fault: StatusFault, { model = "unknown" }: LogEntry): ApiRefusal {
    return refusalOf(fault, this.#parts.ids.organization, model);
  }

  check(body: JsonRecord, { version, wholeBody }: LogEntry): readonly Finding[] | undefined {
    const isContinuation = stringField(body.thread, "type") === "continue";
    if (isContinuation && wholeBody === undefined) return undefined;
    const { catalog, switches } = this.#parts;
    const options =
      version === undefined ? {} : checkOptionsFor({ model: catalog.find(body.model), version }, switches);
    return checkRequest(body as unknown as ApiRequest, options).findings;
  }

  /**
   * Returns the headers of an answer. The key determines the workspace, so a call without a key gets no
   * workspace header.
   */
  identity({ requestId, workspace }: LogEntry): Record<string, string> {
    const own = { "request-id": requestId, "anthropic-organization-id": this.#parts.ids.organization };
    return workspace === undefined ? own : { ...own, "anthropic-workspace-id": workspace };
  }

  #models({ query, entry, route: { id } }: Call, betas: ReadonlySet<string>): Answer {
    const { catalog, clock } = this.#parts;
    const headers = { ...this.identity(entry), ...rateLimitHeaders(clock.now()) };
    if (id === undefined)
      return { kind: "json", status: 200, headers, body: modelPage(catalog, query, betas) };
    const model = catalog.find(id) ?? refuse("modelUnknown", { model: id });
    return { kind: "json", status: 200, headers, body: modelInfo(model, betas) };
  }
}

/**
 * True if the headers belong to a client of Anthropic. Both providers have paths of models. Clients of OpenAI
 * always send their key as a bearer token, and no version.
 */
const isForAnthropic = (headers: IncomingHttpHeaders): boolean =>
  headers["anthropic-version"] !== undefined ||
  headers["x-api-key"] !== undefined ||
  headers.authorization === undefined;

function safelyDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * Returns options for the request checker. With them, the checker applies the same rules as the simulator.
 */
function checkOptionsFor(
  { model, version }: Pick<SimulatedRequest, "model" | "version">,
  switches: Switches,
): CheckOptions {
  return {
    maxMedia: model === undefined ? MAX_MEDIA : maxMediaFor(model.windowTokens),
    requireTools: switches.requireTools,
    apiVersion: version,
    consecutiveRoles: switches.consecutiveRoles === "merged" ? "accepted" : "reported",
  };
}
