import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { JsonRecord } from "../../../conversation/untrusted.ts";
import { ApiRefusal } from "../exchange.ts";
import { refusal } from "../wording/refuse.ts";
import { type Answer, deliver, NETWORK_TOO_LARGE, type Pace } from "./answer.ts";
import { receiveBody, TooLargeForTheNetwork } from "./body.ts";
import type { Fault, FaultCandidate } from "./faults.ts";
import { type LogEntry, loggedError } from "./log.ts";
import { Outlet } from "./outlet.ts";
import { findRoute, type Route } from "./routes.ts";

/** A request as the engine gets it: whole, and nothing of it judged yet. */
export interface Call {
  readonly route: Route | undefined;
  readonly method: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: JsonRecord | undefined;
  /** Why there is a body but no JSON in it. The headers are judged first, so it is not thrown at once. */
  readonly bodyProblem: ApiRefusal | undefined;
  readonly bytes: number;
  readonly entry: LogEntry;
}

/** All that the network side asks of the rest. */
export interface CallDesk {
  readonly maxBodyBytes: number;
  readonly pace: Pace;
  open(method: string, path: string, route: Route | undefined): LogEntry;
  /** The body of a request, or the refusal of what is none. */
  parse(content: Buffer): JsonRecord;
  strike(candidate: FaultCandidate): Fault | undefined;
  answer(call: Call): Answer;
  refuse(refusal: ApiRefusal, entry: LogEntry): Answer;
  statusFault(fault: Extract<Fault, { kind: "status" }>, entry: LogEntry): Answer;
  closed(entry: LogEntry): void;
}

interface Settled {
  readonly answer: Answer | undefined;
  readonly fault: Fault | undefined;
}

/** One request from its first byte to the last of its answer. */
export async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  desk: CallDesk,
): Promise<void> {
  const startedAt = performance.now();
  const gone = new AbortController();
  response.on("close", () => gone.abort());
  response.on("error", () => gone.abort());
  const url = addressOf(request.url ?? "/");
  const method = request.method ?? "GET";
  const entry = desk.open(method, url.pathname, findRoute(url.pathname));
  const settled = await settle(request, url, entry, desk).catch((error: unknown) => {
    if (request.complete) throw error;
    return undefined;
  });
  if (settled === undefined) entry.outcome = "abandoned";
  else await say(settled, response, gone.signal, entry, desk);
  entry.durationMs = performance.now() - startedAt;
  desk.closed(entry);
}

/** What is no address at all, such as `//`, is one that nobody knows. */
function addressOf(target: string): URL {
  const base = "http://localhost";
  return new URL(URL.canParse(target, base) ? target : "/unreadable", base);
}

async function say(
  { answer, fault }: Settled,
  response: ServerResponse,
  signal: AbortSignal,
  entry: LogEntry,
  desk: CallDesk,
): Promise<void> {
  if (answer === undefined) {
    if (!signal.aborted)
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    entry.outcome = "abandoned";
    return;
  }
  const outlet = new Outlet(response, {
    signal,
    cutAfterBytes: fault?.kind === "cut" ? (fault.afterBytes ?? 0) : undefined,
    onBegin: (status) => {
      entry.status = status;
    },
  });
  const isOverloaded = await deliver(answer, outlet, paceOf(fault, desk.pace), fault);
  entry.outcome = outlet.outcome;
  if (isOverloaded) entry.error = loggedError(refusal("overloaded"));
}

/** Without an answer the request is met with silence. */
async function settle(request: IncomingMessage, url: URL, entry: LogEntry, desk: CallDesk): Promise<Settled> {
  let fault: Fault | undefined;
  try {
    const route = findRoute(url.pathname);
    const { body, bodyProblem, bytes } = await read(request, desk);
    entry.bytes = bytes;
    entry.body = body;
    entry.isStream = body?.stream === true && entry.endpoint === "messages";
    entry.model = typeof body?.model === "string" ? body.model : route?.modelId;
    const { endpoint, isStream, index } = entry;
    fault = desk.strike({ endpoint, body, isStream, index });
    entry.fault = fault;
    if (fault?.kind === "silence") return { answer: undefined, fault };
    if (fault?.kind === "status") return { answer: desk.statusFault(fault, entry), fault };
    const { method } = entry;
    const { headers } = request;
    const query = url.searchParams;
    return { answer: desk.answer({ route, method, query, headers, body, bodyProblem, bytes, entry }), fault };
  } catch (error) {
    if (error instanceof TooLargeForTheNetwork) {
      entry.error = loggedError(refusal("tooManyBytes"));
      return { answer: NETWORK_TOO_LARGE, fault };
    }
    if (error instanceof ApiRefusal) return { answer: desk.refuse(error, entry), fault };
    if (request.destroyed && !request.complete) throw error;
    return { answer: desk.refuse(ownFailure(error), entry), fault };
  }
}

/** A mistake of ours, or of a test's behaviour, must not look like bad luck that a retry could mend. */
function ownFailure(error: unknown): ApiRefusal {
  const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return new ApiRefusal(500, "api_error", `The simulator itself failed: ${reason}`, {
    headers: { "x-should-retry": "false" },
  });
}

async function read(
  request: IncomingMessage,
  desk: Pick<CallDesk, "maxBodyBytes" | "parse">,
): Promise<Pick<Call, "body" | "bodyProblem" | "bytes">> {
  const { content, wireBytes: bytes } = await receiveBody(request, desk.maxBodyBytes);
  if (request.method !== "POST") return { body: undefined, bodyProblem: undefined, bytes };
  try {
    return { body: desk.parse(content), bodyProblem: undefined, bytes };
  } catch (error) {
    if (error instanceof ApiRefusal) return { body: undefined, bodyProblem: error, bytes };
    throw error;
  }
}

function paceOf(fault: Fault | undefined, pace: Pace): Pace {
  if (fault?.kind !== "slow") return pace;
  return {
    firstByteMs: fault.firstByteMs ?? pace.firstByteMs,
    betweenEventsMs: fault.betweenEventsMs ?? pace.betweenEventsMs,
  };
}
