import type { IncomingMessage, ServerResponse } from "node:http";
import type { JsonRecord } from "../../../conversation/untrusted.ts";
import { ApiRefusal } from "../exchange.ts";
import { type Answer, deliver, NETWORK_TOO_LARGE, type Pace } from "./answer.ts";
import { parseBody, receiveBody, TooLargeForTheNetwork } from "./body.ts";
import type { Fault, FaultCandidate } from "./faults.ts";
import type { LogEntry } from "./log.ts";
import { Outlet } from "./outlet.ts";
import { findRoute, type Route } from "./routes.ts";

/** A request as the engine gets it: whole, and nothing of it judged yet. */
export interface Call {
  readonly route: Route | undefined;
  readonly method: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: JsonRecord | undefined;
  readonly bytes: number;
  readonly entry: LogEntry;
}

/** All that the network side asks of the rest. */
export interface CallDesk {
  readonly maxBodyBytes: number;
  readonly pace: Pace;
  open(method: string, path: string, route: Route | undefined): LogEntry;
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
  const url = new URL(request.url ?? "/", "http://localhost");
  const method = request.method ?? "GET";
  const entry = desk.open(method, url.pathname, findRoute(url.pathname));
  const settled = await settle(request, url, entry, desk).catch((error: unknown) => {
    if (!request.readableEnded && request.destroyed) return undefined;
    throw error;
  });
  if (settled === undefined) entry.outcome = "abandoned";
  else await say(settled, response, gone.signal, entry, desk);
  entry.durationMs = performance.now() - startedAt;
  desk.closed(entry);
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
  });
  entry.status = answer.kind === "stream" ? 200 : answer.status;
  await deliver(answer, outlet, paceOf(fault, desk.pace), fault);
  entry.outcome = outlet.outcome;
}

/** Without an answer the request is met with silence. */
async function settle(request: IncomingMessage, url: URL, entry: LogEntry, desk: CallDesk): Promise<Settled> {
  let fault: Fault | undefined;
  try {
    const route = findRoute(url.pathname);
    const { body, bytes } = await read(request, desk.maxBodyBytes);
    entry.bytes = bytes;
    entry.body = body;
    entry.isStream = body?.stream === true && entry.endpoint === "messages";
    entry.model = typeof body?.model === "string" ? body.model : route?.modelId;
    const { endpoint, isStream, index } = entry;
    fault = desk.strike({ endpoint, body, isStream, index });
    entry.fault = fault;
    if (fault?.kind === "silence") return { answer: undefined, fault };
    if (fault?.kind === "status") return { answer: desk.statusFault(fault, entry), fault };
    const { headers } = request;
    const method = entry.method;
    const call: Call = { route, method, query: url.searchParams, headers, body, bytes, entry };
    return { answer: desk.answer(call), fault };
  } catch (error) {
    if (error instanceof TooLargeForTheNetwork) {
      entry.error = { status: 413, type: "request_too_large", message: error.message, code: undefined };
      return { answer: NETWORK_TOO_LARGE, fault };
    }
    if (error instanceof ApiRefusal) return { answer: desk.refuse(error, entry), fault };
    throw error;
  }
}

async function read(
  request: IncomingMessage,
  maxBytes: number,
): Promise<{ readonly body: JsonRecord | undefined; readonly bytes: number }> {
  const { content, wireBytes } = await receiveBody(request, maxBytes);
  return { body: request.method === "POST" ? parseBody(content) : undefined, bytes: wireBytes };
}

function paceOf(fault: Fault | undefined, pace: Pace): Pace {
  if (fault?.kind !== "slow") return pace;
  return {
    firstByteMs: fault.firstByteMs ?? pace.firstByteMs,
    betweenEventsMs: fault.betweenEventsMs ?? pace.betweenEventsMs,
  };
}
