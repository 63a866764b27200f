import { scriptedModel } from "@longhaul/simulator";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  type Compactor,
  type CompactorOptions,
  createCompactor,
} from "../../../../test/support/full-compactor.ts";
import type { ApiMessage } from "../messages/message.ts";
import { ModelError } from "../models/model-error.ts";
import type { Model, ModelRequest, TokenCount } from "../models/port.ts";
import type { CompactorEvent } from "./events.ts";

/** Auto-compact is off, so that a turn at the limit only reports it. */
const OPTIONS: CompactorOptions = {
  settings: { environment: {}, values: { autoCompactEnabled: false } },
  window: { tokens: 100_000 },
  clearing: { form: "off" },
  request: { system: "Be brief." },
  ports: { countText: (text) => Math.ceil(text.length / 5) },
};

/** The blocking limit is 77,000 tokens. */
const ofTokens = (tokens: number): readonly ApiMessage[] => [
  { role: "user", content: "word ".repeat(tokens) },
];

let events: CompactorEvent[];
let asked: ModelRequest[];
beforeEach(() => {
  events = [];
  asked = [];
});
afterEach(() => void vi.useRealTimers());

function counting(count: (request: ModelRequest) => Promise<TokenCount>, isExact = true): Model {
  const capabilities = { countTokens: isExact ? "exact" : "estimate" } as const;
  return {
    ...scriptedModel([], { name: "local", capabilities }),
    countTokens: (request) => {
      asked.push(request);
      return count(request);
    },
  };
}

const compactorOf = (model: Model, more: CompactorOptions = {}): Compactor =>
  createCompactor({ ...OPTIONS, ...more, model, host: { onEvent: (event) => events.push(event) } });

const exactly = (tokens: number) => async (): Promise<TokenCount> => ({ tokens, source: "exact" });

describe("the provider's own count", () => {
  it("decides where the blocking limit lies within the error of the estimate, with one call", async () => {
    const below = await compactorOf(counting(exactly(70_000))).before(ofTokens(80_000));
    expect(below.tokens).toBe(70_000);
    expect(below.problem).toBeUndefined();
    const above = await compactorOf(counting(exactly(79_000))).before(ofTokens(72_000));
    expect(above.tokens).toBe(79_000);
    expect(above.problem).toMatchObject({ code: "window-full" });
    expect(asked).toHaveLength(2);
    expect(asked[0]).toMatchObject({ system: "Be brief.", messages: [{ role: "user" }] });
  });

  it.each([10_000, 50_000, 120_000])(
    "is not asked for where the estimate of %i tokens decides",
    async (tokens) => {
      await compactorOf(counting(exactly(tokens))).before(ofTokens(tokens));
      expect(asked).toEqual([]);
    },
  );

  it("is not asked for once usage has been reported, nor on a turn with nothing new", async () => {
    const compactor = compactorOf(counting(exactly(70_000)));
    const messages = ofTokens(72_000);
    await compactor.before(messages);
    await compactor.before(messages);
    expect(asked).toHaveLength(1);
    compactor.after({ usage: { input_tokens: 70_100, output_tokens: 5 } });
    const answered: readonly ApiMessage[] = [...messages, { role: "assistant", content: "yes" }];
    await compactor.before([...answered, { role: "user", content: "on" }]);
    await compactor.before([...answered, { role: "user", content: "on" }]);
    expect(asked).toHaveLength(1);
  });

  it("is not asked for by compact() and clear(), nor of a model that only estimates", async () => {
    const compactor = compactorOf(counting(exactly(70_000)));
    await compactor.compact(ofTokens(72_000)).catch(() => undefined);
    await compactor.clear(ofTokens(72_000)).catch(() => undefined);
    await compactorOf(counting(exactly(1), false)).before(ofTokens(72_000));
    expect(asked).toEqual([]);
  });

  it("asks at most once per decision over a whole conversation without usage", async () => {
    const compactor = compactorOf(counting(async (request) => exactly(request.messages.length * 6_000)()));
    let messages: readonly ApiMessage[] = [];
    let turns = 0;
    for (; turns < 14; turns++) {
      messages = [...messages, ...ofTokens(6_000)];
      await compactor.before(messages);
      await compactor.before(messages);
      messages = [...messages, { role: "assistant", content: "yes" }];
    }
    // The count is a baseline, and later messages are estimated on top of it.
    expect(asked).toHaveLength(1);
  });

  it.each<readonly [string, () => Promise<TokenCount>]>([
    ["fails", () => Promise.reject(new ModelError({ kind: "other", retry: true }, "no such endpoint"))],
    ["throws something that is no error", () => Promise.reject("no")],
    ["is only an estimate after all", async () => ({ tokens: 5, source: "estimate" })],
    ["is no number", exactly(Number.NaN)],
  ])("gives way to the estimate where it %s, and is not asked for again", async (_, count) => {
    const compactor = compactorOf(counting(count));
    const turn = await compactor.before(ofTokens(72_000));
    expect(turn.tokens).toBeGreaterThan(71_000);
    expect(turn.problem).toBeUndefined();
    await compactor.before(ofTokens(74_000));
    expect(asked).toHaveLength(1);
    expect(events.filter(({ type }) => type === "tokens-counted")).toMatchObject([{ outcome: "failed" }]);
  });

  it("gives way to the estimate after two seconds, also where the call ignores its signal", async () => {
    vi.useFakeTimers();
    const compactor = compactorOf(counting(() => new Promise<never>(() => undefined)));
    const before = compactor.before(ofTokens(72_000));
    await vi.advanceTimersByTimeAsync(2_000);
    expect((await before).tokens).toBeGreaterThan(71_000);
    expect(events.filter(({ type }) => type === "tokens-counted")).toMatchObject([{ outcome: "timed-out" }]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("ends with an abort, as the turn does", async () => {
    const abort = new AbortController();
    const compactor = compactorOf(counting(() => new Promise<never>(() => undefined)));
    const before = compactor.before(ofTokens(72_000), { signal: abort.signal });
    const failed = expect(before).rejects.toMatchObject({ code: "model-aborted" });
    await Promise.resolve();
    abort.abort();
    await failed;
  });
});
