import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { parseJson } from "@longhaul/core/internal/messages";
import type { WireAnswer } from "./subject.ts";

export interface ReceivedRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Parsed body of the request if it is JSON, else its text. */
  readonly body: unknown;
}

/** A loopback server that plays recorded answers, one per request. The last answer repeats. */
export interface WireServer {
  readonly baseUrl: string;
  readonly requests: readonly ReceivedRequest[];
  /** Resolves when the first request has arrived completely. */
  readonly firstRequest: Promise<void>;
  /** Resolves when a client has dropped a connection before its answer was complete. */
  readonly dropped: Promise<void>;
  close(): Promise<void>;
}

export interface ServingOptions {
  /** Sends the body in pieces of this size. Default: the whole body at once. */
  readonly chunkBytes?: number;
}

export async function serveWires(
  answers: readonly WireAnswer[],
  options: ServingOptions = {},
): Promise<WireServer> {
  const requests: ReceivedRequest[] = [];
  const first = signal();
  const drop = signal();
  const server = createServer(async (request, response) => {
    const answer = answers[Math.min(requests.length, answers.length - 1)];
    response.on("close", () => {
      if (!response.writableFinished) drop.resolve();
    });
    requests.push({ path: request.url ?? "", headers: request.headers, body: await readBody(request) });
    first.resolve();
    if (answer !== undefined) await play(answer, response, options);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    firstRequest: first.promise,
    dropped: drop.promise,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function play(answer: WireAnswer, response: ServerResponse, options: ServingOptions): Promise<void> {
  const whole = Buffer.from(answer.body, "utf8");
  const bytes = whole.subarray(0, answer.cutAfterBytes ?? whole.length);
  if (answer.hang === true && bytes.length === 0) return;
  response.writeHead(answer.status ?? 200, answer.headers ?? contentType(answer));
  response.flushHeaders();
  const size = options.chunkBytes ?? Math.max(1, bytes.length);
  for (let start = 0; start < bytes.length; start += size) {
    await write(response, bytes.subarray(start, start + size));
  }
  if (answer.cutAfterBytes !== undefined) response.destroy();
  else if (answer.hang !== true) response.end();
}

function contentType(answer: WireAnswer): Readonly<Record<string, string>> {
  const isStream = /^(event|data|:)/.test(answer.body);
  return { "content-type": isStream ? "text/event-stream; charset=utf-8" : "application/json" };
}

/** Waits until the operating system has sent the piece, so that pieces are not merged. */
function write(response: ServerResponse, piece: Buffer): Promise<void> {
  return new Promise((resolve) => {
    response.write(piece, () => setImmediate(resolve));
  });
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  const text = Buffer.concat(pieces).toString("utf8");
  return parseJson(text) ?? text;
}

function signal(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
