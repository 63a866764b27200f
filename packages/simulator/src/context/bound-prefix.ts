import { contentBlocks, isMedia, type JsonRecord, stringField } from "@longhaul/core/internal/messages";
import type { ApiMessage, ContentBlock } from "@longhaul/core/messages";
import { type BlockParts, blockParts, toolParts } from "../prompt/block-equality.ts";
import { type PrefixNode, PrefixTree } from "../prompt/prefix-tree.ts";
import type { Conversation } from "./conversation.ts";
import { shortDigest } from "./signatures.ts";
import { referencedTools } from "./tool-changes.ts";

/** What a signed compaction block says of the conversation that it stands for. */
export interface SummarisedPrefix {
  /** One digest for every form in which the summarised messages were ever sent. None: nothing carries over. */
  readonly digests: readonly string[];
  readonly toolsDigest: string;
  readonly systemDigest: string;
}

/**
 * Digests of conversations as they were sent, without thinking and without cache marks. The nodes are
 * shared between requests, so only blocks that are new are ever hashed.
 */
export class BoundPrefixes {
  readonly #tree = new PrefixTree();
  readonly #digests = new WeakMap<PrefixNode, string>();

  /** At the beginning of the messages of this conversation. */
  begin(conversation: Conversation): PrefixWalk {
    this.#tree.beginCall();
    const offered = conversation.tools.filter((tool) => tool.defer_loading !== true);
    const toolsDigest = this.#digestOf("tools", offered.map(toolParts));
    const systemDigest = this.#digestOf("system", contentBlocks(conversation.system).map(partsOf));
    const deferred = conversation.tools.filter((tool) => tool.defer_loading === true);
    const start = this.#tree.root.child(`conversation\0${toolsDigest}\0${systemDigest}`);
    return new PrefixWalk(this, start, { toolsDigest, systemDigest }, deferred);
  }

  /** A node from which digests go on as if this one had been computed here. */
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

/** Goes through a conversation block by block and knows, at each place, what a thinking block is bound to. */
export class PrefixWalk {
  readonly toolsDigest: string;
  readonly systemDigest: string;
  readonly #prefixes: BoundPrefixes;
  readonly #start: PrefixNode;
  readonly #deferred: readonly JsonRecord[];
  /** The conversation as sent comes first; then what a signed compaction block stands for. */
  #nodes: PrefixNode[];
  #role: string | undefined;
  #blocks = 0;
  /** Nodes that a summary stands for; the walk goes on from them too if the next message allows it. */
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

  /** The number of blocks before this place. */
  get blocks(): number {
    return this.#blocks;
  }

  /** Of the conversation as it is sent now. */
  get digest(): string {
    return this.digests[0] ?? "";
  }

  /** Also of the forms in which it was sent before the provider summarised its beginning. */
  get digests(): readonly string[] {
    return this.#nodes.map((node) => this.#prefixes.digest(node));
  }

  has(digest: string): boolean {
    return this.#nodes.some((node) => this.#prefixes.digest(node) === digest);
  }

  /** Continues on its own: what is added to the copy is not added here. */
  copy(): PrefixWalk {
    const copy = new PrefixWalk(this.#prefixes, this.#start, this, this.#deferred);
    copy.#nodes = [...this.#nodes];
    copy.#role = this.#role;
    copy.#blocks = this.#blocks;
    copy.#resumable = this.#resumable;
    return copy;
  }

  /** What is sent before a summary is no part of the conversation any more. */
  restart(summaryText: string): void {
    this.#nodes = [this.#start.child("compaction", summaryText)];
    this.#resumable = [];
    this.#role = undefined;
    this.#blocks = 1;
  }

  /**
   * A signed summary stands for the messages before it: thinking that was bound to those stays valid, as
   * long as system and tools are the same and nothing else takes the place of the summarised messages.
   */
  restartSigned(signature: string, summarised: SummarisedPrefix | undefined): void {
    this.restart(signature);
    if (summarised === undefined) return;
    const isSameHead =
      summarised.toolsDigest === this.toolsDigest && summarised.systemDigest === this.systemDigest;
    if (!isSameHead) return;
    this.#resumable = summarised.digests.map((digest) => this.#prefixes.resume(digest));
  }

  /** Fields beside role and content, such as `clear_at`, belong to what was sent. */
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
    // Neighbours of one role are one message to the provider, however they are sent.
    const place = role === this.#role ? "" : `${role}\0`;
    for (let index = 0; index < this.#nodes.length; index++) {
      const node = this.#nodes[index];
      if (node !== undefined) this.#nodes[index] = node.block(parts, place);
    }
    this.#role = role;
  }

  /**
   * To be called before thinking, which is no part of the prefix itself. A system message cannot follow the
   * summary. A first kept message in the role of the last summarised one was part of that; here it begins a
   * turn, so its digest is another, and the kept thinking no longer fits either.
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
  // What is bound are the fetched bytes; a signed address changes its query and serves the same ones.
  const address = (block.source.url ?? "").split("?")[0];
  return blockParts({ ...record, source: { ...block.source, url: address } });
}
