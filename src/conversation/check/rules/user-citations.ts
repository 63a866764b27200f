import { type ContentBlock, isBlock, tagOf } from "../../message.ts";
import { field } from "../../untrusted.ts";
import type { Draft } from "../draft.ts";
import { mapChanged, rewriteNested, rewriteParts, withBlock } from "../rewrite.ts";
import type { CheckSettings } from "../rule.ts";

/** Citations are the assistant's; the API of 2026-10-21 refuses them on text that the user sends. */
export function dropUserCitations(draft: Draft, settings: CheckSettings): void {
  if (settings.apiVersion === "2023-06-01") return;
  rewriteParts(draft, (part, message) => {
    if (message.role !== "user") return part;
    const strip = (block: ContentBlock): ContentBlock => {
      if (tagOf(block) === "search_result") return withSearchTexts(block, strip);
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

/** The texts of a search result are blocks of their own. */
function withSearchTexts(block: ContentBlock, strip: (text: ContentBlock) => ContentBlock): ContentBlock {
  const content = field(block, "content");
  if (!Array.isArray(content)) return block;
  const texts = mapChanged(content, (item: unknown) => (isBlock(item) ? strip(item) : item));
  return texts === content ? block : ({ ...block, content: texts } as ContentBlock);
}
