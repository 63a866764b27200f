import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Agent, AgentEvent } from "@longhaul/agent";
import type { Turn } from "@longhaul/simulator";
import { summaries, textTurn, toolTurn } from "@longhaul/simulator";
import { describe, expect, it } from "vitest";
import { linesOf } from "../../packages/sessions/src/transcript/whole-file.ts";
import { ConversationBuilder } from "../support/builders.ts";
import { type AgentScene, agentScene, eventsOf, ran } from "./agent-scene.case.ts";
import { eachSubagent, Gate, inBackground, main, Read, subagent, withTasks } from "./agents.case.ts";

const text = (value: unknown): string => JSON.stringify(value);
const lastSent = ({ simulator }: AgentScene): string => text(simulator.requests.last?.body);
const idOf = (agent: Agent): string => agent.agents.list()[0]?.id ?? "";

/** Creates a host that listens to events between runs. */
function listening(): { readonly onEvent: (event: AgentEvent) => void; ended(count: number): Promise<void> } {
  let notices = 0;
  let wake: () => void = () => undefined;
  return {
    onEvent: ({ type }) => {
      if (type === "notice") notices += 1;
      wake();
    },
    ended: async (count) => {
      while (notices < count) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}

interface Started {
  readonly agent: Agent;
  readonly gate: Gate;
  readonly host: ReturnType<typeof listening>;
}

/**
 * Creates an agent that has started a background agent. The background agent waits at the gate, and then
 * answers `answer`.
 */
async function started(scene: AgentScene): Promise<Started> {
  const gate = new Gate();
  const host = listening();
  scene.simulator.reply(...main(inBackground("Count the berths"), textTurn("It is on its way.")));
  const tools = withTasks(gate.tool, Read);
  const agent = await scene.open({ tools, onEvent: host.onEvent });
  const { result, events } = await ran(agent, "Count them beside me.");
  expect(result.text).toBe("It is on its way.");
  expect(eventsOf(events, "call-ended")).toMatchObject([
    { isError: false, summary: `${idOf(agent)} in the background` },
  ]);
  await gate.reached;
  return { agent, gate, host };
}

const waiting = (answer: string): Parameters<typeof agentScene>[0] => ({
  behaviors: [subagent(toolTurn("wait"), textTurn(answer))],
});

const say = (scene: AgentScene, ...turns: readonly Turn[]): void => scene.simulator.reply(...main(...turns));

describe("background agents", () => {
  it("a background agent runs beside its parent, and the next turn of the parent delivers the result once", async () => {
    await using scene = await agentScene(waiting("Nine berths."));
    const { agent, gate, host } = await started(scene);
    expect(agent.agents.list()).toMatchObject([{ description: "Count the berths", status: "running" }]);
    say(scene, textTurn("Something else."));
    await ran(agent, "Meanwhile?");
    expect(lastSent(scene)).not.toContain("task-notification");

    gate.open();
    await host.ended(1);
    const [{ outputPath = "" } = {}] = agent.agents.list();
    expect(agent.agents.list()).toMatchObject([{ status: "completed" }]);
    expect(readFileSync(outputPath, "utf8")).toBe("Nine berths.");
    say(scene, textTurn("So nine."), textTurn("Yes."));
    await ran(agent, "And?");
    expect(lastSent(scene)).toContain("<result>\\nNine berths.\\n</result>");
    expect(agent.agents.list()).toEqual([]);
    await ran(agent, "Sure?");
    expect(lastSent(scene).split("<task-notification>")).toHaveLength(2);
    expect((await agent.prompts()).map((prompt) => prompt.text)).toEqual([
      "Sure?",
      "And?",
      "Meanwhile?",
      "Count them beside me.",
    ]);
    expect(scene.simulator.requests.invalid).toEqual([]);
  });

  it("a background agent is not announced again after its result was collected", async () => {
    await using scene = await agentScene(waiting("Nine berths."));
    const { agent, gate } = await started(scene);
    const id = idOf(agent);
    say(scene, toolTurn("TaskOutput", { task_id: id, timeout: 0 }), textTurn("Not yet."));
    const first = await ran(agent, "Is it done?");
    expect(eventsOf(first.events, "call-ended")).toMatchObject([{ summary: "still running" }]);
    expect(agent.agents.list()).toHaveLength(1);

    gate.open();
    say(scene, toolTurn("TaskOutput", { task_id: id, timeout: 60_000 }), textTurn("Nine."));
    const second = await ran(agent, "And now?");
    expect(eventsOf(second.events, "call-ended")).toMatchObject([
      { summary: "completed", display: "<status>completed</status>\nNine berths." },
    ]);
    expect(agent.agents.list()).toEqual([]);
    say(scene, textTurn("No."));
    await ran(agent, "Anything new?");
    expect(lastSent(scene)).not.toContain("<task-notification>");
  });

  it("the next turn announces a long result of a background agent, and the result stays available until collected", async () => {
    const long = "One berth after the other. ".repeat(400).trim();
    await using scene = await agentScene(waiting(long));
    const { agent, gate, host } = await started(scene);
    const id = idOf(agent);
    gate.open();
    await host.ended(1);
    say(scene, textTurn("I see."));
    await ran(agent, "And?");
    expect(lastSent(scene)).toContain("<task-notification>");
    expect(lastSent(scene)).not.toContain(long.slice(0, 200));
    expect(agent.agents.list()).toMatchObject([{ id, status: "completed" }]);

    await agent.close();
    const again = await scene.open({ session: agent.sessionPath });
    expect(again.agents.list()).toMatchObject([{ id, status: "completed" }]);
    say(scene, toolTurn("TaskOutput", { task_id: id }), textTurn("Got it."));
    const { events } = await ran(again, "Get it.");
    expect(eventsOf(events, "call-ended")[0]?.display).toContain(long);
    expect(again.agents.list()).toEqual([]);
  });

  it("a background agent returns the result so far when its parent stops it", async () => {
    await using scene = await agentScene({
      behaviors: [
        subagent({ blocks: [{ type: "text", text: "Three so far." }, ...toolTurn("wait").blocks] }),
      ],
    });
    const { agent, gate } = await started(scene);
    const id = idOf(agent);
    say(
      scene,
      toolTurn("TaskStop", { task_id: id }),
      toolTurn("TaskStop", { task_id: "nobody" }),
      textTurn("Well."),
    );
    const { events } = await ran(agent, "Stop it.");
    const [stopped, unknown] = eventsOf(events, "call-ended");
    expect(stopped?.display).toContain("Three so far.");
    expect(unknown).toMatchObject({ isError: true });
    expect(gate.aborted).toBe(1);
    expect(agent.agents.list()).toEqual([]);
    expect(eventsOf(events, "notice")).toHaveLength(1);
  });

  it("a background agent survives the abort of a run and ends when the session is closed", async () => {
    await using scene = await agentScene(waiting("late"));
    const { agent, gate } = await started(scene);
    const abort = new AbortController();
    say(scene, toolTurn("wait"));
    const { result } = await ran(agent, "Wait yourself.", {
      signal: abort.signal,
      onEvent: ({ type }) => type === "call-started" && abort.abort(),
    });
    expect(result.reason).toBe("aborted");
    expect(agent.agents.list()).toMatchObject([{ status: "running" }]);
    const { aborted } = gate;
    await agent.close();
    expect(gate.aborted).toBe(aborted + 1);
    expect(agent.agents.list()).toMatchObject([{ status: "stopped" }]);
  });

  it("a background agent stays listed after a compaction of its parent, so it is not started twice", async () => {
    await using scene = await agentScene({
      behaviors: [summaries(), subagent(toolTurn("wait"), textTurn("Nine berths."))],
    });
    const { agent, gate, host } = await started(scene);
    const id = idOf(agent);
    for (const of of ["quay", "pier", "mole"]) {
      say(scene, toolTurn("Read", { of }), textTurn(`Read ${of}.`));
      await ran(agent, `Read the ${of}.`);
    }
    await agent.compact({ keepRecentTokens: 0, force: true });
    const restored = agent.conversation.filter(({ type }) => type === "attachment");
    expect(text(restored)).toContain(`"taskId":"${id}"`);
    say(scene, textTurn("It still runs."));
    await ran(agent, "Is it running?");
    expect(lastSent(scene)).toContain(id);

    gate.open();
    await host.ended(1);
    say(scene, textTurn("Nine."));
    await ran(agent, "And?");
    expect(lastSent(scene)).toContain("Nine berths.");
    expect(scene.simulator.requests.invalid).toEqual([]);
  });

  it("an agent refuses to start more than eight background agents at once, and explains why", async () => {
    const gate = new Gate();
    await using scene = await agentScene({
      behaviors: [eachSubagent(toolTurn("wait"), textTurn("done"))],
    });
    const blocks = Array.from({ length: 9 }, () => inBackground("Wait").blocks).flat();
    say(scene, { blocks }, textTurn("Started."));
    const agent = await scene.open({ tools: withTasks(gate.tool) });
    const { events } = await ran(agent, "Go.");
    expect(agent.agents.list()).toHaveLength(8);
    const refused = eventsOf(events, "call-ended").filter(({ isError }) => isError);
    expect(refused).toMatchObject([{ summary: "too many agents" }]);
  });
});

describe("background agents whose process has ended", () => {
  /**
   * Resumes the same session in another process. The first process is abandoned, as if it had been killed.
   */
  const resumed = (scene: AgentScene, { sessionPath }: Agent): Promise<Agent> =>
    scene.open({ session: sessionPath });

  it("a resumed agent lists a background agent of an ended process as stopped, and tells the model", async () => {
    await using scene = await agentScene(waiting("never"));
    const { agent } = await started(scene);
    const again = await resumed(scene, agent);
    expect(again.agents.list()).toMatchObject([{ id: idOf(agent), status: "stopped" }]);
    say(scene, textTurn("A pity."));
    await ran(again, "And?");
    expect(lastSent(scene)).toContain("<status>stopped</status>");
    expect(again.agents.list()).toEqual([]);
    expect((await resumed(scene, again)).agents.list()).toEqual([]);
  });

  it("a resumed agent announces the result of a background agent that finished before its process ended", async () => {
    await using scene = await agentScene(waiting("Nine berths."));
    const { agent, gate, host } = await started(scene);
    gate.open();
    await host.ended(1);
    const again = await resumed(scene, agent);
    expect(again.agents.list()).toMatchObject([{ id: idOf(agent), status: "completed" }]);
    say(scene, textTurn("Nine."));
    await ran(again, "And?");
    expect(lastSent(scene)).toContain("Nine berths.");
  });

  it("results of background agents are read only from longhaul's folder, whatever the session claims", async () => {
    await using scene = await agentScene();
    const secret = join(scene.cwd, "secret.md");
    writeFileSync(secret, "the key of the harbour office");
    const c = new ConversationBuilder();
    c.user("go");
    c.tool("t1", "Task", { description: "x" }, `Async agent launched.\nagentId: a1\noutput_file: ${secret}`);
    c.user("<task-notification><task-id>a1</task-id><status>completed</status></task-notification>");
    const taskId = `${"../".repeat(30)}${secret.slice(1, -".md".length)}`;
    c.attachment({ type: "task_status", taskId, taskType: "local_agent", status: "completed" });
    const session = join(scene.cwd, "given.jsonl");
    writeFileSync(session, linesOf(c.entries));
    const agent = await scene.open({ session });
    expect(agent.agents.list().map(({ id }) => id)).toEqual(["a1", taskId]);
    for (const { id } of agent.agents.list()) {
      const { signal } = new AbortController();
      expect(text(await agent.agents.collect(id, { wait: 0, signal }))).not.toContain("the key");
    }
  });
});
