import { type Simulator, startSimulator } from "@longhaul/simulator";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Agent, contextTokens, RESULT_TOKENS } from "../../../../../test/clear/agent.ts";
import type { Clearing } from "../../compaction/clear/stale-results.ts";
import { applyClearing, chooseByTime } from "../../compaction/clear/stale-results.ts";
import type { ModelReply, ModelUsage } from "../../models/port.ts";
import { CachedEdits, type CacheReport } from "./cached-edits.ts";

const MINUTE_MS = 60_000;
const system = "You keep the books, one line for each boat and tide. ".repeat(600);

interface Step {
  readonly reply: ModelReply;
  readonly usage: ModelUsage;
  readonly clearing: Clearing | undefined;
  readonly report: CacheReport;
}

describe("cache edits on a server that supports them", () => {
  let simulator: Simulator;
  let agent: Agent;
  let edits: CachedEdits;

  beforeEach(async () => {
    simulator = await startSimulator({ switches: { cacheEdits: true } });
    agent = new Agent(simulator, { model: "claude-opus-4-6", cacheEdits: true });
    edits = new CachedEdits();
  });
  afterEach(() => simulator.close());

  async function step(): Promise<Step> {
    const clearing = edits.register(agent.index);
    const pinned = edits.edits();
    const reply = await agent.step({ system, ...(pinned.length === 0 ? {} : { cache_edits: pinned }) });
    const { usage } = reply;
    const report = edits.report({
      cacheReadTokens: usage.cache_read_input_tokens,
      deletedTokens: usage.cache_deleted_input_tokens,
    });
    return { reply, usage, clearing, report };
  }

  async function steps(count: number): Promise<readonly Step[]> {
    const made: Step[] = [];
    while (made.length < count) made.push(await step());
    return made;
  }

  it("cache edits keep the cache readable and remove the deleted tokens from the count", async () => {
    const made = await steps(41);
    const batches = made.filter(({ clearing }) => clearing !== undefined);
    expect(batches.map(({ clearing }) => clearing?.results.length)).toEqual([7, 7, 7, 7, 7]);
    for (const [at, { usage, reply }] of made.entries()) {
      const before = made[at - 1];
      if (before === undefined) continue;
      const deletedNow =
        (usage.cache_deleted_input_tokens ?? 0) - (before.usage.cache_deleted_input_tokens ?? 0);
      const cached = before.usage.cache_read_input_tokens + before.usage.cache_creation_input_tokens;
      expect(usage.cache_read_input_tokens).toBe(cached - deletedNow);
      expect(contextTokens(reply)).toBeLessThan(
        contextTokens(before.reply) + 1.2 * RESULT_TOKENS - deletedNow,
      );
    }
    const last = made.at(-1) as Step;
    expect(last.usage.cache_deleted_input_tokens).toBeGreaterThan(35 * RESULT_TOKENS);
    expect(edits.deletedTokens).toBe(last.usage.cache_deleted_input_tokens);
    expect(made.map(({ report }) => report.droppedEdits).filter((dropped) => dropped > 0)).toEqual([]);
    expect(simulator.requests.invalid).toEqual([]);
  });

  it("cache edits leave the messages unchanged", async () => {
    await steps(12);
    const before = agent.entries;
    const { clearing } = await step();
    expect(clearing?.results).toHaveLength(7);
    for (const [at, entry] of before.entries()) expect(agent.entries[at]).toBe(entry);
    expect(JSON.stringify(agent.entries)).not.toContain("cleared");
  });

  it("estimates the deleted tokens until the next response, which must read less from the cache", async () => {
    await steps(12);
    edits.register(agent.index);
    expect(edits.deletedLocally).toBe(7 * RESULT_TOKENS + 7);
    const { report, usage } = await step();
    expect(edits.deletedLocally).toBe(0);
    expect(report.expectedDrop).toBe(usage.cache_deleted_input_tokens);
    expect((await step()).report.expectedDrop).toBe(0);
  });

  it("drops cache edits when the cache expires, and makes new ones after a clearing in the messages", async () => {
    await steps(14);
    expect(edits.edits()).toHaveLength(7);
    simulator.clock.advance(6 * MINUTE_MS);
    const lost = await step();
    expect(lost.usage).toMatchObject({ cache_read_input_tokens: 0, cache_deleted_input_tokens: 0 });
    expect(lost.report.droppedEdits).toBe(7);
    const after = await steps(3);
    for (const { clearing } of after) expect(clearing).toBeUndefined();
    expect(simulator.requests.last?.body).not.toHaveProperty("cache_edits");

    simulator.clock.advance(61 * MINUTE_MS);
    const clearing = chooseByTime(agent.index, { idleMs: 61 * MINUTE_MS }) as Clearing;
    agent.resumeFrom(applyClearing(agent.entries, clearing, { bindsThinking: false }).entries);
    agent.index.applied(clearing);
    edits.reset();
    const [first, ...later] = await steps(12);
    expect(contextTokens(first?.reply as ModelReply)).toBeLessThan(
      contextTokens(after.at(-1)?.reply as ModelReply) - 11 * RESULT_TOKENS,
    );
    expect(later.flatMap((made) => made.clearing ?? [])).toHaveLength(1);
    expect(later.every(({ report }) => report.droppedEdits === 0)).toBe(true);
    expect(simulator.requests.invalid).toEqual([]);
  });
});
