import type { DraftMessage } from "../check/draft.ts";
import { hasNestedBlocks } from "../check/rewrite.ts";
import type { ApiRequest, ContentBlock } from "../message.ts";
import { asList, field, isRecord } from "../untrusted.ts";

/** How many cache marks there are, and whether one of them is of five minutes, one of an hour. */
export class CacheMarks {
  count = 0;
  hasShort = false;
  hasLong = false;

  addBlock(block: ContentBlock): void {
    this.#add(block);
    if (hasNestedBlocks(block)) for (const nested of block.content) this.#add(nested);
  }

  addFrame({ tools, system, cache_control }: ApiRequest): void {
    for (const tool of asList(tools)) this.#add(tool);
    for (const block of asList(system)) this.#add(block);
    this.#add({ cache_control });
  }

  #add(holder: unknown): void {
    const control = field(holder, "cache_control");
    if (!isRecord(control)) return;
    this.count++;
    if (control.ttl === "1h") this.hasLong = true;
    else this.hasShort = true;
  }
}

export function marksIn(messages: readonly DraftMessage[]): CacheMarks {
  const marks = new CacheMarks();
  for (const { parts } of messages) for (const { block } of parts) marks.addBlock(block);
  return marks;
}
