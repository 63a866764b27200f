// A loop with tools on chat completions of the OpenAI SDK. It streams every second answer.
import OpenAI from "openai";
import { MODEL, PROMPTS, runTool, SYSTEM, TOOLS } from "./tools.mjs";

const client = new OpenAI();
const tools = TOOLS.map(({ name, description, schema }) => ({
  type: "function",
  function: { name, description, parameters: schema },
}));
const messages = [{ role: "system", content: SYSTEM }];
let count = 0;

async function answer() {
  const request = { model: MODEL, tools, messages };
  count++;
  if (count % 2 === 1) return (await client.chat.completions.create(request)).choices[0].message;
  return client.chat.completions.stream(request).finalMessage();
}

for (const prompt of PROMPTS) {
  messages.push({ role: "user", content: prompt });
  for (;;) {
    const message = await answer();
    messages.push(message);
    if (message.content) console.log(message.content);
    if (!message.tool_calls?.length) break;
    for (const { id, function: call } of message.tool_calls)
      messages.push({
        role: "tool",
        tool_call_id: id,
        content: runTool(call.name, JSON.parse(call.arguments)),
      });
  }
}
