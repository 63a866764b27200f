import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { listSessions, loadSession } from "@longhaul/sessions";
import { summaries, textTurn, toolTurn } from "@longhaul/simulator";
import { describe, expect, it } from "vitest";
import { agentsFolder } from "../../packages/agent/src/agent-session.ts";
import { agentScene, eventsOf, ran, toolOf } from "./agent-scene.case.ts";
import { Gate, isSubagent, main, Read, subagent, task, withTasks } from "./agents.case.ts";

/** Returns the body of a model call as text. */
const sent = (body: unknown): string => JSON.stringify(body);

const filesOf = (folder: string): readonly string[] => readdirSync(folder).sort();

describe("subagents", () => {
  it("a subagent has its own conversation, tools and transcript, and sends its answer and events to its parent", async () => {
    await using scene = await agentScene({
      behaviors: [subagent(toolTurn("Read", { of: "quay" }), textTurn("The quay has nine berths."))],
    });
    scene.simulator.reply(...main(task("Count the berths"), textTurn("Nine.")));
    const agent = await scene.open({ tools: withTasks(Read) });

    const { events, result } = await ran(agent, "How many berths? The harbour master is Ines.");

    expect(result).toMatchObject({ reason: "answered", text: "Nine." });
    expect(eventsOf(events, "call-ended")).toMatchObject([
      { tool: "Task", title: "Count the berths", display: "The quay has nine berths.", summary: "2 turns" },
    ]);
    const inside = eventsOf(events, "agent");
    expect(new Set(inside.map(({ description }) => description))).toEqual(new Set(["Count the berths"]));
    expect(inside.map(({ event }) => event.type)).toContain("call-ended");
    const calls = scene.simulator.requests.all.filter(({ body }) => isSubagent(body));
    expect(calls).toHaveLength(2);
    expect(sent(calls)).not.toContain("Ines");
    expect(sent(calls[0]?.body)).not.toContain('"name":"Task"');
    expect(sent(agent.conversation)).not.toContain("berth 1 of quay");

    const folder = agentsFolder(agent.sessionPath);
    const [file = ""] = filesOf(folder);
    expect(file).toBe(`${inside[0]?.agentId}.jsonl`);
    expect([folder, join(folder, file)].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o600]);
    const { conversation } = await loadSession(join(folder, file));
    expect(conversation.map(({ type }) => type)).toEqual(["user", "assistant", "user", "assistant"]);
    const listed = await listSessions({ home: scene.home, env: {} });
    expect(listed.map(({ path }) => path)).toEqual([agent.sessionPath]);
    expect(scene.simulator.requests.invalid).toEqual([]);
  });

  it("a subagent that fails reports the failure with its partial answer, and the parent continues", async () => {
    await using scene = await agentScene({
      behaviors: [
        subagent(
          { blocks: [{ type: "text", text: "Half of it is nine." }, ...toolTurn("Read").blocks] },
          textTurn("x".repeat(10)),
        ),
      ],
    });
    scene.simulator.reply(...main(task("Count"), textTurn("I see.")));
    const broken = toolOf("Read", () => {
      scene.simulator.fail(401);
      return "nine";
    });
    const agent = await scene.open({ tools: withTasks(broken) });

    const { events, result } = await ran(agent, "How many?");

    expect(result.text).toBe("I see.");
    const [ended] = eventsOf(events, "call-ended");
    expect(ended).toMatchObject({ tool: "Task", isError: true });
    expect(ended?.display).toMatch(/^The agent failed: .+\n\nIts last text:\nHalf of it is nine\.$/s);
  });

  it("a subagent has the prompt, model, window and tools of its type, and cannot start other agents", async () => {
    await using scene = await agentScene({ behaviors: [subagent(textTurn("Checked."))] });
    scene.simulator.reply(
      ...main(
        task("Check", { subagent_type: "checker" }),
        task("Check", { subagent_type: "nobody" }),
        textTurn("Done."),
      ),
    );
    const agent = await scene.open({
      tools: withTasks(Read),
      agentTypes: [
        {
          name: "checker",
          description: "Checks things",
          instructions: "You trust no figure.",
          tools: ["Read", "Task", "TodoWrite"],
        },
      ],
    });
    const { events } = await ran(agent, "Check it.");

    const [call] = scene.simulator.requests.all.filter(({ body }) => isSubagent(body));
    expect(sent(call?.body?.system)).toContain("You trust no figure.");
    const tools = call?.body?.tools as readonly { readonly name: string }[];
    expect(tools.map(({ name }) => name).sort()).toEqual(["Read", "TodoWrite"]);
    expect(sent(scene.simulator.requests.all[0]?.body?.tools)).toContain("checker: Checks things");
    expect(eventsOf(events, "call-ended")[1]).toMatchObject({ isError: true });
    expect(eventsOf(events, "call-ended")[1]?.display).toContain("Available types: general-purpose, checker");
  });

  it("a subagent ends when the run of its parent is aborted", async () => {
    const gate = new Gate();
    await using scene = await agentScene({ behaviors: [subagent(toolTurn("wait"), textTurn("late"))] });
    scene.simulator.reply(...main(task("Wait")));
    const agent = await scene.open({ tools: withTasks(gate.tool) });
    const abort = new AbortController();
    void gate.reached.then(() => abort.abort());
    const { result } = await ran(agent, "Go.", { signal: abort.signal });

    expect(result.reason).toBe("aborted");
    expect(gate.aborted).toBe(1);
    expect(agent.agents.list()).toEqual([]);
    await agent.close();
    const [file = ""] = filesOf(agentsFolder(agent.sessionPath));
    expect(readFileSync(join(agentsFolder(agent.sessionPath), file), "utf8")).toContain("Not finished");
  });

  it("a subagent compacts when its own window is full, while its parent does not compact", async () => {
    await using scene = await agentScene({
      behaviors: [
        summaries(),
        subagent(
          ...Array.from({ length: 24 }, (_, nth) => toolTurn("Read", { of: `pier ${nth}` })),
          textTurn("All read."),
        ),
      ],
      windowTokens: 200_000,
    });
    scene.simulator.reply(...main(task("Read all", { subagent_type: "small" }), textTurn("Good.")));
    const agent = await scene.open({
      tools: withTasks(Read),
      agentTypes: [{ name: "small", description: "Reads", windowTokens: 16_000 }],
      compactor: { clearing: { form: "off" } },
    });
    const { events, result } = await ran(agent, "Read all piers.");

    expect(result.text).toBe("Good.");
    const inside = eventsOf(events, "agent").map(({ event }) => event);
    const compacted = eventsOf(inside, "compactor").filter(({ event }) => event.type === "compacted");
    expect(compacted.length).toBeGreaterThan(0);
    expect(compacted[0]?.event.agentId).toBe(eventsOf(events, "agent")[0]?.agentId);
    expect(eventsOf(events, "compactor").map(({ event }) => event.type)).not.toContain("compacted");
    expect(eventsOf(inside, "window").at(-1)?.thresholds.size).toBe(16_000);
    expect(agent.reading.thresholds.size).toBe(200_000);
    expect(agent.conversation.some(({ type }) => type === "system")).toBe(false);
    expect(scene.simulator.requests.invalid).toEqual([]);
  });
});
