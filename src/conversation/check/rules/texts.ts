import type { ContentBlock, MessageContent, TextBlock } from "../../message.ts";
import { isBlock } from "../../message.ts";
import type { Draft, Origin } from "../draft.ts";
import { rewriteNested, rewriteParts, withBlock } from "../rewrite.ts";

/** The API refuses text blocks that are empty or hold nothing but whitespace, wherever they stand. */
export function dropEmptyTexts(draft: Draft): void {
  rewriteParts(draft, (part) => {
    if (isBlankText(part.block)) {
      reportBlank(draft, part.block, part.origin);
      return undefined;
    }
    const mended = rewriteNested(part.block, (nested) => {
      if (!isBlankText(nested)) return nested;
      reportBlank(draft, nested, part.origin);
      return undefined;
    });
    return withBlock(part, mended);
  });
  dropEmptySystemTexts(draft);
}

function dropEmptySystemTexts(draft: Draft): void {
  const { system, ...rest } = draft.request;
  if (system === undefined || system === null) return;
  const kept = typeof system === "string" ? keepSystemText(draft, system) : keepSystemBlocks(draft, system);
  if (kept === system) return;
  draft.request = kept === undefined ? rest : { ...draft.request, system: kept };
}

function keepSystemText(draft: Draft, system: string): string | undefined {
  if (system.trim() !== "") return system;
  reportBlank(draft, { type: "text", text: system }, "system");
  return undefined;
}

function keepSystemBlocks(draft: Draft, system: Exclude<MessageContent, string>): MessageContent | undefined {
  if (!Array.isArray(system)) return system;
  const kept = system.filter((block: unknown, index) => {
    if (!isBlock(block) || !isBlankText(block)) return true;
    reportBlank(draft, block, `system.${index}`);
    return false;
  });
  if (kept.length === system.length) return system;
  return kept.length === 0 ? undefined : kept;
}

function isBlankText(block: ContentBlock): block is TextBlock {
  return block.type === "text" && typeof block.text === "string" && block.text.trim() === "";
}

function reportBlank(draft: Draft, block: TextBlock, at: Origin | string): void {
  if (block.cache_control) {
    const message = "A cache mark cannot be set on an empty text block; both were left out.";
    draft.report({ rule: "cache-mark-on-empty-text", at, message, action: "dropped" });
  } else if (block.text === "") {
    const message = "An empty text block was left out.";
    draft.report({ rule: "text-empty", at, message, action: "dropped" });
  } else {
    const message = "A text block of nothing but whitespace was left out.";
    draft.report({ rule: "text-blank", at, message, action: "dropped" });
  }
}
