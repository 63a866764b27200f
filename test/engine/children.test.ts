import type { RequestFrame } from "@longhaul/core/compaction";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Compactor } from "../support/full-compactor.ts";
import { AgentLoop, FRAME } from "./agent-loop.case.ts";
import { hasCompacted, openScene, type Scene, workUntil } from "./scene.case.ts";

const CHILDREN = 12;
const PARENT_TURNS = 34;
const CHILD_TURNS = 40;

let scene: Scene;
beforeEach(async () => {
  scene = await openScene({ keepBodies: 5_000 });
});
afterEach(() => scene.simulator.close());

const nameOf = (child: number): string => `agent-${child}`;
const windowOf = (child: number): number => 12_000 + 1_200 * child;
const frameOf = (child: number): RequestFrame => ({
  ...FRAME,
  system: `You are the subagent ${nameOf(child)}. Working directory: /home/dev/harbour\n`,
});

interface Family {
  readonly parent: AgentLoop;
  readonly children: readonly AgentLoop[];
  readonly compactors: readonly Compactor[];
  readonly cleanings: () => number;
}

function family(): Family {
  let cleanings = 0;
  const parent = scene.loop({
    resultTokens: 1_200,
    host: { caches: [() => cleanings++] },
  });
  const compactors = Array.from({ length: CHILDREN }, (_, child) =>
    parent.compactor.child({
      agentId: nameOf(child),
      description: `looks after berth ${child}`,
      model: parent.model,
      window: { tokens: windowOf(child) },
      request: frameOf(child),
      clearing: { form: "off" },
      compaction: { background: false },
    }),
  );
  const children = compactors.map(
    (use, child) =>
      new AgentLoop({ simulator: scene.simulator, model: parent.model, use, seed: 100 + child, turnMs: 0 }),
  );
  return { parent, children, compactors, cleanings: () => cleanings };
}

/** Returns the requests of the parent in order, for work and for summaries. */
const sentByParent = (): readonly string[] =>
  scene.simulator.requests.messages.flatMap(({ body }) => {
    const sent = JSON.stringify(body);
    return sent.includes("You are the subagent") ? [] : [sent];
  });

describe("many subagents that compact at once beside their parent", () => {
  it("subagents do not change a byte of their parent's requests", async () => {
    const alone = family();
    await alone.parent.run(PARENT_TURNS);
    const expected = sentByParent();
    scene.simulator.reset();

    const busy = family();
    await Promise.all([
      busy.parent.run(PARENT_TURNS),
      ...busy.children.map((child) => child.run(CHILD_TURNS)),
    ]);
    expect(alone.parent.eventsOf("compacted").length).toBeGreaterThan(1);
    expect(sentByParent().length).toBe(expected.length);
    expect(sentByParent().every((sent, at) => sent === expected[at])).toBe(true);
    expect(scene.simulator.requests.invalid).toEqual([]);
  });

  it("subagents have their own windows, states and circuit breakers, and their events carry their ids", async () => {
    const { parent, children, compactors, cleanings } = family();
    await Promise.all([parent.run(PARENT_TURNS), ...children.map((child) => child.run(CHILD_TURNS))]);
    for (const [child, loop] of children.entries()) {
      const own = parent.eventsOf("compacted").filter(({ agentId }) => agentId === nameOf(child));
      expect(own.length).toBeGreaterThan(0);
      expect(own.every(({ chain }) => chain.caller === "subagent")).toBe(true);
      expect(own[0]?.chain).toMatchObject({ isInChain: false, previousTurnId: undefined });
      expect(loop.lastTurn?.thresholds.size).toBe(windowOf(child));
      expect(compactors[child]?.agentId).toBe(nameOf(child));
    }
    const ofParent = parent.eventsOf("compacted").filter(({ agentId }) => agentId === undefined);
    expect(ofParent.length).toBeGreaterThan(1);
    // Only compactions of the main conversation clean the caches that it shares with subagents.
    expect(cleanings()).toBe(ofParent.length);
    expect(parent.lastTurn?.thresholds.size).toBe(32_000);
  });

  it("subagents survive a compaction of their parent, and the compaction lists the subagents that still run", async () => {
    const { parent, compactors } = family();
    expect(await workUntil(parent, hasCompacted(parent))).toBe(true);
    const restored = (): readonly string[] =>
      parent
        .eventsOf("restored")
        .at(-1)
        ?.items.flatMap(({ kind, name }) => (kind === "agents" ? [name] : [])) ?? [];
    expect(restored()).toEqual(compactors.map((_, child) => nameOf(child)));
    expect(parent.compactor.children).toEqual(compactors);
    const text = JSON.stringify(parent.lastTurn?.request.messages);
    expect(compactors.every((_, child) => text.includes(nameOf(child)))).toBe(true);

    for (const compactor of compactors.slice(1)) compactor.close();
    expect(parent.compactor.children).toEqual(compactors.slice(0, 1));
    const so = parent.eventsOf("compacted").length + 1;
    expect(await workUntil(parent, hasCompacted(parent, so))).toBe(true);
    expect(restored()).toEqual([nameOf(0)]);
  });

  it("a subagent can have its own subagents", async () => {
    const { compactors } = family();
    const grandchild = compactors[0]?.child({ agentId: "grandchild", window: { tokens: 10_000 } });
    expect(grandchild?.agentId).toBe("grandchild");
    expect(compactors[0]?.children).toEqual([grandchild]);
    expect(compactors[1]?.children).toEqual([]);
  });
});
