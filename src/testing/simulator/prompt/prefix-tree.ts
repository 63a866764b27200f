import { createHash } from "node:crypto";

/**
 * Everything the simulator has ever been sent, as a tree of blocks: the same blocks in the same order lead
 * to the same node. So a conversation that is sent again costs one lookup per block, and what is known of
 * a prefix (its tokens, its cache entries, its digest) is found at its node.
 */
export class PrefixNode {
  readonly parent: PrefixNode | undefined;
  readonly key: string;
  readonly #children = new Map<string, PrefixNode>();
  #digest: string | undefined;

  constructor(parent: PrefixNode | undefined, key: string) {
    this.parent = parent;
    this.key = key;
  }

  child(key: string): PrefixNode {
    const known = this.#children.get(key);
    if (known !== undefined) return known;
    const node = new PrefixNode(this, key);
    this.#children.set(key, node);
    return node;
  }

  /** Of the whole prefix up to here. Computed once, when a signature first needs it. */
  get digest(): string {
    if (this.#digest !== undefined) return this.#digest;
    const pending: PrefixNode[] = [];
    let node: PrefixNode | undefined = this;
    while (node !== undefined && node.#digest === undefined) {
      pending.push(node);
      node = node.parent;
    }
    for (const open of pending.reverse()) {
      const before = open.parent?.digest ?? "";
      open.#digest = createHash("sha256").update(before).update("\0").update(open.key).digest("base64url");
    }
    return this.#digest ?? "";
  }
}
