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

/** Auto-compact is off, so that a turn at the blocking limit only reports the limit. */
const OPTIONS: CompactorOptions = {
  settings: { environment: {}, values: { autoCompactEnabled: false } },
  window: { tokens: 100_000 },
  clearing: { form: "off" },
  request: { system: "Be brief." },
  ports: { countText: (text) => Math.ceil(text.length / 5) },
};

/** Creates messages of this size. The blocking limit is 77,000 tokens. */
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

describe("exact token count of the provider", () => {
  it("requests one exact token count if the estimate is too close to the blocking limit", async () => {
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
    "requests no exact token count if the estimate of %i tokens is far from the blocking limit",
    async (tokens) => {
      await compactorOf(counting(exactly(tokens))).before(ofTokens(tokens));
      expect(asked).toEqual([]);
    },
  );

  it("requests no exact token count after a usage report or in a turn without new messages", async () => {
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

  it("requests no exact token count in compact() and clear(), or from a model that only estimates", async () => {
    const compactor = compactorOf(counting(exactly(70_000)));
    await compactor.compact(ofTokens(72_000)).catch(() => undefined);
    await compactor.clear(ofTokens(72_000)).catch(() => undefined);
    await compactorOf(counting(exactly(1), false)).before(ofTokens(72_000));
    expect(asked).toEqual([]);
  });

  it("requests only one exact token count in a whole conversation without usage reports", async () => {
    const compactor = compactorOf(counting(async (request) => exactly(request.messages.length * 6_000)()));
    let messages: readonly ApiMessage[] = [];
    let turns = 0;
    for (; turns < 14; turns++) {
      messages = [...messages, ...ofTokens(6_000)];
      await compactor.before(messages);
      await compactor.before(messages);
      messages = [...messages, { role: "assistant", content: "yes" }];
    }
    // The exact count is a baseline. The estimate of later messages is added to it.
    expect(asked).toHaveLength(1);
  });

  it.each<readonly [string, () => Promise<TokenCount>]>([
    ["fails", () => Promise.reject(new ModelError({ kind: "other", retry: true }, "no such endpoint"))],
    ["rejects with a value that is no error", () => Promise.reject("no")],
    ["is only an estimate", async () => ({ tokens: 5, source: "estimate" })],
    ["is not a number", exactly(Number.NaN)],
  ])("uses the estimate and requests no further token count if the exact count %s", async (_, count) => {
    const compactor = compactorOf(counting(count));
    const turn = await compactor.before(ofTokens(72_000));
    expect(turn.tokens).toBeGreaterThan(71_000);
    expect(turn.problem).toBeUndefined();
    await compactor.before(ofTokens(74_000));
    expect(asked).toHaveLength(1);
    expect(events.filter(({ type }) => type === "tokens-counted")).toMatchObject([{ outcome: "failed" }]);
  });

  it("uses the estimate if the exact token count takes two seconds, even if the call ignores its signal", async () => {
    vi.useFakeTimers();
    const compactor = compactorOf(counting(() => new Promise<never>(() => undefined)));
    const before = compactor.before(ofTokens(72_000));
    await vi.advanceTimersByTimeAsync(2_000);
    expect((await before).tokens).toBeGreaterThan(71_000);
    expect(events.filter(({ type }) => type === "tokens-counted")).toMatchObject([{ outcome: "timed-out" }]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("an abort ends the request for an exact token count and the turn", async () => {
    const abort = new AbortController();
    const compactor = compactorOf(counting(() => new Promise<never>(() => undefined)));
    const before = compactor.before(ofTokens(72_000), { signal: abort.signal });
    const failed = expect(before).rejects.toMatchObject({ code: "model-aborted" });
    await Promise.resolve();
    abort.abort();
    await failed;
  });
});
