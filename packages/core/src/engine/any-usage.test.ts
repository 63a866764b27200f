import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createCompactor } from "../../../../test/support/full-compactor.ts";
import { ESTIMATORS } from "../measure/tokens/estimators.ts";
import { measureRequest } from "../measure/tokens/measure.ts";
import type { ApiMessage } from "../messages/message.ts";
import { inputTokens } from "../messages/responses.ts";
import { readResponse } from "./after.ts";
import type { AnyUsage } from "./options.ts";

const own = (usage: AnyUsage) => readResponse({ usage }).usage;

const FORMS: readonly (readonly [string, AnyUsage])[] = [
  ["the Messages API", { input_tokens: 300, output_tokens: 50, cache_read_input_tokens: 700 }],
  [
    "OpenAI Chat Completions",
    { prompt_tokens: 1_000, completion_tokens: 50, prompt_tokens_details: { cached_tokens: 700 } },
  ],
  [
    "OpenAI Responses",
    { input_tokens: 1_000, output_tokens: 50, input_tokens_details: { cached_tokens: 700 } },
  ],
  ["the AI SDK", { inputTokens: 1_000, outputTokens: 50, cachedInputTokens: 700 }],
  [
    "the AI SDK with details",
    {
      inputTokens: 1_000,
      outputTokens: 50,
      inputTokenDetails: { cacheReadTokens: 600, cacheWriteTokens: 100 },
    },
  ],
];

describe("usage reports of several providers and SDKs", () => {
  it.each(FORMS)("counts every input token once in a usage report of %s", (_, usage) => {
    const read = own(usage);
    expect(read?.input_tokens).toBe(300);
    expect(read?.output_tokens).toBe(50);
    expect(read && inputTokens(read)).toBe(1_000);
  });

  it.each(FORMS)(
    "the engine uses the size of the conversation from a usage report of %s",
    async (_, usage) => {
      const compactor = createCompactor({ model: "claude-haiku-4-5", settings: { environment: {} } });
      const ask = { role: "user", content: "tide table ".repeat(480) } as const;
      const turn = await compactor.before([ask]);
      expect(turn.tokens).toBeGreaterThan(600);
      compactor.after({ usage });
      const next = await compactor.before([ask, { role: "assistant", content: "ok" }]);
      expect(next.tokens).toBe(1_050);
    },
  );
});

describe("readResponse", () => {
  it("readResponse returns a usage report of the Messages API as the same object", () => {
    const usage = { input_tokens: 1, output_tokens: 2 };
    expect(own(usage)).toBe(usage);
    expect(readResponse({}).usage).toBeUndefined();
    expect(readResponse({ usage: null }).usage).toBeNull();
  });

  it("readResponse adds the cached tokens to the input tokens if there are more cached than input tokens", () => {
    const read = own({ inputTokens: 100, outputTokens: 5, cachedInputTokens: 900 });
    expect(read && inputTokens(read)).toBe(1_000);
  });

  it("distrusts a usage report with missing figures instead of reading them as zero", () => {
    const events: string[] = [];
    const host = { onEvent: ({ type }: { readonly type: string }) => void events.push(type) };
    const compactor = createCompactor({ model: "claude-haiku-4-5", settings: { environment: {} }, host });
    return compactor.before([{ role: "user", content: "hi" }]).then(() => {
      compactor.after({ usage: { inputTokens: undefined, outputTokens: undefined } as AnyUsage });
      compactor.after({ usage: { prompt_tokens: "many" } as unknown as AnyUsage });
      expect(events.filter((type) => type === "usage-distrusted").length).toBeGreaterThan(0);
    });
  });

  it("never counts a token of an OpenAI usage report twice, whatever the cache size", () => {
    fc.assert(
      fc.property(fc.nat(1_000_000), fc.nat(1_000_000), fc.nat(10_000), (a, b, completion_tokens) => {
        const [cached_tokens, prompt_tokens] = a < b ? [a, b] : [b, a];
        const read = own({ prompt_tokens, completion_tokens, prompt_tokens_details: { cached_tokens } });
        expect(read && inputTokens(read)).toBe(prompt_tokens);
        expect(read?.output_tokens).toBe(completion_tokens);
      }),
    );
  });
});

describe("responses that all have the same id", () => {
  it("the engine counts and compacts correctly even if every response has the same id", async () => {
    const compactor = createCompactor({
      model: "claude-haiku-4-5",
      window: { tokens: 32_000 },
      settings: { environment: {} },
    });
    let messages: readonly ApiMessage[] = [{ role: "user", content: "begin" }];
    let compactions = 0;
    for (let round = 1; round <= 60; round++) {
      const turn = await compactor.before(messages);
      const tokens = Math.round(measureRequest(turn.request, ESTIMATORS.o200k) * 1.1) + 400;
      expect(Math.abs(turn.tokens - tokens)).toBeLessThan(tokens * 0.25 + 500);
      if (turn.compaction !== undefined) compactions += 1;
      compactor.after({ id: "chatcmpl", usage: { prompt_tokens: tokens, completion_tokens: 30 } });
      const id = `call_${round}`;
      messages = [
        ...turn.messages,
        { role: "assistant", content: [{ type: "tool_use", id, name: "Look", input: {} }] },
        {
          role: "user",
          content: [{ type: "tool_result", tool_use_id: id, content: `${id} tide table `.repeat(300) }],
        },
      ];
    }
    expect(compactions).toBeGreaterThan(1);
    expect(compactions).toBeLessThan(10);
  });
});
