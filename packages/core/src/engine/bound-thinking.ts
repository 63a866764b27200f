import type { Entry } from "../messages/entry.ts";
import { entryBlocks, isEntry, PLACES_FIELD } from "../messages/entry.ts";
import type { ApiMessage } from "../messages/message.ts";
import {
  type ContentBlock,
  contentBlocks,
  isBlock,
  isThinking,
  mapChanged,
  tagOf,
} from "../messages/message.ts";
import { field, isRecord, listField } from "../messages/untrusted.ts";
import { extendDigest, hash, jsonOf } from "./compare-messages.ts";

/**
 * Position in the messages of a request. It is identified by a digest of everything before it and by the
 * thinking before it.
 */
interface ThinkingPosition {
  readonly digest: number;
  /** Key of the last thinking block before the position, or 0. */
  readonly last: number;
  /** Number of thinking blocks before the position. */
  readonly count: number;
}

/** A message of a request and the position after it. */
interface VisitedMessage {
  readonly message: ApiMessage;
  readonly digest: number;
  /** Thinking up to this message: `sendable` is the part that can be sent, `given` is all of it. */
  readonly sendable: Thoughts;
  readonly given: Thoughts;
  /** Keys of the thinking blocks in the message. */
  readonly keys: readonly number[];
}

type Thoughts = Pick<ThinkingPosition, "last" | "count">;

/**
 * Positions of thinking blocks. The map's key is the key of a block. A block after a provider's summary has
 * two positions: one with the summary and one without it.
 */
type Places = Map<number, readonly ThinkingPosition[]>;

/** Maximum number of positions per block, in memory and in a session line. */
const MAX_POSITIONS_PER_BLOCK = 4;

/**
 * Some models bind each thinking block to the exact messages before it. They refuse a block that comes after
 * other messages. This class remembers the position at which each block was written and finds misplaced
 * blocks. Session lines carry the positions for the next process. A block without a known position is
 * trusted.
 *
 * Earlier thinking is part of a position too. The oldest thinking may be missing. But if thinking is missing
 * in the middle or was added again, all later blocks are invalid. In that case the older blocks are removed,
 * because the newest thinking is the most valuable.
 */
export class BoundThinking {
  readonly #places: Places = new Map();
  readonly #summaries = new Set<number>();
  #visited: VisitedMessage[] = [];
  /** Position at the end of the last request. Undefined after the reply is in the list. */
  #sent: ThinkingPosition | undefined;

  /** Records that the host now sends the messages that were read last. */
  recordSent(): void {
    const last = this.#visited.at(-1);
    // If a reply continues an assistant message, the two are merged, so the start of the reply is unknown.
    this.#sent =
      last === undefined || last.message.role === "assistant"
        ? undefined
        : { ...last.sendable, digest: last.digest };
  }

  /** Reads positions from session lines. */
  loadPositions(entries: readonly Entry[]): void {
    for (const entry of entries) {
      for (const known of listField(entry, PLACES_FIELD)) {
        const [key, digest, last, count] = ["key", "digest", "last", "count"].map((name) =>
          field(known, name),
        );
        if (!isNumber(key) || !isNumber(digest) || !isNumber(last) || !isNumber(count)) continue;
        const places = this.#places.get(key) ?? [];
        if (places.length < MAX_POSITIONS_PER_BLOCK && !places.some((place) => place.digest === digest))
          this.#places.set(key, [...places, { digest, last, count }]);
      }
    }
  }

  /** Adds to an entry the positions of its thinking blocks. Returns the same entry if it has no thinking. */
  toLine(entry: Entry): Entry {
    if (!isEntry(entry) || entry.type !== "assistant") return entry;
    const places = entryBlocks(entry).flatMap((block) => {
      const key = keyOf(block);
      const known = key === undefined ? undefined : this.#places.get(key);
      return (known ?? []).map((place) => ({ key, ...place }));
    });
    return places.length === 0 ? entry : ({ ...entry, [PLACES_FIELD]: places } as Entry);
  }

  /**
   * Returns the keys of the thinking blocks that the model would refuse in these messages. Does not read
   * known messages again.
   */
  findMisplaced(messages: readonly ApiMessage[]): ReadonlySet<number> {
    let at = 0;
    while (at < this.#visited.length && this.#visited[at]?.message === messages[at]) at++;
    this.#visited.length = at;
    const walk = new MessageWalk(this.#places, this.#summaries, {
      from: this.#visited.at(-1),
      sent: this.#sent,
    });
    for (; at < messages.length; at++) this.#visited.push(walk.read(messages[at] as ApiMessage));
    if (walk.hasReply) this.#sent = undefined;
    const { misplaced, removeBefore } = walk;
    if (removeBefore !== undefined) {
      const keys = this.#visited.flatMap((walked) => walked.keys);
      for (const key of keys.slice(0, keys.lastIndexOf(removeBefore))) misplaced.add(key);
    }
    // The caller removes these blocks, so the next call has other messages.
    if (misplaced.size > 0) this.#visited = [];
    return misplaced;
  }
}

/** Reads messages in order and decides on each thinking block. */
class MessageWalk {
  readonly misplaced = new Set<number>();
  /** Key of a block. All thinking before this block must be removed. */
  removeBefore: number | undefined;
  hasReply = false;
  readonly #places: Places;
  readonly #summaries: Set<number>;
  readonly #sent: ThinkingPosition | undefined;
  #digest: number;
  #sendable: Thoughts;
  #given: Thoughts;
  /** True right after the provider's own summary, which replaces the messages before the next thinking. */
  #followsSummary = false;

  constructor(
    places: Places,
    summaries: Set<number>,
    {
      from,
      sent,
    }: { readonly from: VisitedMessage | undefined; readonly sent: ThinkingPosition | undefined },
  ) {
    this.#places = places;
    this.#summaries = summaries;
    this.#sent = sent;
    this.#digest = from?.digest ?? 0;
    this.#sendable = from?.sendable ?? NO_THOUGHTS;
    this.#given = from?.given ?? NO_THOUGHTS;
  }

  read(message: ApiMessage): VisitedMessage {
    const { role, content } = message;
    let reply = role === "assistant" && !this.hasReply ? this.#sent : undefined;
    const keys: number[] = [];
    for (const block of contentBlocks(content)) {
      const key = keyOf(block);
      if (key !== undefined) {
        this.#think(key, reply);
        keys.push(key);
        reply = reply && { ...reply, last: key, count: reply.count + 1 };
      } else if (isSummary(block)) this.#restart(block);
      else if (!isBlock(block) || !isThinking(block)) {
        const item = itemDigest(role, block);
        this.#digest = extendDigest(this.#digest, item);
        reply = reply && { ...reply, digest: extendDigest(reply.digest, item) };
      }
    }
    // A system message may have more fields that the provider reads.
    if (role === "system") this.#digest = extendDigest(this.#digest, hash(jsonOf(message) ?? ""));
    return { message, digest: this.#digest, sendable: this.#sendable, given: this.#given, keys };
  }

  #think(key: number, reply: ThinkingPosition | undefined): void {
    const place = this.#placeOf(key, reply);
    this.#given = { last: key, count: this.#given.count + 1 };
    if (place.digest !== this.#digest) {
      this.misplaced.add(key);
      return;
    }
    const { last, count } = this.#sendable;
    const isNext = count === 0 || (place.last === last && place.count >= count);
    if (!isNext) this.removeBefore = key;
    this.#sendable = { last: key, count: isNext ? count + 1 : 1 };
  }

  #placeOf(key: number, reply: ThinkingPosition | undefined): ThinkingPosition {
    const known = this.#places.get(key) ?? [];
    const same = known.find(({ digest }) => digest === this.#digest) ?? known[0];
    if (same !== undefined && (same.digest === this.#digest || !this.#followsSummary)) return same;
    const isReply = known.length === 0 && reply !== undefined;
    const place = isReply ? reply : { ...this.#given, digest: this.#digest };
    this.hasReply ||= isReply;
    this.#places.set(key, [place, ...known].slice(0, MAX_POSITIONS_PER_BLOCK));
    return place;
  }

  /** Starts again at the provider's own summary. The provider ignores everything before it. */
  #restart(summary: ContentBlock): void {
    this.#digest = itemDigest("assistant", summary);
    this.#followsSummary = !this.#summaries.has(this.#digest);
    this.#summaries.add(this.#digest);
    this.#sendable = NO_THOUGHTS;
    this.#given = NO_THOUGHTS;
  }
}

/**
 * Removes these thinking blocks. An entry that becomes empty is not sent. It stays in the list, so that
 * indexes remain valid.
 */
export function withoutBlocks(
  entries: readonly Entry[],
  keys: ReadonlySet<number>,
): { readonly entries: readonly Entry[]; readonly blocks: number } {
  let blocks = 0;
  const kept = mapChanged(entries, (entry) => {
    if (!isEntry(entry) || entry.type !== "assistant" || !isRecord(entry.message)) return entry;
    const { content } = entry.message;
    if (!Array.isArray(content)) return entry;
    const rest = content.filter((block) => !keys.has(keyOf(block) ?? 0));
    if (rest.length === content.length) return entry;
    blocks += content.length - rest.length;
    return { ...entry, message: { ...entry.message, content: rest } };
  });
  return { entries: kept, blocks };
}

const NO_THOUGHTS: Thoughts = { last: 0, count: 0 };

const isNumber = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value);

/** Returns a number that identifies a signed thinking block. Returns undefined for other blocks. */
function keyOf(block: unknown): number | undefined {
  if (!isBlock(block) || !isThinking(block)) return undefined;
  const seal: unknown = block.type === "thinking" ? block.signature : block.data;
  return typeof seal === "string" && seal !== "" ? hash(seal) : undefined;
}

/** Returns true for a provider's summary with content. Without content, it has no effect. */
const isSummary = (block: ContentBlock): boolean =>
  isBlock(block) && tagOf(block) === "compaction" && typeof field(block, "content") === "string";

/**
 * Computes a digest of the role and the block. Nothing else matters, because the provider merges consecutive
 * messages of one role.
 */
function itemDigest(role: string, block: ContentBlock): number {
  return extendDigest(hash(role), hash(typeof block === "object" ? textOf(block) : String(block)));
}

/**
 * Serializes a block. Omits cache marks and fields that only replies have, because these are not part of the
 * prefix.
 */
function textOf(block: ContentBlock): string {
  if (block.type === "text" && !block.citations) return `text ${block.text}`;
  if (block.type === "tool_use") return `call ${jsonOf([block.id, block.name, block.input])}`;
  return jsonOf(block, (name, value: unknown) => (name === "cache_control" ? undefined : value)) ?? "";
}
