// A conversation with tools on the AI SDK, with the package of the model's provider. The second prompt streams.
import { generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";
import { MODEL, PROMPTS, runTool, SYSTEM, TOOLS } from "./tools.mjs";

async function connect() {
  if (MODEL.startsWith("gpt")) return (await import("@ai-sdk/openai")).createOpenAI()(MODEL);
  const { createAnthropic } = await import("@ai-sdk/anthropic");
  return createAnthropic({ baseURL: `${process.env.ANTHROPIC_BASE_URL}/v1` })(MODEL);
}

const model = await connect();
const tools = Object.fromEntries(
  TOOLS.map(({ name, description, schema }) => [
    name,
    tool({ description, inputSchema: jsonSchema(schema), execute: async (input) => runTool(name, input) }),
  ]),
);
const messages = [];

for (const [index, prompt] of PROMPTS.entries()) {
  messages.push({ role: "user", content: prompt });
  const call = { model, tools, system: SYSTEM, messages, stopWhen: stepCountIs(20) };
  const result = index === 1 ? streamText(call) : await generateText(call);
  if (index === 1) await result.consumeStream();
  console.log(await result.text);
  messages.push(...(await result.response).messages);
}
