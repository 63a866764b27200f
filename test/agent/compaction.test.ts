import type { AgentEvent } from "@longhaul/agent";
import { buildNotes, loadSession, readNotes } from "@longhaul/sessions";
import { coder, summaries, textTurn, toolTurn } from "@longhaul/simulator";
import { describe, expect, it } from "vitest";
import { isWork, tooLong } from "../engine/faults.case.ts";
import { agentScene, eventsOf, ran, toolOf } from "./agent-scene.case.ts";

const WINDOW = 16_000;
const page = (of = "page"): string =>
  `${of}: ${"the tide table of the outer harbour, line by line. ".repeat(50)}`;
const Read = toolOf("Read", ({ of }) => page(of));

const compacted = (events: readonly AgentEvent[]) =>
  eventsOf(events, "compactor").flatMap(({ event }) => (event.type === "compacted" ? [event] : []));

describe("an agent whose window fills up", () => {
  it("an agent continues through compactions, and its events contain the boundary before the summary", async () => {
    await using scene = await agentScene({
      windowTokens: WINDOW,
      behaviors: [summaries(), coder({ turns: 25, inventsPaths: true })],
    });
    const agent = await scene.open({ tools: () => [Read], compactor: { clearing: { form: "off" } } });
    const first = agent.conversationId;

    const { events, result } = await ran(agent, "Work through the tide tables. The quota is 4,711 ships.");

    expect(result.reason).toBe("answered");
    expect(compacted(events).length).toBeGreaterThan(0);
    const entries = eventsOf(events, "entry");
    const at = entries.findIndex(
      ({ entry }) => entry.type === "system" && entry.subtype === "compact_boundary",
    );
    expect(at).toBeGreaterThan(0);
    expect(entries[at - 1]?.conversationId).toBe(first);
    expect(entries[at]?.conversationId).not.toBe(first);
    expect(entries[at + 1]?.entry).toMatchObject({ type: "user", isCompactSummary: true });
    expect(agent.conversationId).not.toBe(first);
    expect(JSON.stringify(agent.conversation)).toContain("4,711");
    expect(scene.simulator.requests.invalid).toEqual([]);
  });

  it("an agent recovers from an unexpected overflow without showing the error to the user", async () => {
    await using scene = await agentScene({
      windowTokens: WINDOW,
      behaviors: [summaries(), coder({ turns: 30, inventsPaths: true })],
    });
    // The configured window is larger than the real one. Therefore the provider refuses a request before the
    // agent compacts.
    const agent = await scene.open({
      tools: () => [Read],
      maxOutputTokens: 2_000,
      compactor: { window: { tokens: 200_000 } },
    });

    const { events, result } = await ran(agent, "Work through the tide tables.");

    expect(result.reason).toBe("answered");
    const recovered = eventsOf(events, "compactor").filter(({ event }) => event.type === "recovered");
    expect(recovered.length).toBeGreaterThan(0);
    expect(eventsOf(events, "problem")).toEqual([]);
  });

  it("an agent recovers a second time when the recovered call also overflows, but with a smaller prompt", async () => {
    await using scene = await agentScene({
      windowTokens: 60_000,
      behaviors: [summaries(), coder({ turns: 10, inventsPaths: true })],
    });
    const agent = await scene.open({ tools: () => [Read], compactor: { clearing: { form: "off" } } });
    await ran(agent, "Work through the tide tables.");
    for (const tokens of [80_000, 70_000])
      scene.simulator.fail(tooLong(tokens, 60_000), { when: isWork, times: 1 });

    const { events, result } = await ran(agent, "Now the inner harbor.");

    expect(result.reason).toBe("answered");
    expect(compacted(events).map(({ trigger }) => trigger)).toEqual(["reactive", "reactive"]);
  });

  it.each<[Record<string, string>, RegExp]>([
    [{ DISABLE_AUTO_COMPACT: "1" }, /DISABLE_AUTO_COMPACT.*manually/],
    [{ DISABLE_COMPACT: "1" }, /Unset DISABLE_COMPACT/],
  ])(
    "an agent shows an overflow and its remedy to the user when %o disables compaction",
    async (environment, remedy) => {
      await using scene = await agentScene({
        windowTokens: WINDOW,
        behaviors: [summaries(), coder({ turns: 30, inventsPaths: true })],
      });
      const agent = await scene.open({
        tools: () => [Read],
        maxOutputTokens: 2_000,
        compactor: { window: { tokens: 200_000 }, clearing: { form: "off" }, settings: { environment } },
      });
      expect(agent.reading.thresholds.autoCompactEnabled).toBe(false);

      const { events, result } = await ran(agent, "Work through the tide tables.");

      expect(result).toMatchObject({
        reason: "failed",
        error: { code: "model-too-long", remedy: expect.stringMatching(remedy) },
      });
      expect(compacted(events)).toEqual([]);
    },
  );

  it("the context bar is correct after compact, undo, redo and clear, and the session resumes after each", async () => {
    await using scene = await agentScene({
      windowTokens: 60_000,
      behaviors: [summaries(), coder({ turns: 20, inventsPaths: true })],
    });
    const agent = await scene.open({ tools: () => [Read] });
    await ran(agent, "Work through the tide tables. Always speak of ships, never of boats.");
    await ran(agent, "Now the inner harbour.");
    const full = agent.reading.tokens;
    const before = agent.conversation.map(({ uuid }) => uuid);
    const shownEvents: string[] = [];

    const cleared = await agent.clearResults({ keep: 2 });
    expect(cleared).toBeGreaterThan(5);
    expect(agent.reading.tokens).toBeLessThan(full);
    await agent.compact({ instructions: "Mind the ships.", keepRecentTokens: 500 });
    const small = agent.reading.tokens;
    expect(small).toBeLessThan(full / 2);
    for (const event of scene.idle) if (event.type === "compacting") shownEvents.push("compacting");
    expect(shownEvents.length).toBeGreaterThan(0);
    await agent.undo();
    expect(agent.reading.tokens).toBeGreaterThan(small);
    expect(agent.conversation.map(({ uuid }) => uuid).slice(0, before.length)).toEqual(before);
    await agent.redo();
    expect(agent.reading.tokens).toBeLessThan(full / 2);

    await agent.close();
    const again = await scene.open({ tools: () => [Read], session: agent.sessionPath });
    expect(again.conversation.map(({ uuid }) => uuid)).toEqual(agent.conversation.map(({ uuid }) => uuid));
    const { result } = await ran(again, "Go on.");
    expect(result.reason).toBe("answered");
    expect(scene.simulator.requests.invalid).toEqual([]);
  });

  it("an agent rewinds to an earlier prompt, even to a prompt before a compaction, and continues from that prompt", async () => {
    await using scene = await agentScene({ windowTokens: 60_000, behaviors: [summaries()] });
    const read = (of: string) => [toolTurn("Read", { of }), textTurn(`Read ${of}.`)] as const;
    scene.simulator.reply(...read("one"), ...read("two"));
    const agent = await scene.open({ tools: () => [Read] });
    await ran(agent, "First prompt.");
    const afterFirst = agent.conversation.map(({ uuid }) => uuid);
    await ran(agent, "Second prompt.");
    await agent.compact({ keepRecentTokens: 0, force: true });
    scene.simulator.reply(textTurn("After the compaction."));
    await ran(agent, "Third prompt.");

    const prompts = await agent.prompts();
    expect(prompts.map(({ text, compactionsSince }) => [text, compactionsSince])).toEqual([
      ["Third prompt.", 0],
      ["Second prompt.", 1],
      ["First prompt.", 1],
    ]);
    expect((await buildNotes(await loadSession(agent.sessionPath))).text).toContain("Third prompt");
    await agent.rewind(prompts[1]?.uuid ?? "");

    const { text: notes } = (await readNotes(await loadSession(agent.sessionPath))) ?? {};
    expect(notes).toContain("First prompt");
    expect(notes).not.toMatch(/(?:Second|Third) prompt/);
    expect(agent.conversation.slice(0, -1).map(({ uuid }) => uuid)).toEqual(afterFirst);
    await agent.close();
    const again = await scene.open({ tools: () => [Read], session: agent.sessionPath });
    expect(again.conversation.map(({ uuid }) => uuid)).toEqual(agent.conversation.map(({ uuid }) => uuid));
    scene.simulator.reply(textTurn("Another way."));
    const { result } = await ran(again, "Another second prompt.");
    expect(result.text).toBe("Another way.");
    expect(JSON.stringify(scene.simulator.requests.last?.body)).not.toContain("Third prompt");
    expect(scene.simulator.requests.invalid).toEqual([]);
  });
});
