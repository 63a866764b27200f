import { type ContentBlock, contentBlocks, type MessageContent } from "../../conversation/message.ts";

/** A prefix of prompts: the same blocks in the same order lead to the same node. */
export class PromptNode {
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
export class BlockNumbers {
  readonly #byText = new Map<string, number>();
  readonly #byObject = new WeakMap<object, number>();
  readonly #texts = new Map<string, ContentBlock>();

  /** A text in place of blocks is one block, and the same one whenever it comes again. */
  blocksOf(content: MessageContent): readonly ContentBlock[] {
    if (typeof content !== "string") return contentBlocks(content);
    const block = this.#texts.get(content) ?? { type: "text", text: content };
    this.#texts.set(content, block);
    return [block];
  }

  of(block: object, place: string): number {
    const known = this.#byObject.get(block);
    if (known !== undefined) return known;
    const text = place + JSON.stringify(block, withoutMarks);
    let number = this.#byText.get(text);
    if (number === undefined) {
      number = this.#byText.size;
      this.#byText.set(text, number);
    }
    this.#byObject.set(block, number);
    return number;
  }
}

const withoutMarks = (name: string, value: unknown): unknown =>
  name === "cache_control" ? undefined : value;
