// The conversation in a neutral form that is easy to convert for each library.
import { flatten } from "@longhaul/core/request";

const textIn = (content) =>
  typeof content === "string"
    ? content
    : (content ?? []).map((block) => (block.type === "text" ? block.text : `[${block.type}]`)).join("\n");

/** `{ kind: "user", text }`, `{ kind: "assistant", text, thinking, calls }`, `{ kind: "result", id, name, text }` */
export function turnsOf(entries) {
  const names = new Map();
  const turns = [];
  for (const { role, content } of flatten(entries)) {
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
    if (role === "assistant") turns.push(assistantTurn(blocks, names));
    else turns.push(...userTurns(blocks, names));
  }
  return turns;
}

function assistantTurn(blocks, names) {
  const calls = blocks.filter((block) => block.type === "tool_use");
  for (const { id, name } of calls) names.set(id, name);
  return {
    kind: "assistant",
    text: textIn(blocks.filter((block) => block.type === "text")),
    thinking: blocks.find((block) => block.type === "thinking")?.thinking,
    calls: calls.map(({ id, name, input }) => ({ id, name, input })),
  };
}

function userTurns(blocks, names) {
  const results = blocks
    .filter((block) => block.type === "tool_result")
    .map(({ tool_use_id: id, content }) => ({
      kind: "result",
      id,
      name: names.get(id) ?? "tool",
      text: textIn(content),
    }));
  const rest = blocks.filter((block) => block.type !== "tool_result");
  return rest.length === 0 ? results : [...results, { kind: "user", text: textIn(rest) }];
}
