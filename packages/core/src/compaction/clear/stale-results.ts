import {
  type AssistantEntry,
  type Entry,
  entryBlocks,
  isEntry,
  isSynthetic,
  responseIdOf,
} from "../../messages/entry.ts";
import type { ContentBlock, ToolResultBlock, ToolUseBlock } from "../../messages/message.ts";
import { isModelOutput } from "../../messages/responses.ts";
import { CLEARED_RESULT_TEXT, isCleared, withClearedResultsAt } from "../../messages/stand-ins.ts";
import { FILE_TOOLS, type FileTools, filePathIn, fileUseOf, toolsOf } from "../../messages/tool-kinds.ts";
import { withoutThinkingFrom } from "../../messages/without-thinking.ts";
import { CLEARING_TARGET_TOKENS, IDLE_THRESHOLD_MS } from "./clearing-limits.ts";

/** Decision to clear results, not yet carried out. It has only ids, names and counts. */
export interface Clearing {
  readonly form: "size" | "time" | "cached" | "manual";
  /** Results to clear, oldest first. */
  readonly results: readonly ClearedResult[];
  /** Tokens of all eligible results before and after the clearing, including the placeholders that stay. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Names of the affected tools, sorted and unique. */
  readonly tools: readonly string[];
  /** Files whose reads are cleared. The host forgets that the agent has seen them. */
  readonly paths: readonly string[];
  /** Assistant entries from this index on may have been written after a cleared result. */
  readonly followedFrom: number;
}

export interface ClearedResult {
  readonly id: string;
  readonly tool: string;
  readonly tokens: number;
  readonly entryIndex: number;
  /** Indexes of entries that contain the same result again. */
  readonly repeatedAt?: readonly number[];
  /** Path of the file, if the result comes from a file read. */
  readonly path?: string;
}

/**
 * Tools that write files. Their input contains the new text and the text that it replaced, so the input is
 * larger than the result.
 */
const WRITING = ["file-edit", "file-write", "file-by-command"] as const;

/**
 * Tools whose results the agent can request again. These results are cleared unless the caller names other
 * tools. Names match exactly. Directory listings, background output and notebook edits are excluded.
 */
export const ELIGIBLE_TOOLS: readonly string[] = Object.freeze(
  toolsOf("file-read", "shell", "grep", "glob", "web-fetch", "web-search", "recall", ...WRITING),
);

export const WRITE_LIKE_TOOLS: ReadonlySet<string> = new Set(toolsOf(...WRITING));

/** Smallest saving for which clearing is worth breaking the prompt cache. */
export const MINIMUM_SAVING_TOKENS = 20_000;
/** Number of newest results that stay, because the agent is working with them. */
const KEPT_NEWEST_BY_SIZE = 3;

export interface BySizeOptions {
  readonly targetTokens?: number | undefined;
  readonly minimumSavingTokens?: number | undefined;
  readonly keepNewest?: number | undefined;
}

/** Estimates the saving of {@link chooseBySize} from running totals and the newest results alone. */
export function savingBySize(index: ResultIndex, options: BySizeOptions = {}): number {
  const { targetTokens = CLEARING_TARGET_TOKENS, keepNewest = KEPT_NEWEST_BY_SIZE } = options;
  const { eligibleTokens, activeCount, placeholderTokens } = index;
  const kept = index.keptCount(keepNewest);
  if (!(eligibleTokens > targetTokens) || activeCount <= kept) return 0;
  const newest = kept === 0 ? [] : index.results().slice(-kept);
  const safe = newest.reduce((sum, { tokens }) => sum + tokens, 0);
  const gone = eligibleTokens - Math.max(targetTokens, safe);
  return Math.max(0, gone - placeholderTokens * activeCount * (gone / eligibleTokens));
}

/**
 * Chooses the oldest results until the remaining results meet the target. All chosen results are cleared in
 * one batch, so that no other clearing is needed soon.
 */
export function chooseBySize(index: ResultIndex, options: BySizeOptions = {}): Clearing | undefined {
  const {
    targetTokens = CLEARING_TARGET_TOKENS,
    minimumSavingTokens = MINIMUM_SAVING_TOKENS,
    keepNewest = KEPT_NEWEST_BY_SIZE,
  } = options;
  const clearable = index.activeCount - index.keptCount(keepNewest);
  // Uses `!(a > b)` and not `a <= b`, so that nothing is cleared if the target is not a number.
  if (!(index.eligibleTokens > targetTokens) || !(clearable > 0)) return undefined;
  const results = index.results();
  let left = index.eligibleTokens;
  let count = 0;
  while (count < clearable && left > targetTokens) left -= results[count++]?.tokens ?? 0;
  const saved = index.eligibleTokens - left - count * index.placeholderTokens;
  return saved < minimumSavingTokens ? undefined : index.describe("size", results.slice(0, count));
}

/** Number of newest results that stay. They are enough to continue the work from before the pause. */
const KEPT_NEWEST_BY_TIME = 5;

export interface ByTimeOptions {
  /** Time since the last assistant message, or undefined if there is none. */
  readonly idleMs: number | undefined;
  readonly thresholdMs?: number | undefined;
  readonly keepNewest?: number | undefined;
}

/** Chooses all results except the newest once the provider's cache has expired. */
export function chooseByTime(index: ResultIndex, options: ByTimeOptions): Clearing | undefined {
  const { idleMs, thresholdMs = IDLE_THRESHOLD_MS, keepNewest = KEPT_NEWEST_BY_TIME } = options;
  if (!isIdle(idleMs, thresholdMs)) return undefined;
  const clearable = index.activeCount - index.keptCount(Math.max(1, Math.trunc(keepNewest) || 1));
  return clearable > 0 ? index.describe("time", index.results().slice(0, clearable)) : undefined;
}

/**
 * Returns true if the pause is longer than the threshold. A clock that jumped back yields a negative pause,
 * which is not idle.
 */
export function isIdle(idleMs: number | undefined, thresholdMs: number = IDLE_THRESHOLD_MS): boolean {
  return idleMs !== undefined && idleMs > thresholdMs;
}

/** Number of newest results that stay, because the agent is working with them. */
const KEPT_NEWEST_MANUAL = 3;

interface ManualClearOptions {
  readonly keep?: number | undefined;
  /**
   * Results that edits of the cached prefix leave out. A rewrite ends the edits, so these results must be
   * cleared too.
   */
  readonly leftOut?: ReadonlySet<string> | undefined;
}

/**
 * Chooses all results except the newest. The user asked for the clearing, so the saving may be small. Returns
 * undefined if nothing new would be cleared.
 */
export function chooseManually(index: ResultIndex, options: ManualClearOptions = {}): Clearing | undefined {
  const { keep = KEPT_NEWEST_MANUAL, leftOut } = options;
  const kept = index.keptCount(Number.isNaN(keep) ? KEPT_NEWEST_MANUAL : keep);
  const results = index.results();
  const clearable = results.length - kept;
  const chosen = results.filter(({ id }, at) => at < clearable || leftOut?.has(id));
  return chosen.every(({ id }) => leftOut?.has(id)) ? undefined : index.describe("manual", chosen);
}

export interface AppliedClearing {
  readonly entries: readonly Entry[];
  /** Number of removed thinking blocks. The model would refuse them after the changed history. */
  readonly removedThinkingBlocks: number;
}

/**
 * Returns the conversation after a clearing, with the same indexes. Reads only the entries that the clearing
 * names, unless the model binds thinking.
 */
export function applyClearing(
  entries: readonly Entry[],
  clearing: Clearing,
  { bindsThinking }: { readonly bindsThinking: boolean },
): AppliedClearing {
  const ids = new Set<string>();
  const places = new Set<number>();
  for (const { id, entryIndex, repeatedAt = [] } of clearing.results) {
    ids.add(id);
    places.add(entryIndex);
    for (const index of repeatedAt) places.add(index);
  }
  const cleared = withClearedResultsAt(entries, places, ids);
  if (!bindsThinking || cleared === entries) return { entries: cleared, removedThinkingBlocks: 0 };
  const unbound = withoutThinkingFrom(cleared, clearing.followedFrom);
  return { entries: unbound.entries, removedThinkingBlocks: unbound.blocks };
}

export type TokensOf = (block: ContentBlock) => number;

export interface ResultIndexOptions {
  /** Exact names of the tools whose results the agent can request again. */
  readonly tools?: readonly string[] | undefined;
  /** Names of the agent's own file tools, so that cleared reads are forgotten. */
  readonly fileTools?: FileTools | undefined;
}

/** Result in the conversation that is worth clearing. */
export interface IndexedResult {
  readonly id: string;
  /** Token count of the result. If the result was written several times, the count of the longest copy. */
  readonly tokens: number;
  /** Number that rises with the position of the result, or of its last copy. */
  readonly sequence: number;
  /** Tokens before the entry that first contains the result. */
  readonly tokensBefore: number;
  /** False once the result has been cleared. */
  readonly isActive: boolean;
}

interface TrackedResult extends IndexedResult {
  tokens: number;
  sequence: number;
  isActive: boolean;
  /** Tokens that clearing all copies of the result would save. */
  gain: number;
  /** Indexes of the entries that contain the result. */
  readonly places: number[];
  /** Tool call of the result, once the call is known. */
  use: KnownUse | undefined;
}

interface KnownUse {
  readonly tool: string;
  readonly path: string | undefined;
  /** Index of the first entry of the response that made the call. */
  begins: number;
  isEligible: boolean;
}

const PLACEHOLDER: ToolResultBlock = {
  type: "tool_result",
  tool_use_id: "",
  content: CLEARED_RESULT_TEXT,
};

/**
 * Index of the clearable results in a growing conversation. The cost of adding an entry depends only on that
 * entry. Two running totals show whether there is anything to clear. Calls and results are matched by id
 * alone. A result may precede its call, and a resumed session may contain a result twice.
 */
export class ResultIndex {
  readonly #tools: ReadonlySet<string>;
  readonly #fileTools: FileTools;
  readonly #uses = new Map<string, KnownUse>();
  readonly #responses = new Map<string, number>();
  readonly #results = new Map<string, TrackedResult>();
  /** Results worth clearing, oldest first. Sorted again if `#isUnsorted`. */
  #active: TrackedResult[] = [];
  #isUnsorted = false;
  #activeCount = 0;
  #eligibleTokens = 0;
  #sequence = 0;
  #tokensBefore = 0;
  #placeholderTokens: number | undefined;
  /** Sequence number of the newest result that a model has seen. */
  #seenSequence = 0;
  #newestResponse: string | undefined;
  #unseenCount = 0;

  constructor(options: ResultIndexOptions = {}) {
    this.#tools = new Set(options.tools ?? ELIGIBLE_TOOLS);
    this.#fileTools = options.fileTools ?? FILE_TOOLS;
  }

  /** Number of results that could be cleared. */
  get activeCount(): number {
    return this.#activeCount;
  }

  /** Tokens of all results that could be cleared. */
  get eligibleTokens(): number {
    return this.#eligibleTokens;
  }

  /** Tokens of the placeholder that replaces each cleared result. */
  get placeholderTokens(): number {
    return this.#placeholderTokens ?? 0;
  }

  /** Number of results, of any tool, that no model has seen. */
  get unseenCount(): number {
    return this.#unseenCount;
  }

  /**
   * Returns how many of the newest results are never cleared. These are the results that the caller keeps,
   * and all results after the newest response, which no model has seen.
   */
  keptCount(keepNewest: number): number {
    const results = this.results();
    let unseen = 0;
    while (unseen < results.length && (results.at(-1 - unseen)?.sequence ?? 0) > this.#seenSequence) unseen++;
    return Math.max(0, Math.trunc(keepNewest), unseen);
  }

  /** Adds an entry, in the order of the conversation. `tokensBefore`: tokens of all entries before it. */
  add(entry: Entry, entryIndex: number, tokensOf: TokensOf, tokensBefore = 0): void {
    if (!isEntry(entry)) return;
    this.#tokensBefore = tokensBefore;
    if (isModelOutput(entry)) this.#noteSeen(entry);
    if (entry.type === "assistant" && !isSynthetic(entry)) this.#addUses(entry, entryIndex);
    if (entry.type !== "user") return;
    for (const block of entryBlocks(entry)) {
      if (block.type !== "tool_result" || isCleared(block)) continue;
      this.#unseenCount += 1;
      this.#addResult(block, entryIndex, tokensOf);
    }
  }

  /**
   * Returns the results that could be cleared, oldest first. Do not store the list: it changes as entries are
   * added.
   */
  results(): readonly IndexedResult[] {
    if (this.#isUnsorted) {
      this.#active = [...this.#results.values()]
        .filter(({ isActive }) => isActive)
        .sort((a, b) => a.sequence - b.sequence);
      this.#isUnsorted = false;
    }
    return this.#active;
  }

  /** Describes the chosen results with their current positions, as needed to clear them. */
  describe(form: Clearing["form"], chosen: readonly IndexedResult[]): Clearing {
    const results: ClearedResult[] = [];
    const tools = new Set<string>();
    const paths = new Set<string>();
    let tokens = 0;
    let begins = Number.POSITIVE_INFINITY;
    for (const { id } of chosen) {
      const result = this.#results.get(id);
      if (result?.use === undefined) continue;
      const { use } = result;
      results.push(located(result, use));
      tools.add(use.tool);
      if (use.path !== undefined) paths.add(use.path);
      tokens += result.tokens;
      if (use.begins < begins) begins = use.begins;
    }
    // An edit of the cached prefix removes a result without a placeholder.
    const left = form === "cached" ? 0 : results.length * this.placeholderTokens;
    return {
      form,
      results,
      tokensBefore: this.#eligibleTokens,
      tokensAfter: this.#eligibleTokens - tokens + left,
      tools: [...tools].sort(),
      paths: [...paths],
      followedFrom: begins + 1,
    };
  }

  /** Updates the index after this clearing was carried out. */
  applied(clearing: Clearing): void {
    for (const { id } of clearing.results) {
      const result = this.#results.get(id);
      if (result === undefined) continue;
      this.#setActive(result, false);
      this.#results.delete(id);
    }
  }

  /**
   * Records that a model has seen all earlier results. One response can be stored as several entries, with
   * results of its first calls between them.
   */
  #noteSeen(entry: Entry): void {
    const responseId = entry.type === "assistant" ? responseIdOf(entry) : undefined;
    const isNew = responseId === undefined || responseId !== this.#newestResponse;
    this.#newestResponse = responseId;
    if (!isNew) return;
    this.#seenSequence = this.#sequence;
    this.#unseenCount = 0;
  }

  #addUses(entry: AssistantEntry, entryIndex: number): void {
    const responseId = responseIdOf(entry);
    const begins = (responseId === undefined ? undefined : this.#responses.get(responseId)) ?? entryIndex;
    if (responseId !== undefined) this.#responses.set(responseId, begins);
    for (const block of entryBlocks(entry)) {
      if (block.type !== "tool_use" || typeof block.id !== "string") continue;
      const use = this.#addUse(block, begins);
      const early = this.#results.get(block.id);
      if (early === undefined) continue;
      early.use = use;
      this.#setActive(early, isWorthClearing(early));
    }
  }

  #addUse({ id, name, input }: ToolUseBlock, begins: number): KnownUse {
    const isEligible = this.#tools.has(name);
    const known = this.#uses.get(id);
    if (known === undefined) {
      const path = fileUseOf(name, input, this.#fileTools) === "read" ? filePathIn(input) : undefined;
      const use = { tool: name, path, begins, isEligible };
      this.#uses.set(id, use);
      return use;
    }
    // An id that was used again belongs to several calls. All of them must be eligible.
    known.begins = Math.min(known.begins, begins);
    known.isEligible &&= isEligible;
    return known;
  }

  #addResult(block: ToolResultBlock, entryIndex: number, tokensOf: TokensOf): void {
    const id = block.tool_use_id;
    if (typeof id !== "string") return;
    const use = this.#uses.get(id);
    if (use?.isEligible === false) return;
    this.#placeholderTokens ??= asCount(tokensOf(PLACEHOLDER));
    const tokens = asCount(tokensOf(block));
    const gain = tokens - this.#placeholderTokens;
    const sequence = ++this.#sequence;
    const known = this.#results.get(id);
    if (known === undefined) {
      const places = [entryIndex];
      const tokensBefore = this.#tokensBefore;
      const result = { id, tokens, gain, sequence, tokensBefore, isActive: false, places, use };
      this.#results.set(id, result);
      this.#setActive(result, isWorthClearing(result));
      return;
    }
    this.#setActive(known, false);
    known.tokens = Math.max(known.tokens, tokens);
    known.gain += gain;
    known.sequence = sequence;
    if (known.places.at(-1) !== entryIndex) known.places.push(entryIndex);
    this.#setActive(known, isWorthClearing(known));
  }

  #setActive(result: TrackedResult, isActive: boolean): void {
    if (result.isActive === isActive) return;
    result.isActive = isActive;
    const sign = isActive ? 1 : -1;
    this.#activeCount += sign;
    this.#eligibleTokens += sign * result.tokens;
    const isNewest = isActive && result.sequence > (this.#active.at(-1)?.sequence ?? 0);
    if (isNewest && !this.#isUnsorted) this.#active.push(result);
    else this.#isUnsorted = true;
  }
}

/**
 * Returns true if clearing saves tokens. A placeholder for a shorter result would make the request longer.
 */
const isWorthClearing = ({ gain, use }: TrackedResult): boolean => gain > 0 && use?.isEligible === true;

function located({ id, tokens, places }: TrackedResult, { tool, path }: KnownUse): ClearedResult {
  const entryIndex = places[0] ?? 0;
  const result =
    path === undefined ? { id, tool, tokens, entryIndex } : { id, tool, tokens, entryIndex, path };
  return places.length === 1 ? result : { ...result, repeatedAt: places.slice(1) };
}

/** Returns a valid count. The caller supplies the counts, and an invalid one must not distort the totals. */
function asCount(tokens: number): number {
  return Number.isFinite(tokens) ? Math.max(0, tokens) : 0;
}
