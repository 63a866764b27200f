import { CACHE_TTL_MS } from "@longhaul/core/internal/measure";
import { contentBlocks, isRecord } from "@longhaul/core/internal/messages";
import type { CacheTtl } from "@longhaul/core/measure";
import type { ContentBlock, MessageContent } from "@longhaul/core/messages";
import type { ModelRequest, ModelUsage } from "@longhaul/core/models";

/** How far back from a mark the provider looks for what an earlier call wrote, the mark included. */
const LOOK_BACK_POSITIONS = 20;

interface PrefixCacheOptions {
  /** Prompts below this many tokens are not cached. */
  readonly minimumTokens: number;
  /** What a tool, a block of the system prompt or of a message takes. */
  tokensOf(block: object): number;
}

/** What a call reads from the cache, writes to it, and pays in full. */
export interface InputParts {
  readonly read: number;
  readonly written: number;
  readonly plain: number;
  /** Of what is written. */
  readonly ttl: CacheTtl;
}

interface Position {
  readonly node: PromptNode;
  readonly kind: unknown;
  /** Of the prompt up to here. */
  readonly tokens: number;
  readonly mark: CacheTtl | undefined;
}

/**
 * The provider's prompt cache: each mark (`cache_control`) writes the prefix up to it, and reads the longest prefix
 * within its reach that an earlier call wrote and that is still kept. Use begins a lifetime anew.
 */
export class PrefixCache {
  readonly #options: PrefixCacheOptions;
  readonly #root = new PromptNode();
  readonly #numbers = new BlockNumbers();

  constructor(options: PrefixCacheOptions) {
    this.#options = options;
  }

  /** A call at this time, in milliseconds. What it writes is there for whoever calls next. */
  call(request: ModelRequest, at: number): InputParts {
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
    return { read, written: cached - read, plain: Math.round(total) - cached, ttl };
  }

  #isUsable(position: Position | undefined): boolean {
    return position?.mark !== undefined && position.tokens >= this.#options.minimumTokens;
  }

  #positions({ tools = [], system = [], messages }: ModelRequest): readonly Position[] {
    const positions: Position[] = [];
    let node = this.#root;
    let tokens = 0;
    const add = (block: object, place: string): void => {
      node = node.after(this.#numbers.of(block, place));
      tokens += this.#options.tokensOf(block);
      const kind = "type" in block ? block.type : undefined;
      positions.push({ node, kind, tokens, mark: markIn(block) });
    };
    for (const tool of tools) add(tool, "tool");
    for (const block of this.#numbers.blocksOf(system)) add(block, "system");
    for (const { role, content } of messages) {
      for (const block of this.#numbers.blocksOf(content)) add(block, role);
    }
    return positions;
  }
}

function markIn(block: object): CacheTtl | undefined {
  const mark = "cache_control" in block ? block.cache_control : undefined;
  if (!isRecord(mark)) return undefined;
  return mark.ttl === "1h" ? "1h" : "5m";
}

/** The index of the longest prefix that can be read from this mark; -1 where there is none. */
function lookBack(positions: readonly Position[], mark: number, at: number): number {
  let steps = 0;
  for (let index = mark; index >= 0; index--) {
    if (index === mark || !isSameRun(positions[index], positions[index + 1])) steps++;
    if (steps > LOOK_BACK_POSITIONS) return -1;
    if ((positions[index]?.node.expiresAt ?? 0) > at) return index;
  }
  return -1;
}

/** What is there keeps its lifetime, which begins anew; else a mark writes it. */
function use(position: Position | undefined, at: number): void {
  if (position === undefined) return;
  const { node, mark } = position;
  if (node.expiresAt <= at) node.ttlMs = CACHE_TTL_MS[mark ?? "5m"];
  node.expiresAt = at + node.ttlMs;
}

/** Parallel calls, and their results, count as one position each. */
const isSameRun = (one: Position | undefined, next: Position | undefined): boolean =>
  one?.kind === next?.kind && (one?.kind === "tool_use" || one?.kind === "tool_result");

/** As the provider reports it. */
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

/** A prefix of prompts: the same blocks in the same order lead to the same node. */
class PromptNode {
  readonly #next = new Map<number, PromptNode>();
  /** Of the cache entry that was written here last; in milliseconds. */
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

/** Numbers for blocks: the same for blocks that are the same byte for byte once written out, marks aside. */
class BlockNumbers {
  readonly #byText = new Map<string, number>();
  /** For each place: the same object can stand in several, which are different prompts. */
  readonly #byObject = new Map<string, WeakMap<object, number>>();
  readonly #texts = new Map<string, ContentBlock>();

  /** A text in place of blocks is one block, and the same one whenever it comes again. */
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
