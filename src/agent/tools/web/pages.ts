import type { LookupFunction } from "node:net";
import { LRUCache } from "lru-cache";
import type { PermissionNeed } from "../../permission.ts";
import type { ToolContext } from "../../tool.ts";
import type { WebAddress } from "./address.ts";
import { type Fetched, fetchPage } from "./fetch-page.ts";
import type { PrivateNetwork } from "./private-network.ts";

/** Long enough for several questions about one page, short enough to stay current. */
const CACHE_MS = 15 * 60 * 1_000;
/** Two pages of the greatest size, some 40 MB of memory. */
const CACHE_CHARS = 20_000_000;
/** For all redirects, the download and the conversion of one page. A person waits for it. */
const TIMEOUT_MS = 30_000;

export interface PagesOptions {
  readonly network: PrivateNetwork;
  /** For one page. Default: 30 seconds. */
  readonly timeoutMs?: number | undefined;
  /** Looks up host names. Default: the lookup of the system. */
  readonly lookup?: LookupFunction | undefined;
  /** In milliseconds. Default: a clock of the process. */
  readonly now?: (() => number) | undefined;
}

/** Fetches pages as far as their permissions reach, and keeps them for a while. */
export class Pages {
  readonly #options: PagesOptions;
  /** By permission and address. A page from a private network needs the same permission again. */
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

  /** Decides by the host name. A lookup would send the name out before the user allows it. */
  needFor({ url, isPrivate }: WebAddress, { callId }: ToolContext): PermissionNeed {
    const call = callKey(callId, url);
    // A refused call leaves its key behind.
    this.#askedAsPrivate.delete(call);
    if (!isPrivate && !this.#foundPrivate.has(url.host)) return publicNeed(url);
    this.#askedAsPrivate.add(call);
    return privateNeed(url);
  }

  async get({ url, isPrivate }: WebAddress, { callId, signal, onProgress }: ToolContext): Promise<Fetched> {
    // The user may have answered before the host turned out to be private, so only the question counts.
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

/** Models choose the ids of calls, so two calls may share one. The permission of one must not serve the other. */
const callKey = (callId: string, url: URL): string => `${url.href} ${callId}`;

const publicNeed = (url: URL): PermissionNeed => ({
  kind: "web",
  title: `Fetch a page from ${url.host}`,
  detail: url.href,
  key: `web:${url.host}`,
  scope: `pages of ${url.host}`,
});

/** The prefix differs from `web:`, so a rule for the public web never allows a private host. */
const privateNeed = (url: URL): PermissionNeed => ({
  kind: "private-network",
  title: `Fetch a page from ${url.host}, which is this machine or in its private network`,
  detail: url.href,
  key: `web-private:${url.host}`,
  scope: `pages of ${url.host}, in the private network`,
});
