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
import { extended, hash, jsonOf } from "./compare-messages.ts";

/** A place in the messages of a request: a digest of everything before it without thinking, and the thinking before it. */
interface Place {
  readonly digest: number;
  /** The key of the last thinking block before it; 0 without one. */
  readonly last: number;
  /** Number of thinking blocks before it. */
  readonly count: number;
}

/** A message of a request, and the place after it. */
interface Walked {
  readonly message: ApiMessage;
  readonly digest: number;
  /** Thinking that can be sent so far, and all thinking in the list. */
  readonly sendable: Thoughts;
  readonly given: Thoughts;
  /** Keys of the thinking blocks in the message. */
  readonly keys: readonly number[];
}

type Thoughts = Pick<Place, "last" | "count">;

/** By the key of the block. Behind a summary of the provider a block has another place, and keeps the old one too. */
type Places = Map<number, readonly Place[]>;

/** Of one block, in memory and in a line of the session file. */
const MOST_PLACES = 4;

/**
 * Some models bind each thinking block to the exact messages before it and refuse it behind others. This class
 * remembers the place at which each block was written and finds the blocks that are elsewhere now. Lines of the
 * session file carry the places, so that a new process knows them. A block without a known place is trusted.
 *
 * The thinking before a block belongs to its place as well. Thinking may be missing from the start. A gap, or a block
 * that comes back, makes all later blocks invalid. The newest thinking is worth most, so older blocks give way.
 */
export class BoundThinking {
  readonly #places: Places = new Map();
  readonly #summaries = new Set<number>();
  #walked: Walked[] = [];
  /** The end of the last request, until its reply is in the list. */
  #sent: Place | undefined;

  /** The messages that were read last go to the model. Its reply comes next. */
  noteSent(): void {
    const last = this.#walked.at(-1);
    // A reply that continues an assistant message becomes one with it, so its beginning is unknown.
    this.#sent =
      last === undefined || last.message.role === "assistant"
        ? undefined
        : { ...last.sendable, digest: last.digest };
  }

  /** Reads the places from lines of the session file. */
  learn(entries: readonly Entry[]): void {
    for (const entry of entries) {
      for (const known of listField(entry, PLACES_FIELD)) {
        const [key, digest, last, count] = ["key", "digest", "last", "count"].map((name) =>
          field(known, name),
        );
        if (!isNumber(key) || !isNumber(digest) || !isNumber(last) || !isNumber(count)) continue;
        const places = this.#places.get(key) ?? [];
        if (places.length < MOST_PLACES && !places.some((place) => place.digest === digest))
          this.#places.set(key, [...places, { digest, last, count }]);
      }
    }
  }

  /** The entry with the places of its thinking blocks; the entry itself if there are none. */
  asLine(entry: Entry): Entry {
    if (!isEntry(entry) || entry.type !== "assistant") return entry;
    const places = entryBlocks(entry).flatMap((block) => {
      const key = keyOf(block);
      const known = key === undefined ? undefined : this.#places.get(key);
      return (known ?? []).map((place) => ({ key, ...place }));
    });
    return places.length === 0 ? entry : ({ ...entry, [PLACES_FIELD]: places } as Entry);
  }

  /** Keys of the thinking blocks in a request that the model would refuse. Messages that were read before cost little. */
  misplacedIn(messages: readonly ApiMessage[]): ReadonlySet<number> {
    let at = 0;
    while (at < this.#walked.length && this.#walked[at]?.message === messages[at]) at++;
    this.#walked.length = at;
    const walk = new Walk(this.#places, this.#summaries, { from: this.#walked.at(-1), sent: this.#sent });
    for (; at < messages.length; at++) this.#walked.push(walk.read(messages[at] as ApiMessage));
    if (walk.hasReply) this.#sent = undefined;
    const { misplaced, giveWayBefore } = walk;
    if (giveWayBefore !== undefined) {
      const keys = this.#walked.flatMap((walked) => walked.keys);
      for (const key of keys.slice(0, keys.lastIndexOf(giveWayBefore))) misplaced.add(key);
    }
    // The next reading is of other messages.
    if (misplaced.size > 0) this.#walked = [];
    return misplaced;
  }
}

/** Reads messages in order and decides about each thinking block. */
class Walk {
  readonly misplaced = new Set<number>();
  /** All thinking before this block has to go. */
  giveWayBefore: number | undefined;
  hasReply = false;
  readonly #places: Places;
  readonly #summaries: Set<number>;
  readonly #sent: Place | undefined;
  #digest: number;
  #sendable: Thoughts;
  #given: Thoughts;
  /** The provider's own summary appeared just now. It stands for the messages before the thinking that follows it. */
  #isVouchedFor = false;

  constructor(
    places: Places,
    summaries: Set<number>,
    { from, sent }: { readonly from: Walked | undefined; readonly sent: Place | undefined },
  ) {
    this.#places = places;
    this.#summaries = summaries;
    this.#sent = sent;
    this.#digest = from?.digest ?? 0;
    this.#sendable = from?.sendable ?? NO_THOUGHTS;
    this.#given = from?.given ?? NO_THOUGHTS;
  }

  read(message: ApiMessage): Walked {
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
        this.#digest = extended(this.#digest, item);
        reply = reply && { ...reply, digest: extended(reply.digest, item) };
      }
    }
    // Such a message may have more fields that the provider reads.
    if (role === "system") this.#digest = extended(this.#digest, hash(jsonOf(message) ?? ""));
    return { message, digest: this.#digest, sendable: this.#sendable, given: this.#given, keys };
  }

  #think(key: number, reply: Place | undefined): void {
    const place = this.#placeOf(key, reply);
    this.#given = { last: key, count: this.#given.count + 1 };
    if (place.digest !== this.#digest) {
      this.misplaced.add(key);
      return;
    }
    const { last, count } = this.#sendable;
    const isNext = count === 0 || (place.last === last && place.count >= count);
    if (!isNext) this.giveWayBefore = key;
    this.#sendable = { last: key, count: isNext ? count + 1 : 1 };
  }

  #placeOf(key: number, reply: Place | undefined): Place {
    const known = this.#places.get(key) ?? [];
    const same = known.find(({ digest }) => digest === this.#digest) ?? known[0];
    if (same !== undefined && (same.digest === this.#digest || !this.#isVouchedFor)) return same;
    const isReply = known.length === 0 && reply !== undefined;
    const place = isReply ? reply : { ...this.#given, digest: this.#digest };
    this.hasReply ||= isReply;
    this.#places.set(key, [place, ...known].slice(0, MOST_PLACES));
    return place;
  }

  /** The provider ignores everything before its own summary. */
  #restart(summary: ContentBlock): void {
    this.#digest = itemDigest("assistant", summary);
    this.#isVouchedFor = !this.#summaries.has(this.#digest);
    this.#summaries.add(this.#digest);
    this.#sendable = NO_THOUGHTS;
    this.#given = NO_THOUGHTS;
  }
}

/** Entries without these thinking blocks. An entry of nothing else stays, so that indexes hold; it is not sent. */
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

/** A number for a signed thinking block; undefined for all other blocks. */
function keyOf(block: unknown): number | undefined {
  if (!isBlock(block) || !isThinking(block)) return undefined;
  const seal: unknown = block.type === "thinking" ? block.signature : block.data;
  return typeof seal === "string" && seal !== "" ? hash(seal) : undefined;
}

/** A summary that the provider wrote. One without content takes no effect. */
const isSummary = (block: ContentBlock): boolean =>
  isBlock(block) && tagOf(block) === "compaction" && typeof field(block, "content") === "string";

/** Neighbors of one role are one message to the provider, so only the role and the block count. */
function itemDigest(role: string, block: ContentBlock): number {
  return extended(hash(role), hash(typeof block === "object" ? textOf(block) : String(block)));
}

/** Cache marks are no part of the prefix, nor are fields that a reply has and a request need not have. */
function textOf(block: ContentBlock): string {
  if (block.type === "text" && !block.citations) return `text ${block.text}`;
  if (block.type === "tool_use") return `call ${jsonOf([block.id, block.name, block.input])}`;
  return jsonOf(block, (name, value: unknown) => (name === "cache_control" ? undefined : value)) ?? "";
}
