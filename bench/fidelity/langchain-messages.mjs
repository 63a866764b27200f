import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { resultText, textsOf, withSeparateResults } from "./block-text.ts";

/** Converts messages to LangChain's. `piecesOf` converts LangChain's result back. */
export function toLangChain(messages) {
  const sources = new Map();
  const results = new Map();
  const names = new Map();
  const add = (message, parts) => {
    sources.set(message, parts);
    return message;
  };
  const converted = messages.flatMap(withSeparateResults).flatMap(({ role, parts }, index) => {
    if (role === "assistant") {
      const calls = parts.filter(({ block }) => block.type === "tool_use").map(({ block }) => block);
      for (const { id, name } of calls) names.set(id, name);
      const tool_calls = calls.map(({ id, name, input }) => ({ id, name, args: input, type: "tool_call" }));
      return [add(new AIMessage({ id: `m${index}`, content: textsOf(parts), tool_calls }), parts)];
    }
    if (parts[0]?.block.type !== "tool_result") {
      return [add(new HumanMessage({ id: `m${index}`, content: textsOf(parts) }), parts)];
    }
    return parts.map((part, at) => {
      const { tool_use_id, is_error } = part.block;
      results.set(tool_use_id, part);
      const fields = { tool_call_id: tool_use_id, name: names.get(tool_use_id) };
      const status = is_error === true ? "error" : "success";
      const id = `m${index}-${at}`;
      return add(new ToolMessage({ id, content: resultText(part.block), status, ...fields }), [part]);
    });
  });
  return { messages: converted, piecesOf: (left) => left.flatMap((message) => piecesOf(message)) };

  function piecesOf(message) {
    const parts = sources.get(message);
    if (parts !== undefined) return parts.map((part) => ({ part }));
    const part = ToolMessage.isInstance(message) ? results.get(message.tool_call_id) : undefined;
    if (part === undefined) return [{ summary: message.text }];
    const isSame = resultText(part.block) === message.content;
    return [isSame ? { part } : { part, changed: { ...part.block, content: message.content } }];
  }
}
