import type { LookupFunction } from "node:net";
import { TimeLimitError, withTimeLimit } from "@longhaul/core/models";
import { LRUCache } from "lru-cache";
import type { PermissionNeed } from "../../permission.ts";
import type { ToolContext } from "../../tool.ts";
import {
  connectionFailure,
  type Download,
  type DownloadOptions,
  download,
  PrivateAddressError,
} from "./download.ts";
import { pageText } from "./page-text.ts";
import { type OtherAddress, type PrivateNetwork, readRedirect, type WebAddress } from "./web-address.ts";

/**
 * Lifetime of a cached page. It is long enough for several questions about one page, and short enough to stay
 * current.
 */
const CACHE_MS = 15 * 60 * 1_000;
/** Maximum characters in the cache. Two pages of the greatest size fit, which take some 40 MB of memory. */
const CACHE_CHARS = 20_000_000;
/** Time limit for all redirects, the download and the conversion of one page. A person waits for the page. */
const TIMEOUT_MS = 30_000;

export interface PagesOptions {
  readonly network: PrivateNetwork;
  /** Time limit for one page. Default: 30 seconds. */
  readonly timeoutMs?: number | undefined;
  /** Looks up host names. Default: the lookup of the system. */
  readonly lookup?: LookupFunction | undefined;
  /** Clock in milliseconds. Default: a clock of the process. */
  readonly now?: (() => number) | undefined;
}

/** Fetcher of web pages within the granted permissions. Caches the pages for a while. */
export class Pages {
  readonly #options: PagesOptions;
  /**
   * Cached pages. The key is the permission and the address, and the value is the page. So a cached page from
   * a private network needs the same permission again.
   */
  readonly #kept: LRUCache<string, Extract<Fetched, { readonly kind: "page" }>>;
  /** Hosts with a public name and a private address. */
  readonly #foundPrivate = new Set<string>();
  /** Calls whose permission names the private network. */
  readonly #askedAsPrivate = new Set<string>();

  constructor(options: PagesOptions) {
    this.#options = options;
    this.#kept = new LRUCache({
      ttl: CACHE_MS,
      ttlResolution: 0,
      maxSize: CACHE_CHARS,
      sizeCalculation: ({ text }) => text.length,
      ...(options.now === undefined ? {} : { perf: { now: options.now } }),
    });
  }

  /**
   * Returns the needed permission. Decides by the host name, because a lookup would send the name out before
   * the user allows it.
   */
  needFor({ url, isPrivate }: WebAddress, { callId }: ToolContext): PermissionNeed {
    const call = callKey(callId, url);
    // An earlier call with the same key may have been refused. A refused call never reaches `get`, so its key
    // is still in the set.
    this.#askedAsPrivate.delete(call);
    if (!isPrivate && !this.#foundPrivate.has(url.host)) return publicNeed(url);
    this.#askedAsPrivate.add(call);
    return privateNeed(url);
  }

  async get({ url, isPrivate }: WebAddress, { callId, signal, onProgress }: ToolContext): Promise<Fetched> {
    // The user may have answered before the host turned out to be private. Only a question that named the
    // private network allows a private address.
    const mayBePrivate = this.#askedAsPrivate.delete(callKey(callId, url)) || isPrivate;
    const pageKey = `${mayBePrivate ? "private" : "public"} ${url.href}`;
    const kept = this.#kept.get(pageKey);
    if (kept !== undefined) return kept;
    onProgress(`fetching from ${url.host}`);
    const { network, lookup, timeoutMs = TIMEOUT_MS } = this.#options;
    const fetched = await fetchPage(url, { network, mayBePrivate, signal, timeoutMs, lookup });
    if (fetched.kind === "private") this.#foundPrivate.add(url.host);
    if (fetched.kind === "page") this.#kept.set(pageKey, fetched);
    return fetched;
  }
}

/**
 * Returns a key for a call. Models choose the ids of calls, so two calls may have the same id. The permission
 * for one call must not apply to the other.
 */
const callKey = (callId: string, url: URL): string => `${url.href} ${callId}`;

const publicNeed = (url: URL): PermissionNeed => ({
  kind: "web",
  title: `Fetch a page from ${url.host}`,
  detail: url.href,
  key: `web:${url.host}`,
  scope: `pages from ${url.host}`,
});

/**
 * Creates the permission for a private host. Its prefix differs from `web:`, so a rule for the public web
 * never allows it.
 */
const privateNeed = (url: URL): PermissionNeed => ({
  kind: "private-network",
  title: `Fetch a page from ${url.host}, which is this machine or a host in its private network`,
  detail: url.href,
  key: `web-private:${url.host}`,
  scope: `pages from ${url.host}, in the private network`,
});

export type Fetched =
  | { readonly kind: "page"; readonly address: string; readonly text: string; readonly isCut: boolean }
  | OtherAddress
  /** Result for a public name with a private address. */
  | { readonly kind: "private"; readonly address: string }
  | {
      readonly kind: "failed";
      /** Text for the model: what happened and what to do. */
      readonly why: string;
      readonly summary: string;
      /** Beginning of the error page that the server sent. */
      readonly said?: string;
    };

/** Maximum number of redirects on one host. Browsers allow 20, but an honest site needs two or three. */
const MAX_REDIRECTS = 5;
/** Maximum characters of an error page. Its first lines say what is wrong. */
const MAX_ERROR_CHARS = 2_000;

/** Fetches a page. Rejects only when the caller's signal fires. */
export async function fetchPage(
  url: URL,
  options: DownloadOptions & { readonly timeoutMs: number },
): Promise<Fetched> {
  let end: AbortSignal | undefined;
  try {
    return await withTimeLimit(options.signal, options.timeoutMs, (signal) => {
      end = signal;
      return follow(url, { ...options, signal });
    });
  } catch (error) {
    options.signal.throwIfAborted();
    if (error instanceof PrivateAddressError) return { kind: "private", address: error.address };
    // At the time limit, the error depends on the interrupted step. So this checks the reason of the signal
    // instead.
    if (end?.reason instanceof TimeLimitError)
      return failed(
        `The page was not complete after ${options.timeoutMs / 1_000} seconds. Try again once, then use another source.`,
        "timed out",
      );
    const { message, summary } = connectionFailure(error);
    return failed(message, summary);
  }
}

async function follow(start: URL, options: DownloadOptions): Promise<Fetched> {
  let at = start;
  for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
    const got = await download(at, options);
    if (got.kind === "body") return await pageOf(at, got, options.signal);
    const next = readRedirect(at, got.to, options.network);
    if ("wrong" in next)
      return failed(
        `It redirects to an address that cannot be fetched. ${next.wrong} Use another source.`,
        "bad redirect",
      );
    if (next.kind === "redirect") return next;
    at = next.url;
  }
  return failed(
    `It redirects more than ${MAX_REDIRECTS} times without reaching a page. Use another address.`,
    "too many redirects",
  );
}

async function pageOf(
  url: URL,
  { status, type, bytes, isCut }: Extract<Download, { readonly kind: "body" }>,
  signal: AbortSignal,
): Promise<Fetched> {
  const page = await pageText({ type, bytes }, signal);
  if (status < 200 || status > 299) {
    const said = page?.text.slice(0, MAX_ERROR_CHARS).toWellFormed() ?? "";
    return {
      ...failed(
        `The server answered with status ${status}. Check the address or use another source.`,
        `status ${status}`,
      ),
      ...(said === "" ? {} : { said }),
    };
  }
  if (page === undefined)
    return failed(
      `It is not readable text (${typeName(type)}, ${bytes.length} bytes). Use another source.`,
      "not text",
    );
  if (page.text === "") return failed("The page has no text. Use another address.", "empty");
  return { kind: "page", address: url.href, text: page.text, isCut: isCut || page.isCut };
}

type Failed = Extract<Fetched, { readonly kind: "failed" }>;
const failed = (why: string, summary: string): Failed => ({ kind: "failed", why, summary });

/**
 * Returns the name of a type. The header is the server's text, so this returns only the part that has the
 * form of a type.
 */
const typeName = (type: string): string =>
  /^[\w.+-]{1,40}\/[\w.+-]{1,80}(?=$|[\s;])/.exec(type.trim())?.[0] ?? "unknown type";
