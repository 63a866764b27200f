// A complete agent with a custom tool. The model is the local simulator: omit baseURL to call the real API.
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineTool, openAgent, standardTools } from "@longhaul/agent";
import { anthropicModel } from "@longhaul/anthropic";
import { startSimulator, textTurn, toolTurn } from "@longhaul/simulator";
import { z } from "zod";

const cwd = await mkdtemp(join(tmpdir(), "longhaul-"));
await writeFile(join(cwd, "tides.txt"), "high water 04:12\nlow water 10:31\n");
const simulator = await startSimulator();
simulator.reply(
  toolTurn("Read", { file_path: "tides.txt" }),
  toolTurn("berths", { quay: "north" }),
  textTurn("High water is at 04:12, and the north quay has 3 free berths."),
);

const berths = defineTool({
  name: "berths",
  description: "How many berths are free at a quay.",
  input: z.object({ quay: z.string() }),
  isReadOnly: true,
  title: ({ quay }) => quay,
  call: ({ quay }) => ({ content: `3 berths are free at the ${quay} quay.` }),
});

const agent = await openAgent({
  model: anthropicModel({ model: "claude-sonnet-5-5", baseURL: simulator.url, apiKey: "any" }),
  cwd,
  places: { home: cwd, env: {} },
  tools: (workplace) => [...standardTools(workplace), berths],
});
for await (const event of agent.run("When is high water, and is there room at the north quay?")) {
  if (event.type === "call-ended") console.log(`${event.tool}(${event.title})`);
  if (event.type === "ended") console.log(event.text);
}
await agent.close();
await simulator.close();
