import { CLEARED_RESULT_TEXT, isCleared } from "../conversation/cleared.ts";
import {
  type AssistantEntry,
  type Entry,
  entryBlocks,
  isEntry,
  isSynthetic,
  responseIdOf,
} from "../conversation/entry.ts";
import type { ContentBlock, ToolResultBlock, ToolUseBlock } from "../conversation/message.ts";
import { showsModelSpoke } from "../conversation/newest-response.ts";
import { FILE_TOOLS, type FileTools, filePathIn, fileUseOf } from "../conversation/tool-kinds.ts";
import type { ClearedResult, Clearing } from "./clearing.ts";
import { ELIGIBLE_TOOLS } from "./eligible.ts";

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
    if (showsModelSpoke(entry)) this.#noteSeen(entry);
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
