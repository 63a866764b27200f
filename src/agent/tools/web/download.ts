import { lookup as dnsLookup } from "node:dns";
import { type ClientRequestArgs, request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import type { LookupFunction } from "node:net";
import { pipeline, type Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import type { PrivateNetwork } from "./private-network.ts";

/** Unpacked. What is longer is cut: nobody reads a page that long. */
const MAX_BYTES = 10 * 1024 * 1024;
const HEADERS = {
  "user-agent": "longhaul (an agent that reads a page for its user)",
  accept: "text/markdown, text/html;q=0.9, text/*;q=0.8, application/json;q=0.8, */*;q=0.1",
  "accept-encoding": "gzip, br",
};

export interface DownloadOptions {
  readonly network: PrivateNetwork;
  /** Whether the host may have an address of the private network. */
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

/** A host with a public name has an address of the private network. */
export class PrivateAddressError extends Error {
  readonly address: string;

  constructor(hostname: string, address: string) {
    super(`${hostname} has the private address ${address}`);
    this.address = address;
  }
}

/** One request, without following anything. */
export async function download(url: URL, options: DownloadOptions): Promise<Download> {
  const response = await answerOf(url, options);
  const { statusCode: status = 0, headers } = response;
  if (status >= 300 && status < 400 && headers.location !== undefined) {
    response.destroy();
    return { kind: "redirect", to: headers.location };
  }
  const body = unpacked(response, headers["content-encoding"]);
  return { kind: "body", status, type: headers["content-type"] ?? "", ...(await readSome(body)) };
}

function answerOf(url: URL, { signal, ...options }: DownloadOptions): Promise<IncomingMessage> {
  // A connection of its own: none is left open that would keep the process from ending.
  const how: ClientRequestArgs = { headers: HEADERS, signal, agent: false, lookup: guarded(options) };
  return new Promise((resolve, reject) => {
    const request = (url.protocol === "https:" ? httpsRequest : httpRequest)(url, how, resolve);
    request.on("error", reject);
    request.end();
  });
}

/** Asked when the connection is made: a name could lead elsewhere a moment later than it was looked up. */
function guarded(options: Omit<DownloadOptions, "signal">): LookupFunction {
  const { lookup = dnsLookup as LookupFunction, network, mayBePrivate } = options;
  return (hostname, how, tell) =>
    lookup(hostname, how, (error, found, family) => {
      const addresses = typeof found === "string" ? [found] : (found ?? []).map(({ address }) => address);
      const bad = mayBePrivate ? undefined : addresses.find((address) => network.hasAddress(address));
      tell(error ?? (bad === undefined ? null : new PrivateAddressError(hostname, bad)), found, family);
    });
}

function unpacked(response: IncomingMessage, encoding = "identity"): Readable {
  const how = encoding.trim().toLowerCase();
  if (how === "identity" || how === "") return response;
  const unpack = UNPACKERS.get(how);
  if (unpack === undefined) {
    response.destroy();
    throw new Error(`the answer is packed in a way that is not known (${how.slice(0, 40)})`);
  }
  // The failure of one end is the failure of the other, and reading tells of it.
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
    // To leave the loop is to hang up.
    if (length > MAX_BYTES) break;
  }
  return { bytes: Buffer.concat(chunks).subarray(0, MAX_BYTES), isCut: length > MAX_BYTES };
}
