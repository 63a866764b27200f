import type { IncomingHttpHeaders } from "node:http";
import type { JsonRecord } from "@longhaul/core/internal/messages";
import { checkChatRequest, checkResponsesRequest, type OpenAiCheckOptions } from "@longhaul/openai";
import type { MovableClock } from "../clock.ts";
import type { ApiRefusal, Endpoint } from "../exchange.ts";
import type { Api, Call, Route } from "../server/api.ts";
import type { BodyProblem } from "../server/body.ts";
import type { Answer } from "../server/delivery.ts";
import type { StatusFault } from "../server/faults.ts";
import type { Ids } from "../server/ids.ts";
import type { Finding, LogEntry } from "../server/request-log.ts";
import type { EndpointAnswers } from "./answer/call.ts";
import { modelInfo, modelList, type OpenAiCatalog } from "./answer/catalog.ts";
import { rateLimitHeaders } from "./answer/rate-limit-headers.ts";
import { refusalOf } from "./answer/status-faults.ts";
import { isForOpenAi, readOpenAiHeaders } from "./headers.ts";
import type { OpenAiEndpoint, OpenAiModel, OpenAiRequest, OpenAiSwitches } from "./request.ts";
import type { Responses } from "./responses/responses.ts";
import { findStoredRoute, patternOf, StoredEndpoints } from "./responses/stored-endpoints.ts";
import { validateParameters, validateStoredBody } from "./rules/responses/stored-shapes.ts";
import { validate } from "./rules/validate.ts";
import { refusal } from "./wording/refuse.ts";

interface OpenAiApiParts {
  readonly catalog: OpenAiCatalog;
  readonly ids: Ids;
  readonly switches: OpenAiSwitches;
  /** Accepted API keys. If undefined, any key is accepted, but a request must have a key. */
  readonly apiKeys: readonly string[] | undefined;
  readonly clock: MovableClock;
  readonly chat: EndpointAnswers;
  readonly responses: Responses;
}

/** Limit for a body. No public source names the limit, so it is that of the other provider. */
const MAX_BODY_BYTES = 32 * 1024 * 1024;
const API_VERSION = "2020-10-01";
const MS_PER_SECOND = 1_000;
/** Paths that receive a conversation, without the version. */
const CONVERSATION_PATHS: Readonly<Record<string, OpenAiEndpoint & Endpoint>> = {
  "/chat/completions": "chat_completions",
  "/responses": "responses",
  "/responses/compact": "compact",
  "/responses/input_tokens": "count_tokens",
};
const WEBSOCKET = "websocket";
const ANY_METHOD = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const;

/** The API of OpenAI: chat completions, Responses and models. */
export class OpenAiApi implements Api {
  readonly provider = "openai";
  readonly maxBodyBytes: number = MAX_BODY_BYTES;
  readonly notFound: ApiRefusal = refusal("notFound");
  readonly methodNotAllowed: ApiRefusal = refusal("methodNotAllowed");
  readonly overloaded: ApiRefusal = refusal("overloaded");
  readonly tooLarge: Api["tooLarge"];
  readonly #parts: OpenAiApiParts;
  readonly #storedEndpoints: StoredEndpoints;

  constructor(parts: OpenAiApiParts) {
    this.#parts = parts;
    this.#storedEndpoints = new StoredEndpoints({ store: parts.responses.store, ids: parts.ids });
    const tooLarge = refusal("tooManyBytes");
    this.tooLarge = {
      answer: { kind: "json", status: tooLarge.status, headers: {}, body: errorBody(tooLarge) },
      refusal: tooLarge,
    };
  }

  findRoute(path: string, headers: IncomingHttpHeaders): Route | undefined {
    const plain = path.startsWith("/v1/") ? path.slice("/v1".length) : path;
    // Codex first tries a WebSocket on this path. With this status, it uses HTTP at once.
    if (plain === "/responses" && headers.upgrade !== undefined)
      return { endpoint: "other", methods: ["GET"], id: WEBSOCKET };
    const endpoint = CONVERSATION_PATHS[plain];
    if (endpoint !== undefined) return { endpoint, methods: ["POST"] };
    const stored = findStoredRoute(plain.slice(1));
    if (stored !== undefined) return stored;
    if (!isForOpenAi(headers)) return undefined;
    if (plain === "/models") return { endpoint: "models", methods: ["GET", "HEAD"] };
    if (plain.startsWith("/models/"))
      return {
        endpoint: "models",
        methods: ["GET", "HEAD"],
        id: safelyDecoded(plain.slice("/models/".length)),
      };
    // A path that the API does not have. The error text names the method and the path.
    return { endpoint: "other", methods: ANY_METHOD };
  }

  answer(call: Call): Answer {
    const { entry, route } = call;
    if (route.id === WEBSOCKET) throw refusal("websocketUnsupported");
    if (route.endpoint === "other") return this.refuse(invalidUrl(entry), entry);
    const { workspace, subagent } = readOpenAiHeaders(call.headers, this.#parts.apiKeys);
    entry.workspace = workspace;
    if (route.endpoint === "models") return this.#models(call);
    if (route.endpoint === "stored_response") return this.#stored(call, workspace);
    const { catalog, switches, chat, responses } = this.#parts;
    if (call.body === undefined) throw call.bodyProblem ?? refusal("noBody");
    const endpoint = route.endpoint as OpenAiEndpoint;
    const isChat = endpoint === "chat_completions";
    const request: OpenAiRequest = {
      endpoint,
      body: call.body,
      bytes: entry.bytes,
      model: catalog.find(call.body.model) ?? catalog.retired(call.body.model),
      earlier: isChat ? [] : responses.earlier(call.body, workspace),
      ...(isChat ? {} : { memory: responses.memory(workspace) }),
      workspace,
      startedAt: entry.startedAt,
    };
    validate(request, switches);
    const model = isCountOfNoModel(request) ? catalog.newest : catalog.require(String(call.body.model));
    const answers: EndpointAnswers = isChat ? chat : responses;
    return answers.answer({ request, model, subagent, entry, identity: this.identity(entry) });
  }

  #stored({ entry, query, body, bodyProblem, route }: Call, project: string): Answer {
    const { switches } = this.#parts;
    // A call without a body has no fields. That is legal, for example to create an empty conversation.
    if (bodyProblem !== undefined && entry.bytes > 0) throw bodyProblem;
    const path = route.id ?? "";
    if (entry.method === "POST") validateStoredBody(patternOf(path), body ?? {}, switches);
    validateParameters(query, switches);
    const headers = { ...this.identity(entry), ...rateLimitHeaders() };
    const now = Math.floor(this.#parts.clock.now() / MS_PER_SECOND);
    const { method } = entry;
    return this.#storedEndpoints.answer({ path, method, query, body, project, headers, now });
  }

  bodyRefusal({ problem }: BodyProblem): ApiRefusal {
    switch (problem.kind) {
      case "not-json":
        return refusal("notJson");
      case "not-object":
        return refusal("bodyNotObject");
      case "too-deep":
        return refusal("tooDeep", null, problem);
      case "encoding-unsupported":
        return refusal("encodingUnsupported", null, problem);
      case "encoding-invalid":
        return refusal("encodingInvalid", null, problem);
      case "too-large-decoded":
        return refusal("tooManyBytes");
    }
  }

  refuse(refused: ApiRefusal, entry: LogEntry): Answer {
    const { status, headers } = refused;
    return {
      kind: "json",
      status,
      headers: { ...this.identity(entry), ...headers },
      body: errorBody(refused),
    };
  }

  statusRefusal(fault: StatusFault, { model = "unknown" }: LogEntry): ApiRefusal {
    return refusalOf(fault, organizationOf(this.#parts.ids), model);
  }

  /** The checker sees one body. It does not know the stored responses that the body continues. */
  check(body: JsonRecord, { endpoint }: LogEntry): readonly Finding[] | undefined {
    const { catalog, switches } = this.#parts;
    const options = checkOptionsFor(catalog.find(body.model), switches);
    if (endpoint === "chat_completions") return checkChatRequest(body, options).findings;
    return endpoint === "responses" ? checkResponsesRequest(body, options).findings : undefined;
  }

  /** Returns the headers of an answer. The key determines the project. */
  identity({ requestId, workspace }: LogEntry): Record<string, string> {
    return {
      "x-request-id": requestId,
      "openai-organization": organizationOf(this.#parts.ids),
      "openai-processing-ms": "1",
      "openai-version": API_VERSION,
      ...(workspace === undefined ? {} : { "openai-project": workspace }),
    };
  }

  #models({ entry, route: { id } }: Call): Answer {
    const { catalog } = this.#parts;
    const headers = { ...this.identity(entry), ...rateLimitHeaders() };
    const body = id === undefined ? modelList(catalog) : modelInfo(catalog.require(id));
    return { kind: "json", status: 200, headers, body };
  }
}

/** Counting tokens needs no model, as the types of the SDK say. It then counts for the newest. */
const isCountOfNoModel = ({ endpoint, body }: OpenAiRequest): boolean =>
  endpoint === "count_tokens" && (body.model === undefined || body.model === null);

/** Returns options for the checker. With them, it applies the same rules as the simulator. */
function checkOptionsFor(
  model: OpenAiModel | undefined,
  { unknownFields }: OpenAiSwitches,
): OpenAiCheckOptions {
  const fields = { unknownFields: unknownFields === "refused" ? "reported" : "accepted" } as const;
  if (model === undefined) return fields;
  const { isReasoning, efforts, acceptsImages, maxOutputTokens } = model;
  return { ...fields, reasoningModel: isReasoning, efforts, acceptsImages, maxOutputTokens };
}

const invalidUrl = ({ method, path }: LogEntry): ApiRefusal => refusal("invalidUrl", null, { method, path });

/** Name of the organization in headers and in error texts. */
const organizationOf = ({ organization }: Ids): string =>
  `org-${organization.replaceAll("-", "").slice(0, 24)}`;

/** Returns the error format of the API. A refusal of the simulator itself has no parameter and no code. */
function errorBody({ message, type, details }: ApiRefusal): JsonRecord {
  return { error: { message, type, param: details?.param ?? null, code: details?.code ?? null } };
}

function safelyDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
