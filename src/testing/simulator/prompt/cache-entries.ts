import type { CacheTtl } from "./marks.ts";
import type { PrefixNode } from "./prefix-tree.ts";

const MINUTE_MS = 60_000;

const TTL_MS: Readonly<Record<CacheTtl, number>> = { "5m": 5 * MINUTE_MS, "1h": 60 * MINUTE_MS };

/** Expired entries are never read, so it is enough to clear them away now and then. */
const SWEEP_EVERY_MS = MINUTE_MS;

/** A prefix that can be read again. */
export interface CacheEntry {
  readonly node: PrefixNode;
  /** Who can read it: workspace, model, level, and the settings on which that level depends. */
  readonly scope: string;
  /** Tool results that cached edits have left out of it, in their order. */
  readonly deleted: readonly string[];
  readonly ttl: CacheTtl;
}

interface LivingEntry extends CacheEntry {
  readonly expiresAt: number;
}

export class CacheEntries {
  readonly #byNode = new Map<PrefixNode, readonly LivingEntry[]>();
  #sweptAt = Number.NEGATIVE_INFINITY;

  get size(): number {
    let size = 0;
    for (const entries of this.#byNode.values()) size += entries.length;
    return size;
  }

  /**
   * The entry that lacks the most of what the request wants left out, and nothing that it wants kept: the
   * provider can cut out of a cached prefix, but not put back in.
   */
  find(node: PrefixNode, scope: string, wanted: ReadonlySet<string>, at: number): CacheEntry | undefined {
    let best: CacheEntry | undefined;
    for (const entry of this.#byNode.get(node) ?? []) {
      if (entry.scope !== scope || entry.expiresAt <= at) continue;
      if (!entry.deleted.every((id) => wanted.has(id))) continue;
      if (best === undefined || entry.deleted.length > best.deleted.length) best = entry;
    }
    return best;
  }

  /** A hit does not change the lifetime of what is there: it starts it anew. */
  write(entry: CacheEntry, at: number): void {
    const entries = this.#byNode.get(entry.node) ?? [];
    const known = entries.find((one) => isSameEntry(one, entry));
    const { ttl } = known !== undefined && known.expiresAt > at ? known : entry;
    const expiresAt = Math.max(known?.expiresAt ?? 0, at + TTL_MS[ttl]);
    const others = entries.filter((one) => one !== known);
    this.#byNode.set(entry.node, [...others, { ...entry, ttl, expiresAt }]);
    if (known === undefined) entry.node.held++;
  }

  sweep(now: number): void {
    if (now - this.#sweptAt < SWEEP_EVERY_MS) return;
    this.#sweptAt = now;
    for (const [node, entries] of this.#byNode) {
      const alive = entries.filter(({ expiresAt }) => expiresAt > now);
      node.held -= entries.length - alive.length;
      if (alive.length === 0) this.#byNode.delete(node);
      else this.#byNode.set(node, alive);
    }
  }
}

function isSameEntry(one: CacheEntry, other: CacheEntry): boolean {
  return (
    one.scope === other.scope &&
    one.deleted.length === other.deleted.length &&
    one.deleted.every((id, index) => id === other.deleted[index])
  );
}
