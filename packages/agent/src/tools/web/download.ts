import { lookup as dnsLookup } from "node:dns";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest, type RequestOptions } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { pipeline, type Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { withoutHidden } from "./page-text.ts";
import type { PrivateNetwork } from "./web-address.ts";

const KIB = 1024;
const MIB = 1024 * KIB;
/** Maximum bytes after decompression. A longer page is cut, because no model reads that much. */
export const MAX_BODY_BYTES: number = 10 * MIB;
/**
 * Maximum bytes that a server may send in total. An honest server adds a few percent to a body, for chunk
 * framing and headers. A hostile server can send endless data that adds no byte to the body. Examples are
 * chunk extensions, trailers and compressed data that expands to nothing.
 */
const MAX_RECEIVED_BYTES = 12 * MIB;
/**
 * Maximum bytes before the response begins. Interim responses (1xx) and empty lines can be endless, and no
 * page needs many.
 */
const MAX_BYTES_BEFORE_RESPONSE = 64 * KIB;
/**
 * Maximum bytes of one set of headers: the default of Node. This limit applies even if Node's command line
 * raises the default.
 */
const MAX_HEADER_BYTES = 16 * KIB;
/** Status codes of redirects. Other codes, such as 304, do not say where the page is. */
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const HEADERS = {
  "user-agent": "longhaul (an agent that reads a page for its user)",
  accept: "text/markdown, text/html;q=0.9, text/*;q=0.8, application/json;q=0.8, */*;q=0.1",
  "accept-encoding": "gzip, br",
};

export interface DownloadOptions {
  readonly network: PrivateNetwork;
  /** True to allow the host to have an address in a private network. */
  readonly mayBePrivate: boolean;
  readonly signal: AbortSignal;
  readonly lookup?: LookupFunction | undefined;
}

export type Download =
  | {
      readonly kind: "body";
      readonly status: number;
      readonly type: string;
      readonly bytes: Buffer;
      readonly isCut: boolean;
    }
  | { readonly kind: "redirect"; readonly to: string };

/** Error for a host with a public name and an address in a private network. */
export class PrivateAddressError extends Error {
  readonly address: string;

  constructor(hostname: string, address: string) {
    super(`${hostname} has the private address ${address}`);
    this.address = address;
  }
}

interface Answer {
  readonly response: IncomingMessage;
  /**
   * Returns the first failure of the connection. Despite such a failure, Node may report the body as
   * complete.
   */
  failure(): unknown;
}

/** Sends one request without following redirects. */
export async function download(url: URL, options: DownloadOptions): Promise<Download> {
  const { response, failure } = await answerOf(url, options);
  const { statusCode: status = 0, headers } = response;
  if (REDIRECTS.has(status) && headers.location !== undefined) {
    response.destroy();
    return { kind: "redirect", to: headers.location };
  }
  const body = await readSome(unpacked(response, headers["content-encoding"])).catch((error: unknown) => {
    throw failure() ?? error;
  });
  // A body without a length ends with the connection, so Node treats a reset or the time limit as its end.
  const hasLength = headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined;
  if (!body.isCut && !hasLength && failure() !== undefined) throw failure();
  return { kind: "body", status, type: headers["content-type"] ?? "", ...body };
}

function answerOf(url: URL, { signal, ...options }: DownloadOptions): Promise<Answer> {
  const how: RequestOptions = {
    headers: HEADERS,
    signal,
    // There is one connection per request, so no idle connection keeps the process alive.
    agent: false,
    lookup: guarded(options),
    maxHeaderSize: MAX_HEADER_BYTES,
    insecureHTTPParser: false,
  };
  return new Promise((resolve, reject) => {
    let failure: unknown;
    let hasResponse = false;
    const fail = (error: unknown): void => {
      failure ??= error;
      reject(failure);
    };
    const request = (url.protocol === "https:" ? httpsRequest : httpRequest)(url, how, (response) => {
      hasResponse = true;
      resolve({ response, failure: () => failure });
    });
    request.on("error", fail);
    // Node closes the connection without an error if the server switches protocols.
    request.on("close", () =>
      reject(
        new FetchFailure(
          "The server closed the connection without a page. Try again once, then use another source.",
          "no response",
        ),
      ),
    );
    // Node's parser listens first, so the response is known when its bytes are counted.
    request.on("socket", (socket) => {
      let received = 0;
      socket.on("data", ({ length }: Buffer) => {
        received += length;
        if (received <= (hasResponse ? MAX_RECEIVED_BYTES : MAX_BYTES_BEFORE_RESPONSE)) return;
        const what = hasResponse
          ? `more than ${MAX_RECEIVED_BYTES / MIB} MB and the page was still not complete`
          : `more than ${MAX_BYTES_BEFORE_RESPONSE / KIB} KB before its response began`;
        fail(new FetchFailure(`The server sent ${what}. Use another source.`, "endless"));
        request.destroy();
      });
    });
    request.end();
  });
}

/**
 * Creates a lookup that checks the same addresses that the connection uses. A second lookup could return
 * another address.
 */
function guarded(options: Omit<DownloadOptions, "signal">): LookupFunction {
  const { lookup = dnsLookup as LookupFunction, network, mayBePrivate } = options;
  return (hostname, how, report) =>
    lookup(hostname, how, (error, found, family) => {
      const addresses = typeof found === "string" ? [found] : (found ?? []).map(({ address }) => address);
      const bad = mayBePrivate ? undefined : addresses.find((address) => network.hasAddress(address));
      if (error) report(error, found, family);
      else if (addresses.length === 0 || addresses.some((address) => isIP(address) === 0))
        report(Object.assign(new Error("no address"), { code: "ENOTFOUND" }), found, family);
      else report(bad === undefined ? null : new PrivateAddressError(hostname, bad), found, family);
    });
}

function unpacked(response: IncomingMessage, encoding = "identity"): Readable {
  const how = encoding.trim().toLowerCase();
  if (how === "identity" || how === "") return response;
  const unpack = UNPACKERS.get(how);
  if (unpack === undefined) {
    response.destroy();
    // The header is the server's text. Show it only if it looks like a list of encodings.
    const name = /^[a-z0-9-]{1,20}(?:, ?[a-z0-9-]{1,20}){0,2}$/.exec(how)?.[0] ?? "an unknown encoding";
    throw new FetchFailure(
      `The page is compressed in a way that WebFetch does not read (${name}). Use another source.`,
      "unknown compression",
    );
  }
  // A failure of one stream destroys the other, and the reader gets the error.
  return pipeline(response, unpack(), () => undefined);
}

const UNPACKERS: ReadonlyMap<string, () => ReturnType<typeof createGunzip>> = new Map([
  ["gzip", createGunzip],
  ["x-gzip", createGunzip],
  ["br", createBrotliDecompress],
  ["deflate", createInflate],
]);

async function readSome(body: Readable): Promise<{ readonly bytes: Buffer; readonly isCut: boolean }> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    // Leaving the loop closes the connection.
    if (length > MAX_BODY_BYTES) break;
  }
  return { bytes: Buffer.concat(chunks).subarray(0, MAX_BODY_BYTES), isCut: length > MAX_BODY_BYTES };
}

/** Failure that this tool detected, as text for the model: what happened and what to do. */
class FetchFailure extends Error {
  /** Summary of a few words for people. */
  readonly summary: string;

  constructor(message: string, summary: string) {
    super(message);
    this.summary = summary;
  }
}

/**
 * Maximum characters of a foreign message. Node quotes certificates in its messages, and a server chooses
 * what its certificate says.
 */
const MAX_FOREIGN_CHARS = 200;
const OTHER_SOURCE = "Use another source.";

/** Codes of Node's errors, with a few words for people and a sentence for the model. */
const KNOWN: readonly (readonly [code: RegExp, summary: string, words: string])[] = [
  [/^ENOTFOUND$/, "no such host", "The host name has no address. Check its spelling."],
  [
    /^EAI_/,
    "no such host",
    "The host name could not be looked up. Check the network connection, then try again.",
  ],
  [/^ECONNREFUSED$/, "not reached", "Nothing listens on that host and port. Check both."],
  [
    /^(?:ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)$/,
    "not reached",
    `This machine cannot reach the host. ${OTHER_SOURCE}`,
  ],
  [
    /^(?:ECONNRESET|EPIPE|ERR_STREAM_PREMATURE_CLOSE)$/,
    "incomplete",
    "The server closed the connection before the page was complete. Try again once, then use another source.",
  ],
  [
    /^HPE_HEADER_OVERFLOW$/,
    "endless",
    `The server sent more than ${MAX_HEADER_BYTES / KIB} KB of headers. ${OTHER_SOURCE}`,
  ],
  [/^HPE_/, "invalid HTTP", `The server did not send a valid HTTP response. ${OTHER_SOURCE}`],
  [/^(?:EPROTO|ERR_SSL_)/, "no HTTPS", "The server does not speak HTTPS on this port. Check the port."],
  [
    /CERT|SELF_SIGNED|UNABLE_TO_|ALTNAME/,
    "bad certificate",
    `The certificate of the server is not valid for this host. ${OTHER_SOURCE}`,
  ],
  [
    /^(?:Z_|ERR__ERROR_|ERR_BROTLI)/,
    "incomplete",
    `The compressed page is damaged or incomplete. ${OTHER_SOURCE}`,
  ],
];

/**
 * Describes Node's errors to the model. Quotes nothing that a server wrote, except a short unknown message.
 */
export function connectionFailure(error: unknown): FetchFailure {
  if (error instanceof FetchFailure) return error;
  const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
  const [, summary, known] = KNOWN.find(([pattern]) => pattern.test(code)) ?? [];
  if (known !== undefined && summary !== undefined) return new FetchFailure(`${known} (${code})`, summary);
  const foreign = error instanceof Error ? error.message || code || error.name : String(error);
  const words = withoutHidden(foreign).replace(/\s+/g, " ").slice(0, MAX_FOREIGN_CHARS).toWellFormed();
  return new FetchFailure(`The connection failed: ${words}. ${OTHER_SOURCE}`, "not reached");
}
