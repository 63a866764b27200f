// An agent with a small window compacts its messages. The recall tool finds them again in the transcript. The model
// is the local simulator: omit baseURL to call the real API.
import { mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { anthropicModel } from "@longhaul/anthropic";
import { type ApiMessage, complete, createCompactor, type ToolResultBlock } from "@longhaul/core";
import { createRecallTool, openTranscript } from "@longhaul/sessions";
import { coder, startSimulator, summaries } from "@longhaul/simulator";

const window = { tokens: 12_000 };
const behaviors = [summaries(), coder({ turns: 40, inventsPaths: true })];
const simulator = await startSimulator({ windowTokens: window.tokens, behaviors });
const model = anthropicModel({ model: "claude-sonnet-5-5", baseURL: simulator.url, apiKey: "any" });
const transcript = await openTranscript(join(await mkdtemp(join(tmpdir(), "longhaul-")), "session.jsonl"));
const recall = createRecallTool({ session: transcript, budgetTokens: 600 });
const read = { name: "Read", description: "Read a file", input_schema: { type: "object" } } as const;
const request = { system: "Be careful.", tools: [read, recall.definition], max_tokens: 2_000 };
const compactor = createCompactor({ model, window, transcript, request, clearing: { form: "off" } });

const asked = "Read the sources. The harbour's quota is 4,711 ships an hour.";
let messages: readonly ApiMessage[] = [{ role: "user", content: asked }];
for (;;) {
  const turn = await compactor.before(messages);
  const reply = await complete(model, turn.request);
  compactor.after(reply);
  messages = [...turn.messages, { role: "assistant", content: reply.content }];
  const results: ToolResultBlock[] = [];
  for (const { id, name, input } of reply.content.filter((block) => block.type === "tool_use")) {
    const file = new URL("conversation.ts", import.meta.url);
    const content = name === "recall" ? await recall.call(input) : await readFile(file, "utf8");
    results.push({ type: "tool_result", tool_use_id: id, content });
  }
  if (results.length === 0) break;
  messages = [...messages, { role: "user", content: results }];
}
await compactor.close();
console.log(await recall.call({ query: "harbour quota" }));
await simulator.close();
