import type { ContentBlock, ToolResultBlock } from "../block.ts";
import type { Draft, DraftMessage, Part } from "./draft.ts";

/** Returns the part itself to keep it, another to replace it, or undefined to leave it out. */
export type PartRewrite = (part: Part, message: DraftMessage) => Part | undefined;

/** Lists in which nothing changed stay the lists they were. */
export function rewriteParts(draft: Draft, rewrite: PartRewrite): void {
  for (const message of draft.messages) {
    let changed = false;
    const parts: Part[] = [];
    for (const part of message.parts) {
      const after = rewrite(part, message);
      if (after !== part) changed = true;
      if (after !== undefined) parts.push(after);
    }
    if (changed) message.parts = parts;
  }
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
  let changed = false;
  const content: ContentBlock[] = [];
  for (const [index, nested] of block.content.entries()) {
    const after = rewrite(nested, index);
    if (after !== nested) changed = true;
    if (after !== undefined) content.push(after);
  }
  return changed ? { ...block, content } : block;
}

export function hasNestedBlocks(
  block: ContentBlock,
): block is ToolResultBlock & { readonly content: readonly ContentBlock[] } {
  return block.type === "tool_result" && Array.isArray(block.content);
}
