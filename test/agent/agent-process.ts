// Runs an agent until the process is killed. Prints the id of each message as soon as the agent reports it.
// Also prints each snip and each commit of collapsed spans.

import { openAgent } from "@longhaul/agent";
import { anthropicModel } from "@longhaul/anthropic";
import { toolOf } from "./agent-scene.case.ts";

const [url = "", cwd = "", home = "", session = "", mode = ""] = process.argv.slice(2);
const agent = await openAgent({
  model: anthropicModel({ model: "claude-haiku-4-5", baseURL: url, apiKey: "any" }),
  cwd,
  places: { home, env: {} },
  session: session === "" ? undefined : session,
  tools: () => [toolOf("Read", ({ of = "" }) => `${of}: ${"a line of the tide table. ".repeat(120)}`)],
  collapse: { enabled: mode === "collapse" },
  compactor: { window: { tokens: 16_000 }, settings: { environment: {} }, clearing: { form: "off" } },
});
process.stdout.write(`session ${agent.sessionPath}\n`);
const maxTurns = mode === "snip" ? 4 : undefined;
for await (const event of agent.run("Work through the tide tables for ever.", { maxTurns })) {
  if (event.type === "entry") process.stdout.write(`entry ${event.entry.uuid}\n`);
  if (event.type === "compactor" && event.event.type === "spans-committed")
    process.stdout.write(`committed ${agent.conversation.length}\n`);
}
if (mode === "snip") {
  const { messages } = await agent.snip({ from: 2, to: 5 });
  process.stdout.write(`snipped ${messages}\n`);
}
