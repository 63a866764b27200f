import { isFromQueue, isSummaryEntry, PositionList, PositionSet } from "@longhaul/core/internal/messages";
import type { Entry } from "@longhaul/core/messages";
import {
  boundaryAt,
  continuedBefore,
  type EntryIndex,
  positionOf,
  previousOnMainThread,
} from "./entry-index.ts";

/** Result of a walk that needs more of the file. The part that was read is too short for an answer. */
export interface MoreNeeded {
  readonly needs: "boundary" | "whole-file" | { readonly uuid: string };
}

interface Chain {
  /**
   * Positions of the lines, starting at the leaf and ending at the boundary or root. The caller may change
   * the list.
   */
  readonly newestFirst: Int32Array;
  /** Entries whose parent is missing. They count as following the line above them. */
  readonly bridged: readonly number[];
  /**
   * Kept lines, if the boundary lists them. In that case, no other line above the boundary is part of the
   * conversation.
   */
  readonly listed?: ReadonlySet<number> | undefined;
}

export function isMoreNeeded(outcome: object): outcome is MoreNeeded {
  return "needs" in outcome;
}

interface Link {
  readonly child: number;
  readonly parentUuid: string | null;
}

/** Positions of kept lines to insert into a chain. They are ordered newest first, like the chain. */
interface Splice {
  readonly kept: readonly number[];
  readonly anchor: number;
}

/**
 * Walks from a leaf up to the boundary or root. If a compaction keeps messages, they stay in place and keep
 * their old parents. A plain walk would follow these parents past the boundary into all the old history. This
 * walk visits the kept messages and their anchor, and ends at the boundary.
 */
export class ChainWalker {
  readonly #index: EntryIndex;
  readonly #kept = new Map<number, readonly number[] | undefined>();
  readonly #boundaryByAnchor = new Map<number, number>();
  /** Boundaries that kept messages, oldest first. */
  readonly #preserving: readonly number[];

  constructor(index: EntryIndex) {
    this.#index = index;
    this.#preserving = [...index.preserved.keys()];
    for (const position of this.#preserving) {
      this.#boundaryByAnchor.set(this.#anchorOf(position), position);
    }
  }

  /**
   * If the leaf is a summary with kept messages, the walk starts at the newest kept message.
   * @param asOf file position of the next line to write. Compactions above this position have happened.
   */
  walkFrom(leaf: number, asOf: number = this.#index.entries.length): Chain | MoreNeeded {
    // An interrupted walk may have left unfinished lookups of kept messages.
    this.#kept.clear();
    const uuid = this.#index.entries[leaf]?.uuid ?? null;
    const chain = this.#follow({ child: asOf, parentUuid: uuid });
    if (isMoreNeeded(chain)) return chain;
    const listed = this.#listedBy(chain.newestFirst.at(-1) ?? -1);
    if (listed === undefined) return chain;
    return isMoreNeeded(listed) ? listed : { ...chain, listed: new Set(listed) };
  }

  #follow(start: Link, until?: string): Chain | MoreNeeded {
    const newestFirst = new PositionList();
    const bridged: number[] = [];
    const seen = new PositionSet();
    const take = (position: number): boolean => {
      seen.add(position);
      newestFirst.push(position);
      return this.#index.entries[position]?.uuid === until || boundaryAt(this.#index, position) !== undefined;
    };
    let link = start;
    while (link.parentUuid !== null) {
      let parent = positionOf(this.#index, link.parentUuid, link.child);
      if (parent === undefined || seen.has(parent)) {
        if (!this.#index.isWholeFile)
          return this.#moreFor(parent === undefined ? link.parentUuid : undefined);
        parent = previousOnMainThread(this.#index, link.child, (at) => seen.has(at));
        if (parent === undefined) break;
        bridged.push(link.child);
      }
      const above = this.#boundaryMissingAbove(parent);
      if (above !== undefined) return { needs: { uuid: above } };
      // The boundary names the last kept message. The kept messages end exactly there, even if that message
      // is a summary that other kept messages follow.
      const isNamed = until !== undefined && link === start;
      const splice = this.#spliceBetween(parent, link.child, isNamed);
      if (splice !== undefined) {
        if (isMoreNeeded(splice)) return splice;
        const kept = splice.kept.filter((position) => !seen.has(position));
        if (kept.some(take)) break;
        if (seen.has(splice.anchor)) break;
        parent = splice.anchor;
      }
      if (take(parent)) break;
      link = { child: continuedBefore(this.#index, parent), parentUuid: this.#parentOf(parent) };
    }
    return { newestFirst: newestFirst.toArray(), bridged };
  }

  /**
   * Returns kept messages that belong between an entry and its parent. They are there in the agent's context,
   * but not on disk.
   */
  #spliceBetween(parent: number, child: number, isNamed: boolean): Splice | MoreNeeded | undefined {
    for (let nth = this.#preservingBefore(child) - 1; nth >= 0; nth--) {
      const boundary = this.#preserving[nth] ?? -1;
      if (boundary <= parent) break;
      const kept = this.#keptBy(boundary);
      if (kept === undefined) continue;
      if (isMoreNeeded(kept)) return kept;
      const from = kept.indexOf(parent);
      if (from < 0) continue;
      const anchor = this.#anchorOf(boundary);
      // If the oldest messages were kept, the order is: kept messages, summary, children of the last kept
      // message. This order does not apply if a later boundary names that message as the last message that it
      // kept.
      const isBelowSummary = from === 0 && anchor === boundary && !isNamed;
      return { kept: isBelowSummary ? [...this.#summaryOf(boundary), ...kept] : kept.slice(from), anchor };
    }
    const anchored = isNamed ? undefined : this.#boundaryByAnchor.get(parent);
    if (anchored !== undefined && anchored < child) {
      const kept = this.#keptBy(anchored);
      if (kept === undefined || isMoreNeeded(kept)) return kept;
      return { kept, anchor: parent };
    }
    return undefined;
  }

  /** Returns the number of boundaries with kept messages above this position. */
  #preservingBefore(position: number): number {
    let [low, high] = [0, this.#preserving.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#preserving[middle] ?? 0) < position) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /**
   * Returns the kept messages. If they are not in the file, returns undefined, and only the summary remains.
   * This happens in a fork.
   */
  #keptBy(boundary: number): readonly number[] | MoreNeeded | undefined {
    if (this.#kept.has(boundary)) return this.#kept.get(boundary);
    // Until the kept messages are known, this boundary counts as a boundary without kept messages. Otherwise
    // circular links could cause endless recursion.
    this.#kept.set(boundary, undefined);
    const kept = this.#listedBy(boundary) ?? this.#walkSegment(boundary);
    if (kept === undefined || !isMoreNeeded(kept)) this.#kept.set(boundary, kept);
    return kept;
  }

  /**
   * Returns the kept lines that the boundary lists, newest first. Returns undefined if it lists none. Also
   * returns undefined if a listed line cannot have been kept, because it is missing, comes later or is a
   * boundary.
   */
  #listedBy(boundary: number): readonly number[] | MoreNeeded | undefined {
    const { positions, isWholeFile } = this.#index;
    const listed: number[] = [];
    for (const uuid of this.#index.preserved.get(boundary)?.uuids ?? []) {
      const position = positions.get(uuid);
      if (position === undefined && !isWholeFile) return { needs: { uuid } };
      if (position === undefined || position >= boundary) return undefined;
      if (boundaryAt(this.#index, position) !== undefined) return undefined;
      listed.push(position);
    }
    return listed.length === 0 ? undefined : listed.reverse();
  }

  #walkSegment(boundary: number): readonly number[] | MoreNeeded | undefined {
    const field = this.#index.preserved.get(boundary)?.segment;
    if (field === undefined) return undefined;
    const { positions, isWholeFile, entries } = this.#index;
    const head = positions.get(field.headUuid);
    if (!isWholeFile) {
      if (head === undefined) return { needs: { uuid: field.headUuid } };
      if (!positions.has(field.tailUuid)) return { needs: { uuid: field.tailUuid } };
    }
    if (head === undefined || !positions.has(field.tailUuid)) return undefined;
    const chain = this.#follow({ child: boundary, parentUuid: field.tailUuid }, field.headUuid);
    if (isMoreNeeded(chain)) return chain;
    const path = [...chain.newestFirst];
    if (entries[path.at(-1) ?? -1]?.uuid === field.headUuid) return path;
    // The head is on a side branch of the tail's line, for example as a parallel result. Everything at or
    // below the head was kept.
    const cut = path.findIndex((position) => position < head);
    const below = cut < 0 ? path : path.slice(0, cut);
    return below.length === 0 ? undefined : [...below, head];
  }

  /**
   * Requests more of the file. If the missing line is the last kept message of a boundary, requests the file
   * up to the first kept message. As a result, all kept messages are read at once.
   */
  #moreFor(uuid: string | undefined): MoreNeeded {
    if (uuid === undefined) return { needs: "whole-file" };
    for (const boundary of this.#preserving) {
      const field = this.#index.preserved.get(boundary)?.segment;
      const isTail = field?.tailUuid === uuid;
      if (isTail && !this.#index.positions.has(field.headUuid)) return { needs: { uuid: field.headUuid } };
    }
    return { needs: { uuid } };
  }

  /**
   * Returns the line that the kept messages follow. It is the boundary or a summary below it. If the boundary
   * names neither, returns the last summary.
   */
  #anchorOf(boundary: number): number {
    const named = this.#index.positions.get(this.#index.preserved.get(boundary)?.anchorUuid ?? "");
    if (named === boundary) return boundary;
    const summary = this.#summaryOf(boundary);
    return named !== undefined && summary.includes(named) ? named : (summary[0] ?? boundary);
  }

  /**
   * Returns the id of a missing line above a summary. The line is needed, because kept messages may follow
   * the summary. Only the boundary above the summary shows whether they do.
   */
  #boundaryMissingAbove(position: number): string | undefined {
    const { entries, positions, isWholeFile } = this.#index;
    let entry = entries[position];
    if (isWholeFile || entry === undefined || !isSummaryEntry(entry)) return undefined;
    for (let steps = 0; steps < entries.length; steps++) {
      if (entry === undefined || !isAboveSummary(entry)) return undefined;
      const above = typeof entry.parentUuid === "string" ? entry.parentUuid : undefined;
      if (above === undefined) return undefined;
      const parent = positions.get(above);
      if (parent === undefined) return above;
      entry = entries[parent];
    }
    return undefined;
  }

  /**
   * Returns the lines from a boundary down to its last summary, newest first. If the boundary has no summary,
   * returns none.
   */
  #summaryOf(boundary: number): readonly number[] {
    const { entries } = this.#index;
    const lines: number[] = [];
    let summaryEnd = 0;
    let above = entries[boundary]?.uuid;
    for (let position = boundary + 1; position < entries.length; position++) {
      const entry = entries[position];
      if (entry !== undefined && (entry.uuid === undefined || isFromQueue(entry))) continue;
      if (entry === undefined || entry.parentUuid !== above || !isAboveSummary(entry)) break;
      lines.push(position);
      if (isSummaryEntry(entry)) summaryEnd = lines.length;
      above = entry.uuid;
    }
    return lines.slice(0, summaryEnd).reverse();
  }

  #parentOf(position: number): string | null {
    const parent = this.#index.entries[position]?.parentUuid;
    return typeof parent === "string" ? parent : null;
  }
}

/**
 * Returns true for lines that may be between a boundary and the end of its summary. After an automatic
 * compaction, Claude Code writes attachments between the boundary and the summary.
 */
const isAboveSummary = (entry: Entry): boolean => isSummaryEntry(entry) || entry.type === "attachment";
