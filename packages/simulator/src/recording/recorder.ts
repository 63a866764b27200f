import { isUtf8 } from "node:buffer";
import {
  type ClientRequest,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
} from "node:http";
import { request as httpsRequest } from "node:https";
import { LonghaulError } from "@longhaul/core/errors";
import { strangerIn } from "../server/access.ts";
import { receiveBody } from "../server/body.ts";
import { type LocalServer, listen } from "../server/listen.ts";
import { isRecordableStatus, keptHeaders, type RecordedAnswer } from "./exchange-record.ts";
import { refusesUpgrade, sendError } from "./provider-error.ts";
import { bodyFault, keyRemoverFor, MAX_BODY_BYTES, recordedRequest } from "./received-request.ts";
import { RecordingWriter } from "./recording-file.ts";
import type { KeyRemover } from "./secrets.ts";

export interface RecorderOptions {
  /** Address of the provider, without `/v1`: for example `https://api.anthropic.com`. */
  readonly upstream: string;
  /** The recording. If it exists, the recorder adds to it. */
  readonly file: string;
  /** Port of the server. Default: any free port. */
  readonly port?: number;
  /** Called after each request. */
  readonly onRequest?: (request: ForwardedRequest) => void;
}

/** A request that the recorder has forwarded. */
export interface ForwardedRequest {
  readonly method: string;
  readonly path: string;
  /** Status of the upstream. Undefined if it did not answer. */
  readonly status: number | undefined;
  /** Reason why the recording does not contain the request. Undefined if it does. */
  readonly problem: string | undefined;
  readonly durationMs: number;
}

/** A proxy that records. */
export interface Recorder extends LocalServer {
  /** Number of requests that this recorder has written to the file. */
  readonly recorded: number;
}

/**
 * Starts a server that passes each request to the provider, and each answer back as it arrives. It writes both
 * to the file without keys. The end of an answer waits until the file is on the disk, so that every answer
 * that a client has received completely is in the recording.
 */
export async function startRecorder(options: RecorderOptions): Promise<Recorder> {
  const upstream = upstreamOf(options.upstream);
  const writer = await RecordingWriter.open(options.file);
  let recorded = 0;
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const startedAt = performance.now();
    const { status, problem } = await forward(request, response, upstream, writer);
    if (problem === undefined) recorded++;
    const { method = "GET", url = "/" } = request;
    const path = url.split("?")[0] ?? "/";
    options.onRequest?.({ method, path, status, problem, durationMs: performance.now() - startedAt });
  };
  const listening = await listen(options.port ?? 0, serve).catch(async (error: unknown) => {
    await writer.close();
    throw error;
  });
  return {
    ...listening,
    get recorded(): number {
      return recorded;
    },
    close: async (): Promise<void> => {
      await listening.close();
      await writer.close();
    },
  };
}

function upstreamOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isUsable =
    (url?.protocol === "http:" || url?.protocol === "https:") &&
    url.username === "" &&
    url.password === "" &&
    url.search === "";
  if (url !== undefined && isUsable) return url;
  throw new LonghaulError("upstream-invalid", "The upstream is not the address of a provider.", {
    remedy: "Pass an address without a key and without parameters, such as https://api.anthropic.com.",
  });
}

type Forwarded = Pick<ForwardedRequest, "status" | "problem">;

async function forward(
  request: IncomingMessage,
  response: ServerResponse,
  upstream: URL,
  writer: RecordingWriter,
): Promise<Forwarded> {
  const stranger = strangerIn(request.headers);
  if (stranger !== undefined) {
    sendError(request, response, { status: 403, code: "permission_error", message: stranger });
    return { status: undefined, problem: stranger };
  }
  if (refusesUpgrade(request, response))
    return { status: undefined, problem: "WebSockets are not recorded." };
  const remover = keyRemoverFor(request);
  let content: Buffer;
  try {
    ({ content } = await receiveBody(request, MAX_BODY_BYTES));
  } catch (error) {
    const message = `The recorder cannot read the body: ${bodyFault(error)}`;
    sendError(request, response, { status: 400, code: "invalid_request_error", message });
    return { status: undefined, problem: message };
  }
  const outgoing = openUpstream(request, content, upstream);
  response.on("close", () => {
    if (!response.writableFinished) outgoing.destroy();
  });
  let incoming: IncomingMessage;
  try {
    outgoing.end(content);
    incoming = await answerTo(outgoing);
  } catch (error) {
    if (response.destroyed) return { status: undefined, problem: "The client disconnected." };
    const message = `The recorder got no answer from the upstream: ${remover.clean((error as Error).message)}.`;
    sendError(request, response, { status: 502, code: "api_error", message });
    return { status: undefined, problem: message };
  }
  return passOn(incoming, response, async (answer) => {
    await writer.append({ request: recordedRequest(request, content, remover), answer: answer(remover) });
    return undefined;
  });
}

/** Waits for the start of an answer that a client can get and a recording can contain. */
async function answerTo(outgoing: ClientRequest): Promise<IncomingMessage> {
  const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.on("response", resolve);
    // An error after the start of the answer also ends the answer, where it is handled.
    outgoing.on("error", reject);
    // An upstream that changes the protocol without a request for it causes no error.
    outgoing.on("close", () => reject(new Error("it ended the connection without an answer")));
  });
  if (isRecordableStatus(incoming.statusCode)) return incoming;
  outgoing.destroy();
  throw new Error(`it sent the status ${incoming.statusCode}, which is not valid`);
}

/** Headers that belong to one connection, not to the message (RFC 9110, section 7.6.1). */
const CONNECTION_HEADERS = [
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];

/** Headers of a request that the recorder sets itself. It sends the body decompressed. */
const OWN_REQUEST_HEADERS = ["host", "content-length", "content-encoding", "accept-encoding", "expect"];

function forwardedHeaders(headers: IncomingHttpHeaders, left: readonly string[]): OutgoingHttpHeaders {
  const named = (headers.connection ?? "").split(",").map((name) => name.trim().toLowerCase());
  const dropped = [...CONNECTION_HEADERS, ...named, ...left];
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !dropped.includes(name)));
}

function openUpstream(request: IncomingMessage, content: Buffer, upstream: URL): ClientRequest {
  const { url = "/", method = "GET", headers } = request;
  const base = upstream.pathname.replace(/\/$/, "");
  // Clients of OpenAI have the path `/v1` in their own address already.
  const path = base !== "" && (url === base || url.startsWith(`${base}/`)) ? url : base + url;
  const send = upstream.protocol === "https:" ? httpsRequest : httpRequest;
  return send({
    protocol: upstream.protocol,
    hostname: upstream.hostname.replace(/^\[|\]$/g, ""),
    port: upstream.port,
    method,
    path,
    headers: {
      ...forwardedHeaders(headers, OWN_REQUEST_HEADERS),
      host: upstream.host,
      // The recording needs the plain text.
      "accept-encoding": "identity",
      ...(content.length > 0 || method === "POST" ? { "content-length": content.length } : {}),
    },
  });
}

/** Passes an answer on, piece by piece, and records it before its end. */
async function passOn(
  incoming: IncomingMessage,
  response: ServerResponse,
  record: (answer: (remover: KeyRemover) => RecordedAnswer) => Promise<undefined>,
): Promise<Forwarded> {
  const { statusCode: status = 502, statusMessage, headers } = incoming;
  const reason = isPrintable(statusMessage) ? statusMessage : undefined;
  // A client that knows the length regards the answer as complete before it is on the disk.
  const left = response.req.method === "HEAD" ? [] : ["content-length"];
  response.writeHead(status, reason, forwardedHeaders(headers, left));
  response.flushHeaders();
  const pieces: Buffer[] = [];
  let isCut = false;
  try {
    for await (const piece of incoming) {
      pieces.push(piece as Buffer);
      if (!response.write(piece)) await roomIn(response);
    }
  } catch {
    isCut = true;
  }
  const content = Buffer.concat(pieces);
  // Some clients disconnect after the last event, before the provider ends the stream.
  const isWhole = !isCut || endsWithLastEvent(content);
  if (response.destroyed && !isWhole) return { status, problem: "The client disconnected." };
  const problem =
    problemOfEncoding(headers) ??
    (await record((remover) => recordedAnswer(status, headers, content, !isWhole, remover)).catch(
      (error: unknown) => `The recorder cannot write the file: ${(error as Error).message}`,
    ));
  if (isCut) response.destroy();
  else response.end();
  return { status, problem };
}

/** Node throws if the text beside the status contains control characters, but it accepts them from others. */
const isPrintable = (text: string | undefined): boolean => /^[\t\x20-\x7e]*$/.test(text ?? "");

/** Waits until the client has read enough, or has disconnected. */
function roomIn(response: ServerResponse): Promise<void> {
  if (response.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const proceed = (): void => {
      response.off("drain", proceed);
      response.off("close", proceed);
      resolve();
    };
    response.on("drain", proceed);
    response.on("close", proceed);
  });
}

/** Events with which the APIs end a stream. */
const LAST_EVENTS: readonly RegExp[] = [
  /^event: *(?:message_stop|response\.(?:completed|failed|incomplete)|error)\r?$/m,
  /^data: *\[DONE\]/m,
];

/** True for a stream that contains the event with which its API ends every stream. */
function endsWithLastEvent(content: Buffer): boolean {
  const text = content.toString();
  const events = text.split(/(?<=\r?\n\r?\n)/);
  const last = events.findLast((event) => event.trim() !== "") ?? "";
  return /\r?\n\r?\n$/.test(last) && LAST_EVENTS.some((pattern) => pattern.test(last));
}

function problemOfEncoding({
  "content-encoding": encoding = "identity",
}: IncomingHttpHeaders): string | undefined {
  if (encoding === "identity") return undefined;
  return `The upstream compressed its answer (${encoding}), although the recorder asked for plain text.`;
}

function recordedAnswer(
  status: number,
  headers: IncomingHttpHeaders,
  content: Buffer,
  isCut: boolean,
  remover: KeyRemover,
): RecordedAnswer {
  return {
    status,
    headers: remover.cleanHeaders(keptHeaders(headers)),
    ...(isUtf8(content)
      ? { text: remover.clean(content.toString()) }
      : { base64: remover.cleanBytes(content).toString("base64") }),
    ...(isCut && { cut: true }),
  };
}
