import type { ContentBlock, ToolResultBlock } from "../message.ts";
import type { Draft, DraftMessage, Part } from "./draft.ts";

/** Returns the part itself to keep it, another to replace it, or undefined to leave it out. */
type PartRewrite = (part: Part, message: DraftMessage, messageIndex: number) => Part | undefined;

/** Lists in which nothing changed stay the lists they were. */
export function rewriteParts(draft: Draft, rewrite: PartRewrite): void {
  let messageIndex = 0;
  for (const message of draft.messages) {
    const at = messageIndex++;
    message.parts = mapChanged(message.parts, (part) => rewrite(part, message, at));
  }
}

/** Makes a new list only from the first change on: most lists of most conversations have none. */
export function mapChanged<T>(
  list: readonly T[],
  map: (item: T, index: number) => T | undefined,
): readonly T[] {
  let changed: T[] | undefined;
  for (let index = 0; index < list.length; index++) {
    const item = list[index] as T;
    const after = map(item, index);
    if (changed === undefined) {
      if (after === item) continue;
      changed = list.slice(0, index);
    }
    if (after !== undefined) changed.push(after);
  }
  return changed ?? list;
}

export function withBlock(part: Part, block: ContentBlock): Part {
  return block === part.block ? part : { ...part, block };
}

/** Applies the rewrite to the blocks inside a tool result; any other block has none. */
export function rewriteNested(
  block: ContentBlock,
  rewrite: (nested: ContentBlock, index: number) => ContentBlock | undefined,
): ContentBlock {
  if (!hasNestedBlocks(block)) return block;
  const content = mapChanged(block.content, rewrite);
  return content === block.content ? block : { ...block, content };
}

export function hasNestedBlocks(
  block: ContentBlock,
): block is ToolResultBlock & { readonly content: readonly ContentBlock[] } {
  return block.type === "tool_result" && Array.isArray(block.content);
}
