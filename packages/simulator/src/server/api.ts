import type { IncomingHttpHeaders } from "node:http";
import type { JsonRecord } from "@longhaul/core/internal/messages";
import type { ApiRefusal, Endpoint, ProviderName } from "../exchange.ts";
import type { BodyProblem } from "./body.ts";
import type { Answer } from "./delivery.ts";
import type { StatusFault } from "./faults.ts";
import type { Finding, LogEntry } from "./request-log.ts";

/** A path of an API. */
export interface Route {
  readonly endpoint: Endpoint;
  readonly methods: readonly string[];
  /** Id in the path, for example the model of `/v1/models/{id}`. */
  readonly id?: string;
}

/** A complete request that is not checked yet. */
export interface Call {
  readonly route: Route;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: JsonRecord | undefined;
  /**
   * Error of a body that is not valid JSON. It is not thrown at once, because the headers are checked first.
   */
  readonly bodyProblem: ApiRefusal | undefined;
  readonly entry: LogEntry;
}

/** The API of one provider. The router knows providers only in this form. */
export interface Api {
  readonly provider: ProviderName;
  /** Limit for a body. The network in front of the API refuses larger bodies. */
  readonly maxBodyBytes: number;
  /** Answer to a body above `maxBodyBytes`, and its record in the log. */
  readonly tooLarge: { readonly answer: Answer; readonly refusal: ApiRefusal };
  /**
   * Finds the endpoint of a path. Returns undefined for a path that the API does not have. Two providers may
   * share a path, so the headers can decide.
   */
  findRoute(path: string, headers: IncomingHttpHeaders): Route | undefined;
  /** Answers a call. Throws an {@link ApiRefusal} if the API refuses it. */
  answer(call: Call): Answer;
  /** Creates the refusal of a body that is not usable JSON. */
  bodyRefusal(problem: BodyProblem): ApiRefusal;
  /** Creates the answer for a refusal, in the error format of the API. */
  refuse(refusal: ApiRefusal, entry: LogEntry): Answer;
  /** Creates the refusal of a fault that has a status. */
  statusRefusal(fault: StatusFault, entry: LogEntry): ApiRefusal;
  /**
   * Checks a body with our own request checker for this API, which shares no code with the simulator's rules.
   * Returns undefined if the body alone is not enough to judge it.
   */
  check(body: JsonRecord, entry: LogEntry): readonly Finding[] | undefined;
  /** Headers that every answer has. */
  identity(entry: LogEntry): Readonly<Record<string, string>>;
  readonly notFound: ApiRefusal;
  readonly methodNotAllowed: ApiRefusal;
  /** Error that ends a stream after a fault of the kind `overload-in-stream`. */
  readonly overloaded: ApiRefusal;
}
