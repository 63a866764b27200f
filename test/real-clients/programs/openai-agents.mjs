// An agent of @openai/agents. The second prompt streams.
import { Agent, run, setTracingDisabled, tool, user } from "@openai/agents";
import { MODEL, PROMPTS, runTool, SYSTEM, TOOLS } from "./tools.mjs";

setTracingDisabled(true);
const tools = TOOLS.map(({ name, description, schema }) =>
  tool({
    name,
    description,
    parameters: { ...schema, additionalProperties: false },
    strict: true,
    execute: async (input) => runTool(name, input),
  }),
);
const agent = new Agent({ name: "Coder", instructions: SYSTEM, model: MODEL, tools });
let history = [];

for (const [index, prompt] of PROMPTS.entries()) {
  const result = await run(agent, [...history, user(prompt)], { stream: index === 1, maxTurns: 20 });
  if (index === 1) await result.completed;
  history = result.history;
  console.log(result.finalOutput);
}
