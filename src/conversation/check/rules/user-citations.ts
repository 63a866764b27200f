import type { ContentBlock } from "../../block.ts";
import type { Draft } from "../draft.ts";
import { rewriteNested, rewriteParts, withBlock } from "../rewrite.ts";

/** Citations are the assistant's; the API of 2026-10-21 refuses them on text that the user sends. */
export function dropUserCitations(draft: Draft): void {
  rewriteParts(draft, (part, message) => {
    if (message.role !== "user") return part;
    const strip = (block: ContentBlock): ContentBlock => {
      if (block.type !== "text" || !Array.isArray(block.citations) || block.citations.length === 0)
        return block;
      const text = "Text of a user message cannot carry citations; they were removed and the text stays.";
      draft.report({ rule: "citations-in-user", at: part.origin, message: text, action: "dropped" });
      const { citations: _, ...rest } = block;
      return rest;
    };
    return withBlock(part, rewriteNested(strip(part.block), strip));
  });
}
