import { type ContentBlock, isMedia, isThinking } from "../../message.ts";
import { mayStandIn, mayStandInResult } from "../block-kinds.ts";
import { addedMessage, type Draft, type DraftMessage, type Part } from "../draft.ts";
import { toolResultAsContent } from "../result-text.ts";
import { rewriteNested, withBlock } from "../rewrite.ts";
import type { CheckSettings } from "../rule.ts";
import { mediaMarker } from "./media-marker.ts";

const RESULT_LABEL = "[Result of a tool call]";

/** Some kinds of block belong to one role only: calls and thinking to the assistant, results to the user. */
export function keepBlocksInTheirRole(draft: Draft, settings: CheckSettings): void {
  const messages: DraftMessage[] = [];
  for (const message of draft.messages) {
    messages.push(message);
    const results = mendMessage(draft, message, settings);
    if (results.length > 0) messages.push(addedMessage("user", results, message.origin));
  }
  if (messages.length !== draft.messages.length) draft.messages = messages;
}

/** Returns the tool results of an assistant message, which go into a user message of their own. */
function mendMessage(draft: Draft, message: DraftMessage, settings: CheckSettings): readonly Part[] {
  if (message.parts.every((part) => isInPlace(part, message, settings) && hasSoundResult(part))) return [];
  const results: Part[] = [];
  const parts: Part[] = [];
  for (const given of message.parts) {
    const part = mendResult(draft, given);
    if (isInPlace(part, message, settings)) parts.push(part);
    else if (part.block.type === "tool_result" && message.role === "assistant") {
      results.push(part);
      const text = "A tool result stands in an assistant message; it moved to the user message after it.";
      draft.report({ rule: "block-in-wrong-role", at: part.origin, message: text, action: "moved" });
    } else parts.push(...mendForeign(draft, part, message));
  }
  message.parts = parts;
  return results;
}

function isInPlace({ block }: Part, { role }: DraftMessage, { apiVersion }: CheckSettings): boolean {
  if (mayStandIn(block, role)) return true;
  return apiVersion === "2023-06-01" && role === "assistant" && block.type === "document";
}

function mendForeign(draft: Draft, part: Part, { role }: DraftMessage): readonly Part[] {
  const { block, origin } = part;
  if (isThinking(block)) {
    const text = `Thinking belongs to the assistant and was left out of this ${role} message.`;
    draft.report({ rule: "thinking-in-wrong-role", at: origin, message: text, action: "dropped" });
    return [];
  }
  if (isMedia(block)) {
    const text = `A message of the ${role} cannot hold a block of type ${block.type}; a marker stands for it.`;
    const rule = role === "assistant" ? "media-in-assistant" : "block-in-wrong-role";
    draft.report({ rule, at: origin, message: text, action: "replaced-by-text" });
    return [{ block: mediaMarker(block), origin }];
  }
  const text = `A message of the ${role} cannot hold a block of type ${block.type}; it is sent as text.`;
  draft.report({ rule: "block-in-wrong-role", at: origin, message: text, action: "replaced-by-text" });
  const replacements =
    block.type === "tool_result" ? toolResultAsContent(block, RESULT_LABEL) : [jsonText(block)];
  return replacements.map((replacement) =>
    mayStandIn(replacement, role)
      ? { block: replacement, origin }
      : { block: isMedia(replacement) ? mediaMarker(replacement) : jsonText(replacement), origin },
  );
}

function hasSoundResult({ block }: Part): boolean {
  if (block.type !== "tool_result" || !Array.isArray(block.content)) return true;
  return block.content.every(mayStandInResult);
}

function mendResult(draft: Draft, part: Part): Part {
  if (hasSoundResult(part)) return part;
  const mended = rewriteNested(part.block, (nested) => {
    if (mayStandInResult(nested)) return nested;
    const text = `A tool result cannot hold a block of type ${nested.type}; it is sent as text.`;
    draft.report({ rule: "block-in-wrong-role", at: part.origin, message: text, action: "replaced-by-text" });
    return jsonText(nested);
  });
  return withBlock(part, mended);
}

function jsonText(block: ContentBlock): ContentBlock {
  return { type: "text", text: JSON.stringify(block) };
}
