import type { Agent } from "@longhaul/agent";
import type { Entry } from "@longhaul/core";
import { loadSession, openRecall } from "@longhaul/sessions";
import { coder, spanSummaries, summaries, textTurn, toolTurn } from "@longhaul/simulator";
import { describe, expect, it } from "vitest";
import { collapsedIn } from "../../packages/core/src/modules/collapse/report.ts";
import { inspectSession } from "../../packages/longhaul/src/inspect-report.ts";
import { type AgentScene, agentScene, eventsOf, ran, toolOf } from "./agent-scene.case.ts";

const Read = toolOf("Read", ({ of }) => `${of}: ${"the tide table of the outer harbor. ".repeat(80)}`);
const idsOf = (entries: readonly Entry[]): readonly unknown[] => entries.map(({ uuid }) => uuid);

/** Creates a session of three rounds, each with a read. */
async function threeRounds(scene: AgentScene): Promise<Agent> {
  const read = (of: string) => [toolTurn("Read", { of }), textTurn(`Read ${of}.`)] as const;
  scene.simulator.reply(...read("heron"), ...read("plover"), ...read("gannet"));
  const agent = await scene.open({ tools: () => [Read] });
  for (const prompt of ["First prompt.", "Second prompt.", "Third prompt."]) await ran(agent, prompt);
  return agent;
}

/** Returns the messages of one round, from its prompt up to the next prompt. */
function roundOf({ conversation }: Agent, prompt: string, next: string): readonly string[] {
  const at = (text: string): number =>
    conversation.findIndex((entry) => entry.type === "user" && entry.message.content === text);
  return conversation.slice(at(prompt), at(next)).flatMap(({ uuid }) => uuid ?? []);
}

describe("agent.snip", () => {
  it("agent.snip removes a round from the context, also in the session file and after a resume", async () => {
    await using scene = await agentScene({ windowTokens: 60_000, behaviors: [summaries()] });
    const agent = await threeRounds(scene);
    const full = agent.reading.tokens;

    const snipped = await agent.snip({ ids: roundOf(agent, "Second prompt.", "Third prompt.") });

    expect(snipped).toMatchObject({ messages: 4, spared: 0 });
    expect(agent.reading.tokens).toBe(full - snipped.tokensFreed);
    const session = await loadSession(agent.sessionPath);
    expect(idsOf(session.conversation)).toEqual(idsOf(agent.conversation));
    const { context } = inspectSession(session, agent.reading.thresholds);
    expect(Math.abs(context.tokens - agent.reading.tokens)).toBeLessThan(0.02 * full);
    const recall = openRecall(agent.sessionPath);
    expect((await recall.search({ words: "plover" })).hits.length).toBeGreaterThan(0);
    expect((await recall.search({ words: "gannet" })).hits).toEqual([]);

    await agent.close();
    const again = await scene.open({ tools: () => [Read], session: agent.sessionPath });
    expect(idsOf(again.conversation)).toEqual(idsOf(agent.conversation));
    expect(Math.abs(again.reading.tokens - agent.reading.tokens)).toBeLessThan(0.02 * full);
    scene.simulator.reply(textTurn("Which plover?"));
    await ran(again, "Fourth prompt.");
    const sent = JSON.stringify(scene.simulator.requests.last?.body);
    expect(sent).not.toContain("Second prompt.");
    expect(sent).toContain("4 messages were removed here");
    await again.undo();
    expect(JSON.stringify(again.conversation)).toContain("Second prompt.");
    expect(scene.simulator.requests.invalid).toEqual([]);
  });

  it("agent.snip keeps plan mode, and the agent announces plan mode again if the announcement was removed", async () => {
    await using scene = await agentScene({ windowTokens: 60_000 });
    scene.simulator.reply(textTurn("Planned."), textTurn("On."));
    const agent = await scene.open({ isPlanMode: true });
    await ran(agent, "Plan it.");
    await agent.snip({ keepLastTurns: 0 });
    expect(agent.isPlanMode).toBe(true);
    await ran(agent, "And now?");
    const [body] = [JSON.stringify(scene.simulator.requests.last?.body)];
    expect(body).not.toContain("Plan it.");
    expect(body).toMatch(/plan mode/i);
    await agent.close();
    expect((await scene.open({ session: agent.sessionPath })).isPlanMode).toBe(true);
  });

  it("agent.snip rejects an id that is not in the conversation and changes nothing", async () => {
    await using scene = await agentScene({ windowTokens: 60_000 });
    const agent = await threeRounds(scene);
    const before = idsOf(agent.conversation);
    await expect(agent.snip({ ids: ["nobody"] })).rejects.toMatchObject({ code: "message-not-found" });
    expect(idsOf(agent.conversation)).toEqual(before);
  });
});

describe("an agent that collapses spans", () => {
  const behaviors = () => [spanSummaries(), summaries(), coder({ turns: 40, inventsPaths: true })];

  it("an agent collapses spans instead of compacting, expands a span, and keeps the spans after a resume", async () => {
    await using scene = await agentScene({ windowTokens: 24_000, behaviors: behaviors() });
    const compactor = { clearing: { form: "off" } } as const;
    const agent = await scene.open({ tools: () => [Read], collapse: { timeoutMs: 20_000 }, compactor });
    expect(agent.isCollapseOn).toBe(true);
    expect(agent.reading.thresholds.headroomBy).toBe("collapse");
    const { events } = await ran(agent, "Work through the tide tables. The quota is 4,711 ships.");
    const types = eventsOf(events, "compactor").map(({ event }) => event.type);
    expect(types).toContain("spans-committed");
    expect(types).not.toContain("compacted");
    const spans = collapsedIn(agent.conversation);
    const { tokens } = agent.reading;

    await agent.setCollapse(false);
    expect(agent.isCollapseOn).toBe(false);
    expect(collapsedIn(agent.conversation)).toEqual(spans);
    await agent.expand([spans[0]?.spanId ?? ""]);
    expect(collapsedIn(agent.conversation)).toHaveLength(spans.length - 1);
    expect(agent.reading.tokens).toBeGreaterThan(tokens);
    await agent.undo();
    expect(collapsedIn(agent.conversation)).toEqual(spans);

    await agent.close();
    expect(collapsedIn((await loadSession(agent.sessionPath)).conversation)).toEqual(spans);
    const again = await scene.open({ tools: () => [Read], session: agent.sessionPath, compactor });
    expect(again.isCollapseOn).toBe(false);
    expect(collapsedIn(again.conversation)).toEqual(spans);
    await again.setCollapse(true);
    scene.simulator.reply(textTurn("Still here."));
    expect((await ran(again, "Go on.")).result.text).toBe("Still here.");
    expect(scene.simulator.requests.invalid).toEqual([]);
  });
});
