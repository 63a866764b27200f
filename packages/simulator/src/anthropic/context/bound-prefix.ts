import { contentBlocks, isMedia, type JsonRecord, stringField } from "@longhaul/core/internal/messages";
import type { ApiMessage, ContentBlock } from "@longhaul/core/messages";
import { type BlockParts, blockParts, toolParts } from "../../prompt/block-equality.ts";
import { type PrefixNode, PrefixTree } from "../../prompt/prefix-tree.ts";
import { shortDigest } from "../../sealer.ts";
import type { Conversation } from "./conversation.ts";
import { referencedTools } from "./tool-changes.ts";

/** Facts in the signature of a compaction block about the conversation that the block replaces. */
export interface SummarizedPrefix {
  /**
   * Digests of the summarized messages, one for every form in which they were sent. If the list is empty,
   * thinking that was bound to these messages becomes invalid.
   */
  readonly digests: readonly string[];
  readonly toolsDigest: string;
  readonly systemDigest: string;
}

/**
 * Digests of conversations in the form in which clients sent them, but without thinking and cache marks. A
 * tree stores the blocks. Conversations with the same beginning share nodes of the tree, so only new blocks
 * are hashed.
 */
export class BoundPrefixes {
  readonly #tree = new PrefixTree();
  readonly #digests = new WeakMap<PrefixNode, string>();

  /** Returns a walk that starts before the first message of this conversation. */
  begin(conversation: Conversation): PrefixWalk {
    this.#tree.beginCall();
    const offered = conversation.tools.filter((tool) => tool.defer_loading !== true);
    const toolsDigest = this.#digestOf("tools", offered.map(toolParts));
    const systemDigest = this.#digestOf("system", contentBlocks(conversation.system).map(partsOf));
    const deferred = conversation.tools.filter((tool) => tool.defer_loading === true);
    const start = this.#tree.root.child(`conversation\0${toolsDigest}\0${systemDigest}`);
    return new PrefixWalk(this, start, { toolsDigest, systemDigest }, deferred);
  }

  /** Returns a node with this digest, from which a walk can continue. */
  resume(digest: string): PrefixNode {
    const node = this.#tree.root.child(`resumed\0${digest}`);
    this.#digests.set(node, digest);
    return node;
  }

  digest(node: PrefixNode): string {
    let before = this.#digests.get(node);
    if (before !== undefined) return before;
    const pending: PrefixNode[] = [];
    for (let at: PrefixNode | undefined = node; at !== undefined; at = at.parent) {
      before = this.#digests.get(at);
      if (before !== undefined) break;
      pending.push(at);
    }
    for (const open of pending.reverse()) {
      before = shortDigest(`${before ?? ""}\0${open.key}`);
      this.#digests.set(open, before);
    }
    return before ?? "";
  }

  #digestOf(section: string, parts: readonly BlockParts[]): string {
    let node = this.#tree.root.child(section);
    for (const part of parts) node = node.block(part);
    return this.digest(node);
  }
}

/**
 * Walks through a conversation block by block. At each position, it knows the prefix to which a thinking
 * block at this position is bound.
 */
export class PrefixWalk {
  readonly toolsDigest: string;
  readonly systemDigest: string;
  readonly #prefixes: BoundPrefixes;
  readonly #start: PrefixNode;
  readonly #deferred: readonly JsonRecord[];
  /**
   * Prefixes at the current position. The first is the conversation as sent. The others continue the
   * conversation that a signed compaction block replaces.
   */
  #nodes: PrefixNode[];
  #role: string | undefined;
  #blocks = 0;
  /**
   * Prefixes that the last summary replaces. If the next message is not a system message, the walk continues
   * from these prefixes too.
   */
  #resumable: readonly PrefixNode[] = [];

  constructor(
    prefixes: BoundPrefixes,
    start: PrefixNode,
    head: { readonly toolsDigest: string; readonly systemDigest: string },
    deferred: readonly JsonRecord[],
  ) {
    this.#prefixes = prefixes;
    this.#start = start;
    this.#nodes = [start];
    this.#deferred = deferred;
    this.toolsDigest = head.toolsDigest;
    this.systemDigest = head.systemDigest;
  }

  /** Number of blocks before this position. */
  get blocks(): number {
    return this.#blocks;
  }

  /** Digest of the conversation as it is sent now. */
  get digest(): string {
    return this.digests[0] ?? "";
  }

  /**
   * Digests of the conversation, including the forms in which it was sent before the provider summarized its
   * beginning.
   */
  get digests(): readonly string[] {
    return this.#nodes.map((node) => this.#prefixes.digest(node));
  }

  has(digest: string): boolean {
    return this.#nodes.some((node) => this.#prefixes.digest(node) === digest);
  }

  /** Creates an independent copy. */
  copy(): PrefixWalk {
    const copy = new PrefixWalk(this.#prefixes, this.#start, this, this.#deferred);
    copy.#nodes = [...this.#nodes];
    copy.#role = this.#role;
    copy.#blocks = this.#blocks;
    copy.#resumable = this.#resumable;
    return copy;
  }

  /** Restarts at a summary. Messages before it no longer belong to the conversation. */
  restart(summaryText: string): void {
    this.#nodes = [this.#start.child("compaction", summaryText)];
    this.#resumable = [];
    this.#role = undefined;
    this.#blocks = 1;
  }

  /**
   * Restarts at a signed summary, which replaces the messages before it. Thinking that was bound to these
   * messages stays valid under two conditions. The system prompt and the tools are the same, and the kept
   * messages directly follow the summary.
   */
  restartSigned(signature: string, summarized: SummarizedPrefix | undefined): void {
    this.restart(signature);
    if (summarized === undefined) return;
    const isSameHead =
      summarized.toolsDigest === this.toolsDigest && summarized.systemDigest === this.systemDigest;
    if (!isSameHead) return;
    this.#resumable = summarized.digests.map((digest) => this.#prefixes.resume(digest));
  }

  /** Enters a message. Fields besides role and content, such as `clear_at`, are part of the digest. */
  enter(message: ApiMessage): void {
    for (const name in message) {
      if (name === "role" || name === "content") continue;
      const value = (message as unknown as JsonRecord)[name];
      this.#advance(message.role, { head: `m\0${name}`, value, marks: "none" });
    }
  }

  add(role: string, block: ContentBlock): void {
    this.#advance(role, partsOf(block));
    this.#blocks++;
    if (this.#deferred.length > 0) this.#addReferenced(role, block);
  }

  #addReferenced(role: string, block: ContentBlock): void {
    const referenced = referencedTools(block);
    for (const tool of this.#deferred) {
      if (referenced.includes(stringField(tool, "name") ?? "")) this.#advance(role, toolParts(tool));
    }
  }

  #advance(role: string, parts: BlockParts): void {
    this.reach(role);
    // The provider merges consecutive messages of the same role into one message.
    const place = role === this.#role ? "" : `${role}\0`;
    for (let index = 0; index < this.#nodes.length; index++) {
      const node = this.#nodes[index];
      if (node !== undefined) this.#nodes[index] = node.block(parts, place);
    }
    this.#role = role;
  }

  /**
   * Call this before each block, also before thinking, which is not part of the prefix. If a system message
   * follows the summary, kept thinking becomes invalid. Kept thinking also becomes invalid if the first kept
   * message has the role of the last summarized message. Before the compaction, both messages were one turn.
   * Now the kept message begins a turn, so its digest differs.
   */
  reach(role: string): void {
    if (this.#resumable.length === 0) return;
    if (role !== "system") this.#nodes = [...this.#nodes, ...this.#resumable];
    this.#resumable = [];
  }
}

function partsOf(block: ContentBlock): BlockParts {
  const record = block as unknown as JsonRecord;
  if (!isMedia(block) || block.source?.type !== "url") return blockParts(record);
  // Ignores the query of a URL, because only the fetched bytes matter. The query of a signed URL changes, but
  // the bytes stay the same.
  const address = (block.source.url ?? "").split("?")[0];
  return blockParts({ ...record, source: { ...block.source, url: address } });
}
