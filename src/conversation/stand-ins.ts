import { type CollapsedSpan, collapsedUuids, expandedSpanIds, isCollapsedSpan } from "./collapsed.ts";
import { type Entry, isCompactBoundary, isEntry, isSummaryEntry } from "./entry.ts";
import { countMessages } from "./flatten/flatten.ts";
import { isSnipMarker, type SnipMarker, snippedUuids } from "./snipped.ts";

/** What stands in the place of other entries: a marker where messages were removed, or a collapsed span. */
export function isStandIn(entry: Entry): entry is SnipMarker | CollapsedSpan {
  return isSnipMarker(entry) || isCollapsedSpan(entry);
}

/** True if the stand-in no longer leads back to its messages: it is all that the conversation has of them. */
export const isSettled = (entry: SnipMarker | CollapsedSpan): boolean =>
  (isSnipMarker(entry) ? entry.snipped.isSettled : entry.collapsed.isSettled) === true;

/** Uuids of what this entry stands for. */
export function standInUuids(entry: Entry): readonly string[] {
  return isSnipMarker(entry) ? snippedUuids(entry) : collapsedUuids(entry);
}

export const standsFor = (entry: Entry, uuid: string): boolean => standInUuids(entry).includes(uuid);

/** Nothing can stand for the boundary of a compaction or for its summary: they are all that is left. */
export function mayGiveWay(entry: Entry): boolean {
  return isEntry(entry) && !isCompactBoundary(entry) && !isSummaryEntry(entry);
}

/**
 * The number of messages that these entries are in a request, with those that a stand-in stands for in its place. A
 * message of which only a part is left counts on both sides of a stand-in.
 */
export function messagesBehind(entries: readonly Entry[]): number {
  let [messages, from] = [0, 0];
  for (const [index, entry] of entries.entries()) {
    const recorded = recordedMessages(entry);
    if (recorded === undefined) continue;
    messages += countMessages(entries.slice(from, index)) + recorded;
    from = index + 1;
  }
  return messages + countMessages(from === 0 ? entries : entries.slice(from));
}

/** Undefined for what stands for nothing, or does not say for how many messages. */
function recordedMessages(entry: Entry): number | undefined {
  if (!isEntry(entry)) return undefined;
  if (isSnipMarker(entry)) return entry.snipped.messages;
  const recorded = isCollapsedSpan(entry) ? entry.collapsed.messages : undefined;
  return typeof recorded === "number" ? recorded : undefined;
}

/**
 * A transcript as the conversation was: there the messages are still in their place, and what stands for them is a
 * line further on. It comes where the first of them was; a span that was expanded gives way to what it stood for.
 *
 * The lines are taken in their order, so that the newest word counts. A line can claim only what stands above it
 * and is not claimed yet: nothing can run in a circle, and whatever is claimed wrongly stays to be seen.
 */
export function withStandInsApplied(entries: readonly Entry[]): readonly Entry[] {
  if (!entries.some(isStandIn)) return entries;
  return new Projection(entries).shown();
}

class Projection {
  readonly #entries: readonly Entry[];
  /** By index: that of the line which stands for it. Always a later one. */
  readonly #owners = new Map<number, number>();
  readonly #claims = new Map<number, readonly number[]>();
  /** Spans that were expanded. */
  readonly #gone = new Set<number>();
  readonly #places = new Map<string, number>();
  readonly #spans = new Map<string, number>();

  constructor(entries: readonly Entry[]) {
    this.#entries = entries;
    for (const [index, entry] of entries.entries()) {
      if (!isEntry(entry)) continue;
      this.#claim(index, entry);
      for (const spanId of expandedSpanIds(entry)) this.#expand(spanId);
      if (typeof entry.uuid === "string") this.#places.set(entry.uuid, index);
    }
  }

  #claim(index: number, entry: Entry): void {
    if (isCollapsedSpan(entry)) this.#spans.set(entry.collapsed.spanId, index);
    const claimed: number[] = [];
    for (const uuid of standInUuids(entry)) {
      const place = this.#places.get(uuid);
      if (place === undefined || !this.#isFree(place)) continue;
      this.#owners.set(place, index);
      claimed.push(place);
    }
    if (claimed.length > 0) this.#claims.set(index, claimed);
  }

  #isFree(place: number): boolean {
    const entry = this.#entries[place];
    if (entry === undefined || !mayGiveWay(entry)) return false;
    return !this.#owners.has(place) && !this.#gone.has(place);
  }

  /** One that stands for nothing here would only vanish. */
  #expand(spanId: string): void {
    const span = this.#spans.get(spanId);
    const claims = span === undefined ? undefined : this.#claims.get(span);
    if (span === undefined || claims === undefined || !this.#isFree(span)) return;
    for (const place of claims) this.#owners.delete(place);
    this.#claims.delete(span);
    this.#gone.add(span);
  }

  shown(): readonly Entry[] {
    const roots: number[] = this.#entries.map((_, index) => index);
    for (let index = roots.length - 1; index >= 0; index--) {
      const owner = this.#owners.get(index);
      if (owner !== undefined) roots[index] = roots[owner] ?? owner;
    }
    const isPlaced = new Set<number>();
    const shown: Entry[] = [];
    for (const root of roots) {
      if (isPlaced.has(root) || this.#gone.has(root)) continue;
      isPlaced.add(root);
      shown.push(this.#entries[root] as Entry);
    }
    return shown;
  }
}
