import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { LonghaulError } from "../messages/errors.ts";
import { ModelError } from "../models/model-error.ts";
import { createCompactor } from "./create-compactor.ts";
import type { CompactorEvent } from "./events.ts";
import type { Compactor, Message, Turn } from "./options.ts";

/** Rounds of the event loop until a part arrives, for each load in turn. */
const delays = vi.hoisted(() => ({ rounds: [] as number[], loads: 0 }));

vi.mock("../models/load-part.ts", async (importOriginal) => {
  const real = await importOriginal<typeof import("../models/load-part.ts")>();
  const loadPart: typeof real.loadPart = (part, load, signal) =>
    real.loadPart(
      part,
      async () => {
        const rounds = delays.rounds[delays.loads++ % Math.max(1, delays.rounds.length)] ?? 0;
        for (let round = 0; round < rounds; round++) await new Promise(setImmediate);
        return load();
      },
      signal,
    );
  return { ...real, loadPart };
});

const unhandled: unknown[] = [];
const note = (reason: unknown): void => void unhandled.push(reason);
beforeEach(() => {
  unhandled.length = 0;
  process.on("unhandledRejection", note);
});
afterEach(async () => {
  await new Promise(setImmediate);
  process.off("unhandledRejection", note);
  expect(unhandled).toEqual([]);
});

/** Calls that a host makes without waiting for the earlier ones. */
const CALLS = ["before", "after", "recover", "compact", "clear", "undo", "child", "abort", "close"] as const;
type Call = (typeof CALLS)[number];

const messagesOf = (count: number): readonly Message[] =>
  Array.from({ length: count }, (_, index) => ({
    role: index % 2 === 0 ? "user" : "assistant",
    content: `Message ${index}: ${"all quiet in the harbour ".repeat(40)}`,
  }));
const tooLong = new ModelError({ kind: "too-long", tokens: 14_000, limit: 12_000 }, "too long");

interface Outcome {
  readonly results: readonly unknown[];
  readonly events: readonly string[];
}

const codeOf = (error: unknown): unknown => (error instanceof LonghaulError ? error.code : error);
const resultOf = (turn: Turn<Message> | undefined): unknown =>
  turn && { messages: turn.messages, tokens: turn.tokens, problem: turn.problem?.code };

/** Makes all calls at once, with these delays, and returns everything that the host sees. */
async function run(calls: readonly Call[], rounds: readonly number[]): Promise<Outcome> {
  delays.rounds = [...rounds];
  delays.loads = 0;
  let ids = 0;
  const events: string[] = [];
  const main = createCompactor({
    settings: { environment: {} },
    window: { tokens: 12_000 },
    ports: { now: () => new Date(0), newUuid: () => `id-${ids++}` },
    host: {
      onEvent: ({ type, agentId }: CompactorEvent) =>
        events.push(agentId === undefined ? type : `child ${type}`),
    },
  });
  const abort = new AbortController();
  const { signal } = abort;
  let count = 30;
  const make = (call: Call, compactor: Compactor): Promise<unknown> | undefined => {
    const messages = messagesOf(count);
    switch (call) {
      case "before":
        count += 2;
        return compactor.before(messages, { signal }).then(resultOf);
      case "after":
        compactor.after({
          content: [{ type: "text", text: "on" }],
          usage: { input_tokens: 9_000, output_tokens: 9 },
        });
        return undefined;
      case "recover":
        return compactor.recover<Message>(tooLong).then(resultOf);
      case "compact":
        return compactor.compact(messages, { signal }).then(resultOf);
      case "clear":
        return compactor.clear(messages).then(resultOf);
      case "undo":
        return compactor.undo(messages).then(resultOf);
      case "child":
        return make("before", compactor.child({ agentId: "child" }));
      case "abort":
        abort.abort();
        return undefined;
      case "close":
        return compactor.close();
    }
  };
  const made = calls.map((call) => make(call, main)?.catch(codeOf));
  const results = await Promise.all(made);
  await main.close();
  return { results, events };
}

describe("calls that a host makes while parts of core load", () => {
  it("however long the parts take, all results and events of one conversation are the same", async () => {
    const property = fc.asyncProperty(
      fc.array(fc.constantFrom(...CALLS), { minLength: 1, maxLength: 6 }),
      fc.array(fc.nat({ max: 4 }), { minLength: 1, maxLength: 4 }),
      async (calls, rounds) => {
        // The events of a child and of its parent may interleave in any order.
        const [slow, fast] = [await run(calls, rounds), await run(calls, [0])];
        const own = ({ events }: Outcome): readonly string[] =>
          events.filter((type) => !type.startsWith("child"));
        expect(own(slow)).toEqual(own(fast));
        expect([...slow.events].sort()).toEqual([...fast.events].sort());
        const withoutIds = ({ results }: Outcome): string => JSON.stringify(results).replace(/id-\d+/g, "id");
        expect(withoutIds(slow)).toBe(withoutIds(fast));
      },
    );
    await fc.assert(property, { numRuns: 150 });
  });
});
