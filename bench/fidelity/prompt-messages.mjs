import { mediaOf, resultText, withSeparateResults } from "./block-text.ts";

/**
 * Converts messages to the AI SDK's. Mastra passes the same form to a model. `piecesOf` converts a result
 * back, in which the library may have removed messages and parts.
 */
export function toPrompt(messages) {
  const sources = new Map();
  const names = new Map();
  const add = (part, source) => {
    sources.set(part, source);
    return part;
  };
  const converted = messages.flatMap(withSeparateResults).map(({ role, parts }) => {
    for (const { block } of parts) if (block.type === "tool_use") names.set(block.id, block.name);
    if (parts[0]?.block.type !== "tool_result") {
      return { role, content: parts.map((part) => add(partOf(part.block), part)) };
    }
    return { role: "tool", content: parts.map((part) => add(toolResult(part.block, names), part)) };
  });
  const piecesOf = (left) =>
    left.flatMap(({ content }) => content.map((part) => ({ part: sources.get(part) })));
  return { messages: converted, piecesOf };
}

function partOf(block) {
  if (block.type === "text") return { type: "text", text: block.text };
  if (block.type === "thinking") return { type: "reasoning", text: block.thinking };
  if (block.type === "tool_use") {
    return { type: "tool-call", toolCallId: block.id, toolName: block.name, input: block.input };
  }
  const media = mediaOf(block);
  return media === undefined ? { type: "text", text: "" } : { type: "file", ...media };
}

function toolResult(block, names) {
  const nested = Array.isArray(block.content) ? block.content : [];
  const hasMedia = nested.some((item) => mediaOf(item) !== undefined);
  const output = hasMedia
    ? { type: "content", value: nested.map(contentItem) }
    : { type: block.is_error === true ? "error-text" : "text", value: resultText(block) };
  const toolName = names.get(block.tool_use_id) ?? "unknown";
  return { type: "tool-result", toolCallId: block.tool_use_id, toolName, output };
}

function contentItem(block) {
  const media = mediaOf(block);
  if (media !== undefined) return { type: "media", ...media };
  return { type: "text", text: block.type === "text" ? block.text : "" };
}
