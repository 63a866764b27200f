import type { ApiMessage, Message, Turn } from "@longhaul/core";
import { type Simulator, startSimulator } from "@longhaul/simulator";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ConversationBuilder, toolResult, toolUse } from "../support/builders.ts";
import { type Compactor, createCompactor } from "../support/full-compactor.ts";
import { connect } from "./agent-loop.case.ts";

/** A model that accepts thinking of type `enabled`. */
const MODEL = "claude-haiku-4-5";
const request = {
  max_tokens: 4_096,
  thinking: { type: "enabled" as const, budget_tokens: 1_024 },
  tools: [{ name: "Read", description: "Reads a file.", input_schema: { type: "object" as const } }],
};

let simulator: Simulator;
beforeEach(async () => {
  simulator = await startSimulator({ keepBodies: 20 });
});
afterEach(() => simulator.close());

const engine = (): Compactor =>
  createCompactor({
    model: MODEL,
    settings: { environment: {} },
    request,
    compaction: { summarizer: "built-in", background: false },
  });

const words = (count: number, seed: number): string =>
  Array.from({ length: count }, (_, at) => `word${(at * 7 + seed * 13) % 997}`).join(" ");

/** Creates rounds without thinking, because thinking was off at the time. */
const rounds = (count: number): readonly ApiMessage[] => [
  { role: "user", content: "Read all files." },
  ...Array.from({ length: count }, (_, at): readonly ApiMessage[] => [
    { role: "assistant", content: [toolUse(`t${at}`, "Read", { file_path: `/f${at}` })] },
    { role: "user", content: [toolResult(`t${at}`, words(400, at))] },
  ]).flat(),
];

async function send({ request: { messages } }: Turn<Message>): Promise<void> {
  const call = connect(simulator, MODEL).stream({ ...request, messages });
  for await (const _ of call) {
    // Nothing to do here: the simulator has logged the request.
  }
}

describe("a conversation without thinking while thinking is enabled", () => {
  it("the provider accepts a request whose messages after a tool result were summarized", async () => {
    const compactor = engine();
    const messages = rounds(12);
    await compactor.before(messages);
    const compacted = await compactor.compact(messages, { from: 9, force: true });
    const turn = await compactor.before(compacted.messages);
    await send(turn);
    expect(simulator.requests.invalid).toEqual([]);
    expect(compacted.findings.at(-1)).toMatchObject({ rule: "thinking-not-first", action: "text-added" });
  });

  it.each<readonly [string, (compactor: Compactor, messages: readonly Message[]) => Promise<Turn<Message>>]>([
    [
      "a summary of its older part",
      (compactor, messages) => compactor.compact(messages, { upTo: 9, force: true }),
    ],
    ["a snip", (compactor, messages) => compactor.snip(messages, { from: 2, to: 9 })],
    ["clearing", (compactor, messages) => compactor.clear(messages)],
  ])(
    "after %s, the provider accepts a request that has no thinking, whether the host passes messages or entries",
    async (_, rewrite) => {
      const c = new ConversationBuilder();
      c.user("Read all files.");
      for (let at = 0; at < 12; at++) c.tool(`t${at}`, "Read", { file_path: `/f${at}` }, words(400, at));
      for (const messages of [rounds(12), c.entries] as readonly (readonly Message[])[]) {
        const compactor = engine();
        await compactor.before(messages);
        await send(await compactor.before((await rewrite(compactor, messages)).messages));
      }
      expect(simulator.requests.all).toHaveLength(2);
      expect(simulator.requests.invalid).toEqual([]);
    },
  );

  it("the engine recovers when the provider requires thinking although the host did not enable it", async () => {
    const c = new ConversationBuilder();
    c.user("Read all files.");
    for (let at = 0; at < 3; at++) c.tool(`t${at}`, "Read", { file_path: `/f${at}` }, words(40, at));
    for (const messages of [rounds(3), c.entries] as readonly (readonly Message[])[]) {
      const { thinking: _, ...known } = request;
      const compactor = createCompactor({ model: MODEL, settings: { environment: {} }, request: known });
      const error: unknown = await send(await compactor.before(messages)).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: "model-thinking-missing" });
      const again = await compactor.recover(error);
      expect(again?.request.thinking).toBeUndefined();
      await send(again as Turn<Message>);
      await send(await compactor.before(again?.messages ?? []));
      // The engine does not recover a second time, so the user sees the second refusal.
      expect(await compactor.recover(error)).toBeUndefined();
    }
    expect(simulator.requests.all).toHaveLength(6);
    expect(simulator.requests.invalid).toHaveLength(2);
  });

  it("the engine adds placeholder texts while a turn lacks thinking, and omits them in the next turn", async () => {
    const compactor = engine();
    const first = await compactor.before(rounds(2));
    expect(first.request.messages).toHaveLength(7);
    const thought = { type: "thinking" as const, thinking: "hm", signature: "s" };
    const reply: ApiMessage = { role: "assistant", content: [thought, toolUse("new", "Read", {})] };
    const result: ApiMessage = { role: "user", content: [toolResult("new", "x")] };
    const second = await compactor.before([...rounds(2), reply, result]);
    expect(second.request.messages.slice(0, 7)).toEqual(first.request.messages);
    expect(second.request.messages).toHaveLength(9);
    const done: ApiMessage = { role: "assistant", content: "Done." };
    const own = [...rounds(2), reply, result, done, { role: "user" as const, content: "Thanks." }];
    expect((await compactor.before(own)).request.messages).toEqual(own);
  });
});
