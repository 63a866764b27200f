// A whole agent loop that stays within the context window. The model is the local simulator: omit baseURL to call the
// real API. The window is small, so that clearing and compaction happen.
import { readFile } from "node:fs/promises";
import { anthropicModel } from "@longhaul/anthropic";
import { type ApiMessage, complete, createCompactor, type ToolResultBlock } from "@longhaul/core";
import { coder, startSimulator, summaries } from "@longhaul/simulator";

const windowTokens = 12_000;
const behaviors = [summaries(), coder({ turns: 60, inventsPaths: true })];
const simulator = await startSimulator({ windowTokens, behaviors });
const model = anthropicModel({ model: "claude-sonnet-5-5", baseURL: simulator.url, apiKey: "any" });
const read = { name: "Read", description: "Read a file", input_schema: { type: "object" } } as const;
const compactor = createCompactor({
  model,
  window: { tokens: windowTokens },
  request: { system: "You are a careful engineer.", tools: [read], max_tokens: 2_000 },
  host: { onEvent: ({ type }) => type !== "window-checked" && console.log(type) },
});

let messages: readonly ApiMessage[] = [{ role: "user", content: "Read the sources and improve them." }];
for (;;) {
  let turn = await compactor.before(messages);
  const reply = await complete(model, turn.request).catch(async (error: unknown) => {
    const again = await compactor.recover<ApiMessage>(error);
    if (again === undefined) throw error;
    turn = again;
    return await complete(model, turn.request);
  });
  compactor.after(reply);
  messages = [...turn.messages, { role: "assistant", content: reply.content }];
  const uses = reply.content.filter((block) => block.type === "tool_use");
  if (uses.length === 0) break;
  const content = await readFile(new URL(import.meta.url), "utf8");
  const results = uses.map(({ id }): ToolResultBlock => ({ type: "tool_result", tool_use_id: id, content }));
  messages = [...messages, { role: "user", content: results }];
}
const { totals, invalid } = simulator.requests;
console.log(`${totals.requests} calls, ${invalid.length} of them refused`);
await simulator.close();
