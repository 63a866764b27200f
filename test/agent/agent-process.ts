// An agent that works until it is killed. Prints the id of each message as soon as it is told of.

import { openAgent } from "../../src/agent/open-agent.ts";
import { anthropicModel } from "../../src/models/anthropic/anthropic-model.ts";
import { toolOf } from "./agent-scene.case.ts";

const [url = "", cwd = "", home = "", session = ""] = process.argv.slice(2);
const agent = await openAgent({
  model: anthropicModel({ model: "claude-haiku-4-5", baseURL: url, apiKey: "any" }),
  cwd,
  places: { home, env: {} },
  session: session === "" ? undefined : session,
  tools: () => [toolOf("Read", ({ of = "" }) => `${of}: ${"a line of the tide table. ".repeat(120)}`)],
  compactor: { windowTokens: 16_000, environment: {}, clearing: { form: "off" } },
});
process.stdout.write(`session ${agent.sessionPath}\n`);
for await (const event of agent.run("Work through the tide tables for ever.")) {
  if (event.type === "entry") process.stdout.write(`entry ${event.entry.uuid}\n`);
}
