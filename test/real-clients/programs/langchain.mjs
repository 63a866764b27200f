// An agent of LangChain with `@langchain/anthropic`.
import { ChatAnthropic } from "@langchain/anthropic";
import { createAgent, tool } from "langchain";
import { MODEL, PROMPTS, runTool, SYSTEM, TOOLS } from "./tools.mjs";

const model = new ChatAnthropic({
  model: MODEL,
  anthropicApiUrl: process.env.ANTHROPIC_BASE_URL,
  maxTokens: 8_000,
});
const tools = TOOLS.map(({ name, description, schema }) =>
  tool((input) => runTool(name, input), { name, description, schema }),
);
const agent = createAgent({ model, tools, systemPrompt: SYSTEM });
let messages = [];

for (const prompt of PROMPTS) {
  const result = await agent.invoke({ messages: [...messages, { role: "user", content: prompt }] });
  messages = result.messages;
  console.log(messages.at(-1).text);
}
