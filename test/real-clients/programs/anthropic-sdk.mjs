// A loop with tools on the Anthropic SDK. It streams every second answer.
import Anthropic from "@anthropic-ai/sdk";
import { MODEL, PROMPTS, runTool, SYSTEM, TOOLS } from "./tools.mjs";

const client = new Anthropic();
const tools = TOOLS.map(({ name, description, schema }) => ({ name, description, input_schema: schema }));
const messages = [];
let count = 0;

async function answer() {
  const request = { model: MODEL, max_tokens: 8_000, system: SYSTEM, tools, messages };
  count++;
  return count % 2 === 0 ? client.messages.stream(request).finalMessage() : client.messages.create(request);
}

for (const prompt of PROMPTS) {
  messages.push({ role: "user", content: prompt });
  for (;;) {
    const { content, stop_reason } = await answer();
    messages.push({ role: "assistant", content });
    for (const block of content) if (block.type === "text") console.log(block.text);
    if (stop_reason !== "tool_use") break;
    const calls = content.filter(({ type }) => type === "tool_use");
    messages.push({
      role: "user",
      content: calls.map(({ id, name, input }) => ({
        type: "tool_result",
        tool_use_id: id,
        content: runTool(name, input),
      })),
    });
  }
}
