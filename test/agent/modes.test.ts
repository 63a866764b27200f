import { readFile } from "node:fs/promises";
import { createHooks } from "@longhaul/core";
import { describe, expect, it } from "vitest";
import { agentScene, ran } from "./agent-scene.case.ts";

describe("permission modes", () => {
  it("when the user switches the permission mode during a run, the next prompt announces the new mode", async () => {
    await using scene = await agentScene();
    scene.simulator.reply("One.", "Two.", "Three.");
    const agent = await scene.open({ tools: () => [] });
    await ran(agent, "First.", { onEvent: ({ type }) => type === "text" && agent.setPlanMode(true) });

    await ran(agent, "Second.");
    expect(JSON.stringify(scene.simulator.requests.last?.body)).toMatch(/plan mode/i);
    await ran(agent, "Third.");

    expect(agent.conversation.filter(({ type }) => type === "attachment")).toHaveLength(1);
  });

  it("messages record the current permission mode, and compaction hooks receive it", async () => {
    await using scene = await agentScene();
    scene.simulator.reply("One.", "Two.");
    const modes: unknown[] = [];
    const hooks = createHooks({
      callbacks: { PreCompact: [async ({ permission_mode }) => void modes.push(permission_mode)] },
    });
    const agent = await scene.open({
      tools: () => [],
      permissions: { mode: "accept-edits" },
      compactor: { hooks, compaction: { summarizer: "built-in" } },
    });
    const long = "Mind the tide tables of the outer harbour. ".repeat(300);
    await ran(agent, long);
    await agent.compact({ keepRecentTokens: 0, force: true });
    agent.setPlanMode(true);
    await ran(agent, long);
    await agent.compact({ keepRecentTokens: 0, force: true });

    expect(modes).toEqual(["accept-edits", "plan"]);
    const lines = (await readFile(agent.sessionPath, "utf8")).split("\n");
    expect(lines.flatMap((line) => /"permissionMode":"([^"]*)"/.exec(line)?.[1] ?? [])).toEqual([
      "accept-edits",
      "plan",
    ]);
  });
});
