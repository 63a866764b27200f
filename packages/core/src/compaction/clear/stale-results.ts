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

/** What is cleared, by whichever form: a decision, not yet carried out. Ids, names and counts only. */
export interface Clearing {
  readonly form: "size" | "time" | "cached" | "manual";
  /** Oldest first. */
  readonly results: readonly ClearedResult[];
  /** What all eligible results hold before and after it; placeholders that it leaves are counted. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Names of the tools concerned, sorted, each once. */
  readonly tools: readonly string[];
  /** Files whose reads are cleared: the host forgets that the agent has seen them. */
  readonly paths: readonly string[];
  /** Responses that begin at this entry or later were written after what is cleared. */
  readonly followedFrom: number;
}

export interface ClearedResult {
  readonly id: string;
  readonly tool: string;
  readonly tokens: number;
  readonly entryIndex: number;
  /** Entries that hold the same result again. */
  readonly repeatedAt?: readonly number[];
  /** The file, where the result is what a read showed of it. */
  readonly path?: string;
}

/** Their input is the large part: what was written, and what it took the place of. */
const WRITING = ["file-edit", "file-write", "file-by-command"] as const;

/**
 * Tools whose results can be had again: those are cleared unless the caller names others. Names match as they
 * are written. Directory listings, background output and notebook edits are not among the kinds.
 */
export const ELIGIBLE_TOOLS: readonly string[] = Object.freeze(
  toolsOf("file-read", "shell", "grep", "glob", "web-fetch", "web-search", "recall", ...WRITING),
);

export const WRITE_LIKE_TOOLS: ReadonlySet<string> = new Set(toolsOf(...WRITING));

/** Clearing breaks the prompt cache; for less than this it is not worth it. */
export const MINIMUM_SAVING_TOKENS = 20_000;
/** What the agent is working with right now. */
const KEPT_NEWEST_BY_SIZE = 3;

export interface BySizeOptions {
  readonly targetTokens?: number | undefined;
  readonly minimumSavingTokens?: number | undefined;
  readonly keepNewest?: number | undefined;
}

/** About what {@link chooseBySize} would save, told from running figures and the newest results alone. */
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

/** The oldest results, until the rest is within the target: one batch, so that the next is far off. */
export function chooseBySize(index: ResultIndex, options: BySizeOptions = {}): Clearing | undefined {
  const {
    targetTokens = CLEARING_TARGET_TOKENS,
    minimumSavingTokens = MINIMUM_SAVING_TOKENS,
    keepNewest = KEPT_NEWEST_BY_SIZE,
  } = options;
  const clearable = index.activeCount - index.keptCount(keepNewest);
  // Not `<=`, so that a target that is no figure leaves things alone.
  if (!(index.eligibleTokens > targetTokens) || !(clearable > 0)) return undefined;
  const results = index.results();
  let left = index.eligibleTokens;
  let count = 0;
  while (count < clearable && left > targetTokens) left -= results[count++]?.tokens ?? 0;
  const saved = index.eligibleTokens - left - count * index.placeholderTokens;
  return saved < minimumSavingTokens ? undefined : index.describe("size", results.slice(0, count));
}

/** Enough to go on with what was being done when the pause began. */
const KEPT_NEWEST_BY_TIME = 5;

export interface ByTimeOptions {
  /** Since the last assistant message; undefined where there is none. */
  readonly idleMs: number | undefined;
  readonly thresholdMs?: number | undefined;
  readonly keepNewest?: number | undefined;
}

/** All results but the newest, once the provider's cache has gone cold. */
export function chooseByTime(index: ResultIndex, options: ByTimeOptions): Clearing | undefined {
  const { idleMs, thresholdMs = IDLE_THRESHOLD_MS, keepNewest = KEPT_NEWEST_BY_TIME } = options;
  if (!isIdle(idleMs, thresholdMs)) return undefined;
  const clearable = index.activeCount - index.keptCount(Math.max(1, Math.trunc(keepNewest) || 1));
  return clearable > 0 ? index.describe("time", index.results().slice(0, clearable)) : undefined;
}

/** A clock that jumped back gives a negative pause: that is no idle hour. */
export function isIdle(idleMs: number | undefined, thresholdMs: number = IDLE_THRESHOLD_MS): boolean {
  return idleMs !== undefined && idleMs > thresholdMs;
}

/** What the agent is working with right now. */
const KEPT_NEWEST_BY_HAND = 3;

interface ByHandOptions {
  readonly keep?: number | undefined;
  /** Results that edits of the cached prefix leave out: a rewrite ends the edits, so these must go with the others. */
  readonly leftOut?: ReadonlySet<string> | undefined;
}

/** All results but the newest, whatever it saves: somebody asked for it. Undefined where no result is new to it. */
export function chooseByHand(index: ResultIndex, options: ByHandOptions = {}): Clearing | undefined {
  const { keep = KEPT_NEWEST_BY_HAND, leftOut } = options;
  const kept = index.keptCount(Number.isNaN(keep) ? KEPT_NEWEST_BY_HAND : keep);
  const results = index.results();
  const clearable = results.length - kept;
  const chosen = results.filter(({ id }, at) => at < clearable || leftOut?.has(id));
  return chosen.every(({ id }) => leftOut?.has(id)) ? undefined : index.describe("manual", chosen);
}

export interface AppliedClearing {
  readonly entries: readonly Entry[];
  /** Thinking blocks that the model would refuse after the changed history. */
  readonly removedThinkingBlocks: number;
}

/** The conversation to go on with; indexes stay what they were. Looks at no entry but those that the clearing names, unless thinking is bound. */
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
  /** Names of the tools whose results can be had again, as they are written. */
  readonly tools?: readonly string[] | undefined;
  /** The agent's tools for files, where they have other names than the usual ones: cleared reads are forgotten. */
  readonly fileTools?: FileTools | undefined;
}

/** A result in the conversation that would be worth clearing. */
export interface IndexedResult {
  readonly id: string;
  /** Of a result that was written again: the longest of them. */
  readonly tokens: number;
  /** Rises with the position of the result, or of its last repetition. */
  readonly sequence: number;
  /** Tokens that had been added before the entry in which it stands, or first stands. */
  readonly tokensBefore: number;
  /** False once it has been cleared. */
  readonly isActive: boolean;
}

interface TrackedResult extends IndexedResult {
  tokens: number;
  sequence: number;
  isActive: boolean;
  /** What clearing all of its occurrences would save. */
  gain: number;
  /** Indexes of the entries that hold it. */
  readonly places: number[];
  /** The call, once it is known. */
  use: KnownUse | undefined;
}

interface KnownUse {
  readonly tool: string;
  readonly path: string | undefined;
  /** Index of the entry with which the response that made the call begins. */
  begins: number;
  isEligible: boolean;
}

const PLACEHOLDER: ToolResultBlock = {
  type: "tool_result",
  tool_use_id: "",
  content: CLEARED_RESULT_TEXT,
};

/**
 * The results of a growing conversation that may be cleared. Adding an entry costs what that entry holds,
 * and whether there is anything to do is told from two running figures. Ids alone decide what belongs
 * together: a result may stand before its use, and be written again by a resume.
 */
export class ResultIndex {
  readonly #tools: ReadonlySet<string>;
  readonly #fileTools: FileTools;
  readonly #uses = new Map<string, KnownUse>();
  readonly #responses = new Map<string, number>();
  readonly #results = new Map<string, TrackedResult>();
  /** Those worth clearing, oldest first; to be sorted again when `#isUnsorted`. */
  #active: TrackedResult[] = [];
  #isUnsorted = false;
  #activeCount = 0;
  #eligibleTokens = 0;
  #sequence = 0;
  #tokensBefore = 0;
  #placeholderTokens: number | undefined;
  /** The sequence of the newest result that a model has seen. */
  #seenSequence = 0;
  #newestResponse: string | undefined;
  #unseenCount = 0;

  constructor(options: ResultIndexOptions = {}) {
    this.#tools = new Set(options.tools ?? ELIGIBLE_TOOLS);
    this.#fileTools = options.fileTools ?? FILE_TOOLS;
  }

  /** How many results could be cleared. */
  get activeCount(): number {
    return this.#activeCount;
  }

  /** What they hold. */
  get eligibleTokens(): number {
    return this.#eligibleTokens;
  }

  /** What stays of each when it is cleared. */
  get placeholderTokens(): number {
    return this.#placeholderTokens ?? 0;
  }

  /** Results of any tool that no model has seen. */
  get unseenCount(): number {
    return this.#unseenCount;
  }

  /**
   * How many of the newest are never cleared: those that the caller keeps, and all that no model has seen, because they
   * came after the newest response.
   */
  keptCount(keepNewest: number): number {
    const results = this.results();
    let unseen = 0;
    while (unseen < results.length && (results.at(-1 - unseen)?.sequence ?? 0) > this.#seenSequence) unseen++;
    return Math.max(0, Math.trunc(keepNewest), unseen);
  }

  /** Entries come in the order of the conversation; `tokensBefore` is what was added before this one. */
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

  /** Those that could be cleared, oldest first. Not to be kept: the list changes as entries are added. */
  results(): readonly IndexedResult[] {
    if (this.#isUnsorted) {
      this.#active = [...this.#results.values()]
        .filter(({ isActive }) => isActive)
        .sort((a, b) => a.sequence - b.sequence);
      this.#isUnsorted = false;
    }
    return this.#active;
  }

  /** Where the chosen ones stand now, with what has to be known to clear them. */
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
    // An edit of the cached prefix takes a result out and leaves nothing in its place.
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

  /** The conversation goes on with this carried out. */
  applied(clearing: Clearing): void {
    for (const { id } of clearing.results) {
      const result = this.#results.get(id);
      if (result === undefined) continue;
      this.#setActive(result, false);
      this.#results.delete(id);
    }
  }

  /** One response may be stored as several entries, with results of its first calls between them. */
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
    // An id that was used again stands for more than one call: all of them must be eligible.
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

/** Putting the placeholder in the place of something shorter would make the request longer. */
const isWorthClearing = ({ gain, use }: TrackedResult): boolean => gain > 0 && use?.isEligible === true;

function located({ id, tokens, places }: TrackedResult, { tool, path }: KnownUse): ClearedResult {
  const entryIndex = places[0] ?? 0;
  const result =
    path === undefined ? { id, tool, tokens, entryIndex } : { id, tool, tokens, entryIndex, path };
  return places.length === 1 ? result : { ...result, repeatedAt: places.slice(1) };
}

/** Counts come from the caller; one that is no figure must not spoil the totals. */
function asCount(tokens: number): number {
  return Number.isFinite(tokens) ? Math.max(0, tokens) : 0;
}
