import { type BlockParts, isSameJson, type MarkDepth, partsKey } from "./block-equality.ts";

/**
 * Above this number of characters, the tree drops nodes that no recent call and no cache entry needs. The
 * largest context window has about 4 million characters. Conversations of recent calls stay in the tree, even
 * if they are larger.
 */
const TREE_LIMIT_CHARACTERS = 8_000_000;

/** Number of newest calls whose nodes always stay in the tree, because these calls may still be running. */
const RECENT_CALLS = 256;

/** With more children than this, an index is faster than a linear search. */
const LISTED_CHILDREN = 8;

/** Facts about all blocks of a prefix together. */
export interface PrefixFacts {
  /** Tokens before scaling for the model. */
  readonly tokens: number;
  /** Section of the last block: a turn, the system prompt or the tools. */
  readonly section: string;
  readonly hasImages: boolean;
  readonly hasCitations: boolean;
}

/** State that all nodes of one tree share. */
interface TreeState {
  /** Number of the current call. */
  call: number;
  characters: number;
}

/**
 * Node in a tree of all blocks that clients have sent. Equal blocks in the same order lead to the same node.
 * So a repeated conversation costs one comparison per block. Each node stores the facts about its prefix,
 * such as tokens and cache entries.
 */
export class PrefixNode {
  readonly parent: PrefixNode | undefined;
  readonly head: string;
  readonly value: unknown;
  readonly marks: MarkDepth;
  /** Facts about the prefix. Set when the prefix is counted for the first time. */
  facts: PrefixFacts | undefined;
  /** Number of cache entries at this node. The node stays in the tree while it has cache entries. */
  held = 0;
  readonly #state: TreeState;
  #usedInCall: number;
  #children: PrefixNode[] = [];
  #index: Map<string, PrefixNode> | undefined;

  constructor(parent?: PrefixNode, head = "", value?: unknown, marks: MarkDepth = "none") {
    this.parent = parent;
    this.head = head;
    this.value = value;
    this.marks = marks;
    this.#state = parent === undefined ? { call: 0, characters: 0 } : parent.#state;
    this.#usedInCall = this.#state.call;
  }

  get key(): string {
    return partsKey(this);
  }

  /** Nodes of the longer prefixes, oldest first. */
  get children(): readonly PrefixNode[] {
    return this.#children;
  }

  child(head: string, value?: unknown, marks: MarkDepth = "none"): PrefixNode {
    const node = this.#find(head, value, marks) ?? this.#add(head, value, marks);
    node.#usedInCall = this.#state.call;
    return node;
  }

  /** Returns the node for this prefix with one more block. `place` identifies the speaker of the block. */
  block({ head, value, marks }: BlockParts, place = ""): PrefixNode {
    return this.child(place + head, value, marks);
  }

  #find(head: string, value: unknown, marks: MarkDepth): PrefixNode | undefined {
    if (this.#index !== undefined) return this.#index.get(partsKey({ head, value, marks }));
    for (const node of this.#children) {
      if (node.head === head && node.marks === marks && isSameJson(node.value, value, marks)) return node;
    }
    return undefined;
  }

  #add(head: string, value: unknown, marks: MarkDepth): PrefixNode {
    const node = new PrefixNode(this, head, value, marks);
    this.#children.push(node);
    this.#state.characters += node.key.length;
    if (this.#index !== undefined) this.#index.set(node.key, node);
    else if (this.#children.length > LISTED_CHILDREN) this.#buildIndex();
    return node;
  }

  #buildIndex(): void {
    this.#index = new Map(this.#children.map((node) => [node.key, node]));
  }

  /** Starts a new call. All nodes that are used until the next start belong to this call. */
  beginCall(): void {
    this.#state.call++;
  }

  /** Characters of all text in the tree of this node. */
  get treeCharacters(): number {
    return this.#state.characters;
  }

  /** Drops all nodes below this node that no recent call and no cache entry needs. */
  prune(): void {
    const nodes: PrefixNode[] = [this];
    // A loop instead of recursion, because a conversation is a chain of thousands of nodes.
    for (const node of nodes) nodes.push(...node.#children);
    for (const node of nodes.reverse()) node.#dropChildren();
  }

  get #isNeeded(): boolean {
    const isRecent = this.#usedInCall + RECENT_CALLS > this.#state.call;
    return this.held > 0 || isRecent || this.#children.length > 0;
  }

  #dropChildren(): void {
    const kept = this.#children.filter((node) => node.#isNeeded);
    if (kept.length === this.#children.length) return;
    for (const node of this.#children) if (!node.#isNeeded) this.#state.characters -= node.key.length;
    this.#children = kept;
    this.#index = undefined;
    if (kept.length > LISTED_CHILDREN) this.#buildIndex();
  }
}

/**
 * Above this number of characters, the tree also gives up nodes of cache entries. A cache of real conversations
 * stays below it. On a clock that does not move, entries never expire, so they could fill the memory.
 */
const HELD_LIMIT_CHARACTERS = 64_000_000;

interface TreeOptions {
  readonly limitCharacters?: number;
  readonly heldLimitCharacters?: number;
  /**
   * Releases some of the nodes that cache entries hold. Returns false if there is nothing more to release.
   */
  readonly release?: () => boolean;
}

/** Tree of all prompts, with a size limit. */
export class PrefixTree {
  readonly root: PrefixNode = new PrefixNode();
  readonly #limitCharacters: number;
  readonly #heldLimitCharacters: number;
  readonly #release: () => boolean;
  #pruneAtCharacters: number;

  constructor({
    limitCharacters = TREE_LIMIT_CHARACTERS,
    heldLimitCharacters = HELD_LIMIT_CHARACTERS,
    release = () => false,
  }: TreeOptions = {}) {
    this.#limitCharacters = limitCharacters;
    this.#heldLimitCharacters = heldLimitCharacters;
    this.#release = release;
    this.#pruneAtCharacters = limitCharacters;
  }

  get characters(): number {
    return this.root.treeCharacters;
  }

  /** Starts a new call. Call this once per request, before its blocks are added. */
  beginCall(): void {
    this.root.beginCall();
    if (this.characters <= this.#pruneAtCharacters) return;
    this.root.prune();
    while (this.characters > this.#heldLimitCharacters && this.#release()) this.root.prune();
    // If most nodes are still needed, wait before the next attempt. Otherwise every call would walk the whole
    // tree.
    this.#pruneAtCharacters = Math.max(this.#limitCharacters, 2 * this.characters);
  }
}
