// Takes notes in the background. When the window is full, the conversation continues from the notes without a
// summary call. The model is the local simulator, with a small window.
import { mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { anthropicModel } from "@longhaul/anthropic";
import { type ApiMessage, complete, createCompactor } from "@longhaul/core";
import { sessionNotes } from "@longhaul/notes";
import { notesFile } from "@longhaul/sessions";
import { startSimulator } from "@longhaul/simulator";

const windowTokens = 20_000;
const simulator = await startSimulator({ windowTokens, coder: { inventsPaths: true } });
const model = anthropicModel({ model: "claude-sonnet-5-5", baseURL: simulator.url, apiKey: "any" });
const file = notesFile(join(await mkdtemp(join(tmpdir(), "longhaul-")), "session.notes.md"));
const read = { name: "Read", description: "Read a file", input_schema: { type: "object" } } as const;
const compactor = createCompactor({
  model,
  window: { tokens: windowTokens },
  request: { system: "You are a careful engineer.", tools: [read], max_tokens: 4_000 },
  clearing: { form: "off" },
  modules: [sessionNotes({ file })],
  host: { onEvent: (event) => event.type === "compacted" && console.log(`compacted: ${event.tier}`) },
});

let messages: readonly ApiMessage[] = [{ role: "user", content: "Read the sources and improve them." }];
for (let turns = 0; turns < 24; turns++) {
  const turn = await compactor.before(messages);
  const reply = await complete(model, turn.request);
  compactor.after(reply);
  const uses = reply.content.filter((block) => block.type === "tool_use");
  const content = await readFile(new URL("conversation.ts", import.meta.url), "utf8");
  const results = uses.map(({ id }) => ({ type: "tool_result", tool_use_id: id, content }) as const);
  const next: ApiMessage = { role: "user", content: uses.length === 0 ? "Go on." : results };
  messages = [...turn.messages, { role: "assistant", content: reply.content }, next];
}
await compactor.close();
console.log(`${((await file.read()) ?? "").split("\n# ").length - 1} sections of notes`);
await simulator.close();
