// An agent of LangChain, with the package of the model's provider.
import { createAgent, tool } from "langchain";
import { MODEL, PROMPTS, runTool, SYSTEM, TOOLS } from "./tools.mjs";

async function connect() {
  if (MODEL.startsWith("gpt")) {
    const { ChatOpenAI } = await import("@langchain/openai");
    return new ChatOpenAI({ model: MODEL });
  }
  const { ChatAnthropic } = await import("@langchain/anthropic");
  return new ChatAnthropic({
    model: MODEL,
    anthropicApiUrl: process.env.ANTHROPIC_BASE_URL,
    maxTokens: 8_000,
  });
}

const tools = TOOLS.map(({ name, description, schema }) =>
  tool((input) => runTool(name, input), { name, description, schema }),
);
const agent = createAgent({ model: await connect(), tools, systemPrompt: SYSTEM });
let messages = [];

for (const prompt of PROMPTS) {
  const result = await agent.invoke({ messages: [...messages, { role: "user", content: prompt }] });
  messages = result.messages;
  console.log(messages.at(-1).text);
}
