import { isRecord, type JsonRecord } from "../../../conversation/untrusted.ts";

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

// Equality of blocks

/** At which depth `cache_control` is a mark, and so no part of what is compared, and not content. */
export type MarkDepth = "none" | "top" | "any";

/**
 * What a block says, in two parts: a short head, and a value that is compared where it lies. Nothing is
 * put together or written out: that alone would cost more than parsing the body did.
 */
export interface BlockParts {
  readonly head: string;
  readonly value: unknown;
  readonly marks: MarkDepth;
}

export function blockParts(block: JsonRecord): BlockParts {
  switch (block.type) {
    case "text":
      if (typeof block.text === "string" && !block.citations) return strict("t", block.text);
      break;
    case "tool_use":
      return strict(`u\0${String(block.id)}\0${String(block.name)}`, block.input);
    case "tool_result":
      if (block.content === undefined || typeof block.content === "string") {
        return strict(`r\0${String(block.tool_use_id)}\0${block.is_error === true}`, block.content ?? "");
      }
      break;
    case "thinking":
      return strict(`h\0${String(block.signature)}`, block.thinking);
  }
  return { head: "j", value: block, marks: "any" };
}

/** In a tool only the outermost field is a mark: a schema may well have a property of that name. */
export function toolParts(tool: JsonRecord): BlockParts {
  return { head: "d", value: tool, marks: "top" };
}

const strict = (head: string, value: unknown): BlockParts => ({ head, value, marks: "none" });

/** The same as one string, equal exactly for blocks that the provider holds to be the same. */
export function partsKey({ head, value, marks }: BlockParts): string {
  if (value === undefined) return head;
  if (typeof value === "string") return `${head}\0${value}`;
  return `${head}\0${JSON.stringify(withoutMarks(value, marks))}`;
}

/** Cache marks steer the cache and are no part of what is cached, at whatever depth they stand. */
export function withoutMarks(value: unknown, marks: MarkDepth = "any"): unknown {
  if (marks === "none") return value;
  if (Array.isArray(value)) return value.map((item) => withoutMarks(item, marks));
  if (!isRecord(value)) return value;
  const inner = marks === "top" ? "none" : marks;
  const fields = Object.entries(value).filter(([name]) => name !== "cache_control");
  return Object.fromEntries(fields.map(([name, field]) => [name, withoutMarks(field, inner)]));
}

/** Whether two JSON values are the same byte for byte once written out, marks aside. */
export function isSameJson(one: unknown, other: unknown, marks: MarkDepth): boolean {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  if (Array.isArray(one)) {
    if (!Array.isArray(other) || one.length !== other.length) return false;
    for (let index = 0; index < one.length; index++) {
      if (!isSameJson(one[index], other[index], marks)) return false;
    }
    return true;
  }
  return !Array.isArray(other) && isSameRecord(one as JsonRecord, other as JsonRecord, marks);
}

function isSameRecord(one: JsonRecord, other: JsonRecord, marks: MarkDepth): boolean {
  const names = fieldNames(one, marks);
  const otherNames = fieldNames(other, marks);
  if (names.length !== otherNames.length) return false;
  const inner = marks === "top" ? "none" : marks;
  for (let index = 0; index < names.length; index++) {
    const name = names[index] ?? "";
    if (name !== otherNames[index] || !isSameJson(one[name], other[name], inner)) return false;
  }
  return true;
}

function fieldNames(record: JsonRecord, marks: MarkDepth): readonly string[] {
  const names = Object.keys(record);
  return marks !== "none" && record.cache_control !== undefined
    ? names.filter((name) => name !== "cache_control")
    : names;
}
