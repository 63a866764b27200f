import { type BlockParts, isSameJson, type MarkDepth, partsKey } from "./block-equality.ts";

/** Above this many characters the tree drops what no recent call and no cache entry needs. */
const TREE_LIMIT_CHARACTERS = 64_000_000;

/** Calls that may be in flight at once; what they have walked must stay in place until they are done. */
const RECENT_CALLS = 256;

/** With more children than this, looking through them all costs more than an index. */
const LISTED_CHILDREN = 8;

/** What is known of a prefix once it has been counted, of all its blocks together. */
export interface PrefixFacts {
  /** Before the model's own scale. */
  readonly tokens: number;
  /** What the last block belongs to: a turn, the system prompt or the tools. */
  readonly section: string;
  readonly hasImages: boolean;
  readonly hasCitations: boolean;
}

/** What all nodes of one tree share. */
interface TreeState {
  /** The number of the current call. */
  call: number;
  characters: number;
}

/**
 * Everything the simulator has ever been sent, as a tree of blocks: the same blocks in the same order lead
 * to the same node. So a conversation that is sent again costs one comparison per block, and what is known
 * of a prefix (its tokens, its cache entries) is found at its node.
 */
export class PrefixNode {
  readonly parent: PrefixNode | undefined;
  readonly head: string;
  readonly value: unknown;
  readonly marks: MarkDepth;
  /** Set by whoever counts the prefix first. */
  facts: PrefixFacts | undefined;
  /** Cache entries at this node; it stays in the tree as long as there are any. */
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

  child(head: string, value?: unknown, marks: MarkDepth = "none"): PrefixNode {
    const node = this.#find(head, value, marks) ?? this.#add(head, value, marks);
    node.#usedInCall = this.#state.call;
    return node;
  }

  /** The prefix that is one block longer. `place` tells apart who speaks. */
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

  /** Makes the next walk count as another call. */
  beginCall(): void {
    this.#state.call++;
  }

  /** All text held by the tree of this node. */
  get treeCharacters(): number {
    return this.#state.characters;
  }

  /** Lets go of everything below that no recent call and no cache entry needs. */
  prune(): void {
    const nodes: PrefixNode[] = [this];
    // A conversation is a chain of thousands of nodes: recursion would not survive it.
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

/** The root, and the limit to what it holds. */
export class PrefixTree {
  readonly root: PrefixNode = new PrefixNode();
  readonly #limitCharacters: number;
  #pruneAtCharacters: number;

  constructor(limitCharacters: number = TREE_LIMIT_CHARACTERS) {
    this.#limitCharacters = limitCharacters;
    this.#pruneAtCharacters = limitCharacters;
  }

  get characters(): number {
    return this.root.treeCharacters;
  }

  /** To be called once for every call, before its blocks are walked. */
  beginCall(): void {
    this.root.beginCall();
    if (this.characters <= this.#pruneAtCharacters) return;
    this.root.prune();
    // When most of it is still needed the next attempt must wait, or every call would walk the whole tree.
    this.#pruneAtCharacters = Math.max(this.#limitCharacters, 2 * this.characters);
  }
}
