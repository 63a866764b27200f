// Handles the second request of a conversation in a separate process, in which nothing is compiled yet.
// Prints { parseMs, handleMs } as JSON. Argument: approximate number of tokens of the conversation.
import { checkRequest } from "@longhaul/core";
import { flatten } from "@longhaul/core/request";
import { startSimulator } from "@longhaul/simulator";
import { createDemoSession } from "../packages/simulator/src/demo-session.ts";

const entries = createDemoSession({ approximateTokens: Number(process.argv[2]) });
const flat = flatten(entries);
const cut = flat.findLastIndex(({ role }) => role === "user") + 1;
const { messages } = checkRequest({ messages: flat.slice(0, cut) }).request;
const simulator = await startSimulator({ switches: { foreignSignatures: "accepted" } });
const headers = {
  "x-api-key": "bench",
  "anthropic-version": "2023-06-01",
  "content-type": "application/json",
};

const { content } = await (await send(messages)).json();
const results = content
  .filter(({ type }) => type === "tool_use")
  .map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: "done ".repeat(200) }));
const next = [
  ...messages,
  { role: "assistant", content },
  { role: "user", content: results.length > 0 ? results : "Please go on." },
];
const body = Buffer.from(bodyOf(next));
const startedAt = performance.now();
JSON.parse(body.toString());
const parseMs = performance.now() - startedAt;
await send(next);
process.stdout.write(JSON.stringify({ parseMs, handleMs: simulator.requests.last.durationMs }));
await simulator.close();

function bodyOf(list) {
  const tool = { name: "Read", input_schema: { type: "object" } };
  return JSON.stringify({
    model: "claude-opus-4-6",
    max_tokens: 4_000,
    tools: [tool],
    cache_control: { type: "ephemeral" },
    messages: list,
  });
}

async function send(list) {
  const answer = await fetch(`${simulator.url}/v1/messages`, {
    method: "POST",
    headers,
    body: bodyOf(list),
  });
  if (!answer.ok) throw new Error(await answer.text());
  return answer;
}
