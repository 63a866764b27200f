import type { LookupFunction } from "node:net";
import { LRUCache } from "lru-cache";
import type { PermissionNeed } from "../../permission.ts";
import type { ToolContext } from "../../tool.ts";
import type { WebAddress } from "./address.ts";
import { type Fetched, fetchPage } from "./fetch-page.ts";
import type { PrivateNetwork } from "./private-network.ts";

/** So that several questions about one page fetch it once, and nobody is told what was true an hour ago. */
const CACHE_MS = 15 * 60 * 1_000;
const CACHE_CHARS = 20_000_000;
const TIMEOUT_MS = 30_000;

export interface PagesOptions {
  readonly network: PrivateNetwork;
  /** For one page; 30 seconds unless given. */
  readonly timeoutMs?: number | undefined;
  /** How names of hosts are looked up; as the system does unless given. */
  readonly lookup?: LookupFunction | undefined;
  /** In milliseconds; a clock of the process unless given. */
  readonly now?: (() => number) | undefined;
}

/** Pages of the web as one agent sees them: fetched once, from where it may. */
export class Pages {
  readonly #options: PagesOptions;
  readonly #kept: LRUCache<string, Extract<Fetched, { readonly kind: "page" }>>;
  /** Hosts with a public name that turned out to be private ones. */
  readonly #foundPrivate = new Set<string>();
  /** Calls for which the private network was what the user was asked about. */
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

  /** By the name of the host: to look it up would tell somebody, before it is allowed. */
  needFor({ url, isPrivate }: WebAddress, { callId }: ToolContext): PermissionNeed {
    // Models choose the ids of calls: one that was refused may come again for something else.
    this.#askedAsPrivate.delete(callId);
    if (!isPrivate && !this.#foundPrivate.has(url.host)) return publicNeed(url);
    this.#askedAsPrivate.add(callId);
    return privateNeed(url);
  }

  async get({ url, isPrivate }: WebAddress, { callId, signal, onProgress }: ToolContext): Promise<Fetched> {
    // Not by what is known of the host by now: the user may have been asked before it was.
    const mayBePrivate = this.#askedAsPrivate.delete(callId) || isPrivate;
    const kept = this.#kept.get(url.href);
    if (kept !== undefined) return kept;
    onProgress(`fetching from ${url.host}`);
    const { network, lookup, timeoutMs = TIMEOUT_MS } = this.#options;
    const fetched = await fetchPage(url, { network, mayBePrivate, signal, timeoutMs, lookup });
    if (fetched.kind === "private") this.#foundPrivate.add(url.host);
    if (fetched.kind === "page") this.#kept.set(url.href, fetched);
    return fetched;
  }
}

const publicNeed = (url: URL): PermissionNeed => ({
  kind: "web",
  title: `Fetch a page from ${url.host}`,
  detail: url.href,
  key: `web:${url.host}`,
  scope: `pages of ${url.host}`,
});

/** Another beginning than `web:`, so that no rule for the web allows what only this machine can reach. */
const privateNeed = (url: URL): PermissionNeed => ({
  kind: "web",
  title: `Fetch a page from ${url.host}, which is this machine or in its own network`,
  detail: url.href,
  key: `web-private:${url.host}`,
  scope: `pages of ${url.host}, in the private network`,
});
