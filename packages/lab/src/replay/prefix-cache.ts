import { CACHE_TTL_MS } from "@longhaul/core/internal/measure";
import { contentBlocks, isRecord } from "@longhaul/core/internal/messages";
import type { CacheTtl } from "@longhaul/core/measure";
import type { ContentBlock, MessageContent } from "@longhaul/core/messages";
import type { ModelRequest, ModelUsage } from "@longhaul/core/models";

/**
 * Number of positions at which the provider looks for the end of a cached prefix. The first is the position
 * of the cache mark, and the others are directly before it.
 */
const LOOK_BACK_POSITIONS = 20;

interface PrefixCacheOptions {
  /** Minimum length of a cached prompt. The provider does not cache shorter prompts. */
  readonly minimumTokens: number;
  /** Counts the tokens of a tool, or of a block in the system prompt or in a message. */
  tokensOf(block: object): number;
}

/** Input tokens of a call: read from the cache, written to the cache, and paid in full. */
export interface InputParts {
  readonly read: number;
  readonly written: number;
  readonly plain: number;
  /** Lifetime of the written tokens. */
  readonly ttl: CacheTtl;
}

/** One block of a prompt, and how the provider charges it. */
export interface PromptPiece {
  readonly block: object;
  readonly tokens: number;
  readonly charged: "read" | "written" | "plain";
  /** Same value for the same prefix up to and including this block. */
  readonly prefix: object;
  /** Same value for the same block, wherever in the prompt its role occurs. */
  readonly content: number;
  /** Part of the prompt that contains the block. */
  readonly place: string;
}

/** A call: its input tokens, and the blocks that they belong to. */
export interface CachedCall extends InputParts {
  readonly pieces: readonly PromptPiece[];
}

interface Position {
  readonly node: PromptNode;
  readonly block: object;
  readonly number: number;
  readonly place: string;
  readonly kind: unknown;
  /** Tokens of the prompt up to this position. */
  readonly tokens: number;
  readonly mark: CacheTtl | undefined;
}

/**
 * Simulates the provider's prompt cache. A call writes the prefix up to each of its cache marks
 * (`cache_control`). A call can read a prefix that an earlier call wrote if the prefix has not expired and
 * ends close enough to a mark. It reads the longest such prefix. Reading a prefix starts its lifetime again.
 */
export class PrefixCache {
  readonly #options: PrefixCacheOptions;
  readonly #root = new PromptNode();
  readonly #numbers = new BlockNumbers();

  constructor(options: PrefixCacheOptions) {
    this.#options = options;
  }

  /**
   * Runs a call at the given time in milliseconds. Later calls can read the prefixes that this call writes.
   */
  call(request: ModelRequest, at: number): CachedCall {
    const positions = this.#positions(request);
    const total = positions.at(-1)?.tokens ?? 0;
    const marks = [...positions.keys()].filter((index) => this.#isUsable(positions[index]));
    const hits = marks.map((mark) => lookBack(positions, mark, at));
    const reached = Math.max(-1, ...hits);
    const last = Math.max(reached, marks.at(-1) ?? -1);
    const read = Math.round(positions[reached]?.tokens ?? 0);
    const cached = Math.round(positions[last]?.tokens ?? 0);
    for (const index of new Set([...hits, ...marks])) use(positions[index], at);
    const ttl = positions[last]?.mark ?? "5m";
    const pieces = piecesOf(positions, reached, last);
    return { read, written: cached - read, plain: Math.round(total) - cached, ttl, pieces };
  }

  #isUsable(position: Position | undefined): boolean {
    return position?.mark !== undefined && position.tokens >= this.#options.minimumTokens;
  }

  #positions({ tools = [], system = [], messages }: ModelRequest): readonly Position[] {
    const positions: Position[] = [];
    let node = this.#root;
    let tokens = 0;
    const add = (block: object, place: string): void => {
      const number = this.#numbers.of(block, place);
      node = node.after(number);
      tokens += this.#options.tokensOf(block);
      const kind = "type" in block ? block.type : undefined;
      positions.push({ node, block, number, place, kind, tokens, mark: markIn(block) });
    };
    for (const tool of tools) add(tool, "tool");
    for (const block of this.#numbers.blocksOf(system)) add(block, "system");
    for (const { role, content } of messages) {
      for (const block of this.#numbers.blocksOf(content)) add(block, role);
    }
    return positions;
  }
}

/** Returns the blocks of a prompt that reads up to one position and writes up to another. */
function piecesOf(positions: readonly Position[], reached: number, last: number): readonly PromptPiece[] {
  return positions.map(({ node, block, number, place, tokens }, index) => ({
    block,
    tokens: tokens - (positions[index - 1]?.tokens ?? 0),
    charged: index <= reached ? "read" : index <= last ? "written" : "plain",
    prefix: node,
    content: number,
    place,
  }));
}

function markIn(block: object): CacheTtl | undefined {
  const mark = "cache_control" in block ? block.cache_control : undefined;
  if (!isRecord(mark)) return undefined;
  return mark.ttl === "1h" ? "1h" : "5m";
}

/**
 * Finds the longest cached prefix that this mark can read. Returns the index of the prefix's last position,
 * or -1 if there is no such prefix.
 */
function lookBack(positions: readonly Position[], mark: number, at: number): number {
  let steps = 0;
  for (let index = mark; index >= 0; index--) {
    if (index === mark || !isSameRun(positions[index], positions[index + 1])) steps++;
    if (steps > LOOK_BACK_POSITIONS) return -1;
    if ((positions[index]?.node.expiresAt ?? 0) > at) return index;
  }
  return -1;
}

/**
 * Renews a prefix. If the prefix has not expired, its previous lifetime starts again. If it has expired,
 * writes it again with the lifetime that its mark requests.
 */
function use(position: Position | undefined, at: number): void {
  if (position === undefined) return;
  const { node, mark } = position;
  if (node.expiresAt <= at) node.ttlMs = CACHE_TTL_MS[mark ?? "5m"];
  node.expiresAt = at + node.ttlMs;
}

/** Consecutive tool calls count as one position, and so do consecutive tool results. */
const isSameRun = (one: Position | undefined, next: Position | undefined): boolean =>
  one?.kind === next?.kind && (one?.kind === "tool_use" || one?.kind === "tool_result");

/** Builds the usage that the provider would report. */
export function usageOf({ read, written, plain, ttl }: InputParts, outputTokens: number): ReplayUsage {
  return {
    input_tokens: plain,
    output_tokens: outputTokens,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: read,
    cache_creation: {
      ephemeral_5m_input_tokens: ttl === "5m" ? written : 0,
      ephemeral_1h_input_tokens: ttl === "1h" ? written : 0,
    },
  };
}

export type ReplayUsage = ModelUsage & {
  readonly cache_creation: {
    readonly ephemeral_5m_input_tokens: number;
    readonly ephemeral_1h_input_tokens: number;
  };
};

/** A prefix of prompts. The same blocks in the same order lead to the same node. */
class PromptNode {
  readonly #next = new Map<number, PromptNode>();
  /** Expiry of the cache entry at this node, in milliseconds. */
  expiresAt: number = Number.NEGATIVE_INFINITY;
  ttlMs = 0;

  after(block: number): PromptNode {
    let node = this.#next.get(block);
    if (node === undefined) {
      node = new PromptNode();
      this.#next.set(block, node);
    }
    return node;
  }
}

/**
 * Assigns numbers to blocks. Two blocks get the same number if their JSON is identical, ignoring cache marks.
 */
class BlockNumbers {
  readonly #byText = new Map<string, number>();
  /**
   * Numbers of the objects. The outer key is a place in the prompt, the inner key is an object, and the value
   * is its number. The same object can occur in several places, and has a separate number for each place.
   */
  readonly #byObject = new Map<string, WeakMap<object, number>>();
  readonly #texts = new Map<string, ContentBlock>();

  /**
   * Returns the blocks of a content. Turns a string into one text block, and returns the same object for the
   * same string.
   */
  blocksOf(content: MessageContent): readonly ContentBlock[] {
    if (typeof content !== "string") return contentBlocks(content);
    const block = this.#texts.get(content) ?? { type: "text", text: content };
    this.#texts.set(content, block);
    return [block];
  }

  of(block: object, place: string): number {
    const numbers = this.#byObject.get(place) ?? new WeakMap<object, number>();
    this.#byObject.set(place, numbers);
    const known = numbers.get(block);
    if (known !== undefined) return known;
    const text = place + JSON.stringify(block, withoutMarks);
    const number = this.#byText.get(text) ?? this.#byText.size;
    this.#byText.set(text, number);
    numbers.set(block, number);
    return number;
  }
}

const withoutMarks = (name: string, value: unknown): unknown =>
  name === "cache_control" ? undefined : value;
