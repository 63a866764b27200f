import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { anthropicModel } from "@longhaul/anthropic";
import { loadSession, writeNewSession } from "@longhaul/sessions";
import { always, summaries, textTurn, toolTurn } from "@longhaul/simulator";
import { describe, expect, it } from "vitest";
import { createDemoSession } from "../../packages/simulator/src/demo-session.ts";
import { agentScene, eventsOf, ran, toolOf } from "./agent-scene.case.ts";

const AGENT_IN_PLAN_MODE = [
  { type: "tool_use" as const, name: "Write", input: { file_path: "a.txt", content: "a" } },
];

describe("the session of an agent", () => {
  it("an agent that resumes another agent's session continues in a copy and leaves the original unchanged", async () => {
    await using scene = await agentScene({ switches: { foreignSignatures: "accepted" } });
    const original = join(scene.cwd, "claude.jsonl");
    await writeNewSession(original, createDemoSession({ approximateTokens: 30_000 }));
    const before = await readFile(original);
    scene.simulator.reply(textTurn("I know the harbour."));

    const agent = await scene.open({ session: original });
    const { result } = await ran(agent, "Do you know where we were?");

    expect(result.text).toBe("I know the harbour.");
    expect(agent.sessionPath).not.toBe(original);
    expect((await readFile(original)).equals(before)).toBe(true);
    const copy = await readFile(agent.sessionPath);
    expect(copy.subarray(0, before.length).equals(before)).toBe(true);
    expect((await loadSession(agent.sessionPath)).id).toBe(agent.sessionId);
    expect(scene.simulator.requests.invalid).toEqual([]);
  });

  it("an agent compacts another agent's session that exceeds the window, whatever usage the session reports", async () => {
    await using scene = await agentScene({
      windowTokens: 40_000,
      switches: { foreignSignatures: "accepted" },
      behaviors: [summaries(), always("On we go.")],
    });
    const original = join(scene.cwd, "claude.jsonl");
    // The usage in the session includes 45,000 tokens of system prompt and tools, which alone exceed this
    // window.
    const entries = createDemoSession({ approximateTokens: 60_000 }).map((entry) => {
      if (entry.type !== "assistant" || entry.message.usage === undefined) return entry;
      const { usage } = entry.message;
      const read = (usage.cache_read_input_tokens ?? 0) + 45_000;
      return { ...entry, message: { ...entry.message, usage: { ...usage, cache_read_input_tokens: read } } };
    });
    await writeNewSession(original, entries);

    const agent = await scene.open({ session: original });
    const { result } = await ran(agent, "Go on.");

    expect(result).toMatchObject({ reason: "answered", text: "On we go." });
    expect(agent.reading.tokens).toBeLessThan(agent.reading.thresholds.autoCompact);
  });

  it("an agent without any message leaves no session file", async () => {
    await using scene = await agentScene();
    const agent = await scene.open();
    await agent.close();
    await expect(readFile(agent.sessionPath)).rejects.toThrow("ENOENT");
  });

  it("an agent reports that another agent wrote to its session, and then stops writing to the session file", async () => {
    await using scene = await agentScene();
    scene.simulator.reply("One.", "Two.", "Three.");
    const first = await scene.open();
    await ran(first, "Begin.");
    const second = await scene.open({ session: first.sessionPath });
    await ran(second, "From the second.");
    const written = await readFile(first.sessionPath, "utf8");

    const { events } = await ran(first, "From the first.");

    expect(eventsOf(events, "problem").map(({ error }) => error.code)).toContain("session-changed");
    expect(await readFile(first.sessionPath, "utf8")).toBe(written);
    await expect(first.close()).rejects.toMatchObject({ code: "transcript-not-written" });
  });

  it("an agent continues the same conversation with another model and that model's window", async () => {
    await using scene = await agentScene();
    scene.simulator.reply("One.", "Two.");
    const agent = await scene.open();
    await ran(agent, "Begin.");
    const size = agent.reading.thresholds.size;

    const model = anthropicModel({
      model: "claude-sonnet-5-5",
      baseURL: scene.simulator.url,
      apiKey: "any",
    });
    await agent.setModel(model, { windowTokens: 64_000 });

    expect(agent.reading.thresholds.size).not.toBe(size);
    expect(agent.reading.thresholds.size).toBe(64_000);
    expect((await ran(agent, "Go on.")).result.text).toBe("Two.");
    expect(scene.simulator.requests.last?.model).toBe("claude-sonnet-5-5");
    expect(scene.simulator.requests.last?.body?.messages).toHaveLength(3);
  });
});

describe("plan mode", () => {
  it("plan mode refuses changes, announces itself to the model, survives a resume, and ends with a plan", async () => {
    await using scene = await agentScene();
    scene.simulator.reply(
      { blocks: AGENT_IN_PLAN_MODE },
      "I only plan.",
      toolTurn("ExitPlanMode", { plan: "1. Write a.txt" }),
      { blocks: AGENT_IN_PLAN_MODE },
      "Written.",
    );
    const person = {
      permit: async () => ({ allow: "once" }) as const,
      answer: async () => undefined,
    };
    const agent = await scene.open({ isPlanMode: true, person });
    const { events } = await ran(agent, "Plan it.");
    expect(eventsOf(events, "call-ended")[0]).toMatchObject({ tool: "Write", isError: true });
    expect(JSON.stringify(scene.simulator.requests.all[0]?.body)).toMatch(/plan mode/i);
    await agent.close();

    const again = await scene.open({ session: agent.sessionPath, person });
    expect(again.isPlanMode).toBe(true);
    await ran(again, "Do it.");

    expect(again.isPlanMode).toBe(false);
    expect(await readFile(join(scene.cwd, "a.txt"), "utf8")).toBe("a");
    expect(await readFile(again.planPath, "utf8")).toContain("Write a.txt");
    expect(scene.simulator.requests.invalid).toEqual([]);
  });
});

describe("memory files of an agent", () => {
  it("memory files of the working directory are attached to the first prompt and again after a compaction", async () => {
    await using scene = await agentScene();
    await writeFile(join(scene.cwd, "AGENTS.md"), "Always speak of ships, never of boats.\n");
    scene.simulator.reply("Aye.");
    const agent = await scene.open({ tools: () => [toolOf("Read", () => "nothing")] });

    await ran(agent, "Hello.");

    expect(JSON.stringify(scene.simulator.requests.last?.body?.messages)).toContain("never of boats");
  });
});
