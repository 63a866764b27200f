import { readFile } from "node:fs/promises";
import type { Agent } from "@longhaul/agent";
import type { Entry } from "@longhaul/core";
import { LonghaulError } from "@longhaul/core";
import { resumeSession } from "@longhaul/sessions";
import { summaries, textTurn, toolTurn } from "@longhaul/simulator";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type AgentScene, agentScene, ran, toolOf } from "./agent-scene.case.ts";

const page = "The tide table of the outer harbour, line by line. ".repeat(40);
/**
 * Returns the uuids of entries, without informational lines. The file has such a line if a compaction kept
 * messages in place.
 */
const uuids = (entries: readonly Entry[]): readonly unknown[] =>
  entries.flatMap((entry) => ("subtype" in entry && entry.subtype === "informational" ? [] : [entry.uuid]));

const step = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom("answered", "with calls", "failed") },
  {
    weight: 2,
    arbitrary: fc.constantFrom("stopped at once", "stopped in the answer", "stopped in a call", "left"),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom("compact", "clear", "undo", "redo", "rewind", "resume", "notes", "model"),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      "snip a round",
      "snip the newest",
      "from here",
      "up to here",
      "collapse",
      "expand",
    ),
  },
);

/**
 * Runs the operations that people can run on a conversation. An operation that is impossible at the moment
 * throws and changes nothing.
 */
class Played {
  readonly said: string[] = [];
  #abort = new AbortController();
  readonly #tools = [
    toolOf("Read", () => page),
    toolOf("stops", () => {
      this.#abort.abort();
      return new Promise<string>(() => undefined);
    }),
  ];

  static async on(scene: AgentScene): Promise<Played> {
    const played = new Played(scene);
    await played.#open();
    return played;
  }

  readonly #scene: AgentScene;
  #agent: Agent | undefined;
  private constructor(scene: AgentScene) {
    this.#scene = scene;
  }

  get agent(): Agent {
    if (this.#agent === undefined) throw new Error("not opened");
    return this.#agent;
  }

  async play(step: string): Promise<void> {
    const { agent } = this;
    const { simulator } = this.#scene;
    simulator.reset();
    const operations: Record<string, () => Promise<unknown>> = {
      compact: () => agent.compact({ keepRecentTokens: 500, force: true }),
      clear: () => agent.clearResults({ keep: 1 }),
      undo: () => agent.undo(),
      redo: () => agent.redo(),
      rewind: async () => {
        for (const prompt of await this.#middle()) await agent.rewind(prompt);
      },
      notes: () => agent.setNotes(agent.notes === "off" ? "built-in" : "off"),
      model: () => agent.setModel(agent.model, { windowTokens: 60_000 }),
      resume: () => this.#open(),
      "snip a round": async () => agent.snip({ ids: await this.#middle() }),
      "snip the newest": () => agent.snip({ keepLastTurns: 0 }),
      "from here": async () => agent.compact({ from: (await this.#middle())[0], force: true }),
      "up to here": async () => agent.compact({ upTo: (await this.#middle())[0], force: true }),
      collapse: () => agent.setCollapse(!agent.isCollapseOn),
      expand: () => agent.expand(),
    };
    const work = operations[step];
    if (work === undefined) await this.#say(step);
    else
      await work().catch((error: unknown) => {
        if (!(error instanceof LonghaulError)) throw error;
      });
    expect(simulator.requests.invalid, step).toEqual([]);
  }

  /**
   * Returns a list with the uuid of a prompt in the middle. The prompt may be before a compaction. Empty if
   * there are no prompts.
   */
  async #middle(): Promise<readonly string[]> {
    const prompts = await this.agent.prompts();
    const prompt = prompts[Math.floor(prompts.length / 2)];
    return prompt === undefined ? [] : [prompt.uuid];
  }

  async #say(how: string): Promise<void> {
    const { simulator } = this.#scene;
    const prompt = `Prompt number ${this.said.length}.`;
    this.said.push(prompt);
    this.#abort = new AbortController();
    if (how === "failed") simulator.fail(401);
    if (how === "stopped at once") this.#abort.abort();
    if (how === "with calls") simulator.reply(toolTurn("Read"), toolTurn("Read"));
    if (how === "stopped in a call") {
      const calls = ["Read", "stops", "Read"].map((name) => ({ type: "tool_use" as const, name, input: {} }));
      simulator.reply({ blocks: calls });
    }
    simulator.reply(textTurn(`An answer to ${prompt} ${page}`));
    if (how === "left") {
      for await (const { type } of this.agent.run(prompt)) if (type === "window") break;
      return;
    }
    await ran(this.agent, prompt, {
      signal: this.#abort.signal,
      onEvent: ({ type }) => {
        if (type === "text" && how === "stopped in the answer") this.#abort.abort();
      },
    });
  }

  async #open(): Promise<void> {
    const before = this.#agent;
    await before?.close();
    const session = before === undefined || this.said.length === 0 ? undefined : before.sessionPath;
    this.#agent = await this.#scene.open({ session, tools: () => this.#tools });
    if (session !== undefined)
      expect(uuids(this.agent.conversation)).toEqual(uuids(before?.conversation ?? []));
  }
}

describe("an agent under any sequence of operations", () => {
  it("an agent sends only valid requests, writes every message, and resumes its conversation unchanged", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 16 }), async (steps) => {
        await using scene = await agentScene({ windowTokens: 60_000, behaviors: [summaries()] });
        const played = await Played.on(scene);
        for (const each of steps) await played.play(each);
        const { agent, said } = played;
        await agent.close();
        if (said.length === 0) return;
        const { conversation } = await resumeSession(agent.sessionPath);
        expect(uuids(conversation)).toEqual(uuids(agent.conversation));
        const lines = await readFile(agent.sessionPath, "utf8");
        for (const prompt of said) expect(lines).toContain(JSON.stringify(prompt));
      }),
      { numRuns: 20 },
    );
  });
});
