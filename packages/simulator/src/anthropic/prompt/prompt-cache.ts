import { type JsonRecord, listField, stringField } from "@longhaul/core/internal/messages";
import type { PrefixNode } from "../../prompt/prefix-tree.ts";
import type { CacheTtl, Prompt, PromptLevel, PromptPosition } from "./model-prompt.ts";

/**
 * The part of `usage` that is known before the answer. Its figures add up to the tokens that the model reads.
 */
export interface InputUsage {
  /** Tokens after the last cache mark, or all tokens if nothing is cached. */
  readonly input_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly cache_creation: {
    readonly ephemeral_5m_input_tokens: number;
    readonly ephemeral_1h_input_tokens: number;
  };
  /** Tokens that cached edits delete from the prefix. Set only in answers to requests with such edits. */
  readonly cache_deleted_input_tokens?: number;
}

export interface CacheCall {
  /** Each workspace has a separate cache. */
  readonly workspace: string;
  /** Time of the request in milliseconds. Lifetimes of cache entries start here. */
  readonly startedAt: number;
  /**
   * Ids of tool results to delete from the cached prefix. See `readCacheEdits`. Undefined if cached edits are
   * disabled.
   */
  readonly edits?: ReadonlySet<string> | undefined;
  /** `diagnostics.previous_message_id`. */
  readonly previousMessageId?: string | null | undefined;
}

export interface CacheLookup {
  readonly usage: InputUsage;
  /** Tokens that the model reads: the prompt without the parts that cached edits omit. */
  readonly tokens: number;
  /** Ids of the tool results that cached edits hide from the model. */
  readonly deletedResults: readonly string[];
  readonly diagnostics: CacheDiagnostics | null;
  /**
   * Call this when the response starts. Other calls can read the cache entries of this call only after that.
   */
  commit(messageId?: string): void;
}

/** The provider's prompt cache. Applies the cache marks of a request. */
export class PromptCache {
  readonly #entries = new CacheEntries();
  readonly #sent = new SentPrompts();
  readonly #now: () => number;

  constructor(clock: { now(): number }) {
    this.#now = () => clock.now();
  }

  /** Number of entries, for tests that watch the memory. */
  get size(): number {
    return this.#entries.size;
  }

  /** Drops the older half of the entries. Returns false if there are none. */
  dropOlderHalf(): boolean {
    return this.#entries.dropOlderHalf();
  }

  lookup(prompt: Prompt, call: CacheCall): CacheLookup {
    this.#entries.sweep(this.#now());
    const { workspace, startedAt, previousMessageId } = call;
    const edits = CachedEdits.of(prompt.positions, call.edits);
    const marks = usableMarks(prompt);
    const scopes = scopesOf(prompt, workspace);
    const hits = lookBack(prompt.positions, marks, ({ node, level }, index) =>
      this.#entries.find(node, scopes[level], edits.idsUpTo(index), startedAt),
    );
    const reached = hits.reduce((highest, { index }) => Math.max(highest, index), NOTHING_READ);
    const applied = edits.within(reached);
    const usage = usageOf(prompt, marks, reached, applied);
    const { cache_read_input_tokens: read, cache_creation_input_tokens: written } = usage;
    return {
      usage: call.edits?.size ? { ...usage, cache_deleted_input_tokens: applied.tokens } : usage,
      tokens: prompt.tokens - applied.tokens,
      deletedResults: [...applied.idsUpTo(reached)],
      diagnostics:
        typeof previousMessageId === "string"
          ? this.#sent.diagnose(workspace, previousMessageId, prompt, read)
          : null,
      commit: (messageId) => {
        for (const { entry } of hits) this.#entries.write(entry, startedAt);
        for (const index of marks) {
          const position = prompt.positions[index];
          if (position?.mark === undefined) continue;
          const { node, level, mark } = position;
          const deleted = [...applied.idsUpTo(index)];
          this.#entries.write({ node, scope: scopes[level], deleted, ttl: mark }, startedAt);
        }
        if (messageId !== undefined) this.#sent.remember(workspace, messageId, prompt, read + written);
      },
    };
  }
}

/** Index that means that no position was read. It is the index before the first position. */
const NOTHING_READ = -1;

/**
 * Returns the positions with a usable cache mark. A mark is ignored without an error if the prompt before it
 * is too short.
 */
function usableMarks({ positions, model }: Prompt): readonly number[] {
  const marks: number[] = [];
  for (const [index, { mark, tokens }] of positions.entries()) {
    if (mark !== undefined && tokens >= model.features.minimumCacheTokens) marks.push(index);
  }
  return marks;
}

function scopesOf({ model, settings }: Prompt, workspace: string): Readonly<Record<PromptLevel, string>> {
  const scope = (level: PromptLevel): string => [workspace, model.id, level, settings[level]].join("\0");
  return { tools: scope("tools"), system: scope("system"), messages: scope("messages") };
}

/**
 * Divides the prompt into four parts. The first part was read from the cache. The second part ends at the
 * last one-hour mark after the first part, and is written for one hour. The third part ends at the last mark,
 * and is written for five minutes. The rest is plain input.
 */
function usageOf(prompt: Prompt, marks: readonly number[], reached: number, edits: CachedEdits): InputUsage {
  const { positions } = prompt;
  const after = marks.filter((index) => index > reached);
  const lastHour = after.findLast((index) => positions[index]?.mark === "1h") ?? reached;
  const last = after.at(-1) ?? reached;
  const tokensAt = (index: number): number => (positions[index]?.tokens ?? 0) - edits.tokensUpTo(index);
  const read = tokensAt(reached);
  const hour = tokensAt(lastHour) - read;
  const minutes = tokensAt(last) - tokensAt(lastHour);
  return {
    input_tokens: prompt.tokens - edits.tokens - tokensAt(last),
    cache_creation_input_tokens: hour + minutes,
    cache_read_input_tokens: read,
    cache_creation: { ephemeral_5m_input_tokens: minutes, ephemeral_1h_input_tokens: hour },
  };
}

/** Number of positions in which a cache mark searches for an earlier entry, including its own position. */
const LOOK_BACK_POSITIONS = 20;

interface Hit {
  /** Position of the block with the entry. */
  readonly index: number;
  readonly entry: CacheEntry;
}

/** Finds the longest cached prefix for each cache mark, in the positions before the mark. */
function lookBack(
  positions: readonly PromptPosition[],
  marks: readonly number[],
  find: (position: PromptPosition, index: number) => CacheEntry | undefined,
): readonly Hit[] {
  const hits: Hit[] = [];
  for (const mark of marks) {
    let steps = 0;
    for (let index = mark; index >= 0; index--) {
      if (index === mark || !isSameRun(positions[index], positions[index + 1])) steps++;
      if (steps > LOOK_BACK_POSITIONS) break;
      const position = positions[index];
      const entry = position === undefined ? undefined : find(position, index);
      if (entry === undefined) continue;
      hits.push({ index, entry });
      break;
    }
  }
  return hits;
}

/**
 * True for two neighbors that are both tool calls or both tool results. Consecutive calls count as one
 * position, and so do consecutive results.
 */
function isSameRun(one: PromptPosition | undefined, next: PromptPosition | undefined): boolean {
  return one?.kind === next?.kind && (one?.kind === "tool_use" || one?.kind === "tool_result");
}

const MINUTE_MS = 60_000;
const TTL_MS: Readonly<Record<CacheTtl, number>> = { "5m": 5 * MINUTE_MS, "1h": 60 * MINUTE_MS };

/** Interval between cleanups. Cleaning up rarely is enough, because expired entries are never read. */
const SWEEP_EVERY_MS = MINUTE_MS;

/** A cached prefix. */
interface CacheEntry {
  readonly node: PrefixNode;
  /**
   * Key that a call must have to read the entry. It consists of the workspace, the model, the part of the
   * prompt, and the settings of that part.
   */
  readonly scope: string;
  /** Ids of the tool results that cached edits have deleted from the prefix, in order. */
  readonly deleted: readonly string[];
  readonly ttl: CacheTtl;
}

interface LiveEntry extends CacheEntry {
  readonly expiresAt: number;
}

/**
 * Maximum number of prefixes with cache entries. On a clock that does not move, entries never expire. A
 * conversation uses at most four marks per call, so the newest 1,000 calls keep their entries.
 */
const MAX_CACHED_PREFIXES = 4_096;

class CacheEntries {
  /** The entries of each prefix. The prefix that was written last comes last. */
  readonly #byNode = new Map<PrefixNode, readonly LiveEntry[]>();
  #sweptAt = Number.NEGATIVE_INFINITY;

  get size(): number {
    let size = 0;
    for (const entries of this.#byNode.values()) size += entries.length;
    return size;
  }

  /**
   * Finds the entry with the most deleted results. `wanted` contains the results that the request deletes. An
   * entry with any other deleted result does not count, because the provider cannot restore deleted results.
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

  /**
   * Writes an entry. If the same entry exists, restarts its lifetime, but does not change the length of the
   * lifetime.
   */
  write(entry: CacheEntry, at: number): void {
    const entries = this.#byNode.get(entry.node) ?? [];
    const known = entries.find((one) => isSameEntry(one, entry));
    const { ttl } = known !== undefined && known.expiresAt > at ? known : entry;
    const expiresAt = Math.max(known?.expiresAt ?? 0, at + TTL_MS[ttl]);
    const others = entries.filter((one) => one !== known);
    this.#byNode.delete(entry.node);
    this.#byNode.set(entry.node, [...others, { ...entry, ttl, expiresAt }]);
    if (known === undefined) entry.node.held++;
    if (this.#byNode.size > MAX_CACHED_PREFIXES) this.#drop(1);
  }

  dropOlderHalf(): boolean {
    const { size } = this.#byNode;
    this.#drop(Math.ceil(size / 2));
    return size > 0;
  }

  #drop(count: number): void {
    for (const [node, entries] of [...this.#byNode].slice(0, count)) {
      node.held -= entries.length;
      this.#byNode.delete(node);
    }
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

/** Reads the ids in `cache_edits`. The format is ours, because no provider has published one. */
export function readCacheEdits(body: JsonRecord): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const edit of listField(body, "cache_edits")) {
    const id = stringField(edit, "tool_use_id");
    if (stringField(edit, "type") === "delete_tool_result" && id !== undefined) ids.add(id);
  }
  return ids;
}

interface EditedResult {
  readonly index: number;
  readonly id: string;
  readonly tokens: number;
}

const NONE: ReadonlySet<string> = new Set();

/** Tool results that a request deletes from the cached prefix, with their positions. */
class CachedEdits {
  readonly #results: readonly EditedResult[];

  constructor(results: readonly EditedResult[]) {
    this.#results = results;
  }

  static of(positions: readonly PromptPosition[], ids: ReadonlySet<string> = NONE): CachedEdits {
    const results: EditedResult[] = [];
    if (ids.size === 0) return new CachedEdits(results);
    for (const [index, { toolUseId, tokens }] of positions.entries()) {
      if (toolUseId === undefined || !ids.has(toolUseId)) continue;
      results.push({ index, id: toolUseId, tokens: tokens - (positions[index - 1]?.tokens ?? 0) });
    }
    return new CachedEdits(results);
  }

  /**
   * Returns the edits within a prefix up to this position. An edit outside of a cached prefix has no effect.
   */
  within(index: number): CachedEdits {
    return new CachedEdits(this.#results.filter((result) => result.index <= index));
  }

  get tokens(): number {
    return this.#results.reduce((sum, { tokens }) => sum + tokens, 0);
  }

  tokensUpTo(index: number): number {
    return this.within(index).tokens;
  }

  idsUpTo(index: number): ReadonlySet<string> {
    return this.#results.length === 0 ? NONE : new Set(this.within(index).#results.map(({ id }) => id));
  }
}

// Reasons for a cache miss

/** Reason for a cache miss, in the API's terms. */
type CacheMissReason =
  | {
      readonly type: "model_changed" | "tools_changed" | "system_changed" | "messages_changed";
      readonly cache_missed_input_tokens: number;
    }
  | { readonly type: "previous_message_not_found" }
  /** Another setting of the prompt has changed. */
  | { readonly type: "unavailable" };

interface CacheDiagnostics {
  readonly cache_miss_reason: CacheMissReason | null;
}

/**
 * Number of answers whose prompts are remembered for a diagnosis. Usually a client refers to its last answer.
 */
const REMEMBERED_ANSWERS = 1_000;

interface SentPrompt {
  readonly model: string;
  readonly speed: string;
  readonly ends: Prompt["ends"];
  readonly settings: Prompt["settings"];
  readonly length: number;
  readonly lastNode: PrefixNode | undefined;
  /** Tokens that this call read from the cache or wrote to it. A later call could have read them. */
  readonly cachedTokens: number;
}

/** Prompts of earlier answers. They show why a later call missed the cache. */
class SentPrompts {
  readonly #byAnswer = new Map<string, SentPrompt>();

  remember(workspace: string, messageId: string, prompt: Prompt, cachedTokens: number): void {
    this.#byAnswer.set(answerKey(workspace, messageId), {
      model: prompt.model.id,
      speed: prompt.speed,
      ends: prompt.ends,
      settings: prompt.settings,
      length: prompt.positions.length,
      lastNode: prompt.positions.at(-1)?.node,
      cachedTokens,
    });
    const [oldest] = this.#byAnswer.keys();
    if (this.#byAnswer.size > REMEMBERED_ANSWERS && oldest !== undefined) this.#byAnswer.delete(oldest);
  }

  /** Returns the reason for a cache miss, or null if nothing changed since the earlier prompt. */
  diagnose(
    workspace: string,
    previousId: string,
    prompt: Prompt,
    readTokens: number,
  ): CacheDiagnostics | null {
    const previous = this.#byAnswer.get(answerKey(workspace, previousId));
    if (previous === undefined) return { cache_miss_reason: { type: "previous_message_not_found" } };
    const type = firstDifference(previous, prompt);
    if (type === undefined) return null;
    if (type === "unavailable") return { cache_miss_reason: { type } };
    const missed = Math.max(0, previous.cachedTokens - readTokens);
    return { cache_miss_reason: { type, cache_missed_input_tokens: missed } };
  }
}

type Difference = Exclude<CacheMissReason["type"], "previous_message_not_found">;

function firstDifference(previous: SentPrompt, prompt: Prompt): Difference | undefined {
  const { settings, ends, positions } = prompt;
  if (previous.model !== prompt.model.id || previous.speed !== prompt.speed) return "model_changed";
  if (previous.ends.tools !== ends.tools) return "tools_changed";
  if (previous.ends.system !== ends.system) return "system_changed";
  if (previous.settings.messages !== settings.messages) return "unavailable";
  return positions[previous.length - 1]?.node === previous.lastNode ? undefined : "messages_changed";
}

const answerKey = (workspace: string, messageId: string): string => `${workspace}\0${messageId}`;
