import { describe, expect, it } from "vitest";
import { toolResult, toolUse } from "../../../../test/support/builders.ts";
import { createCompactor } from "../../../../test/support/full-compactor.ts";
import type { ApiMessage } from "../messages/message.ts";
import type { CompactorEvent } from "./events.ts";

const WINDOW_TOKENS = 24_000;

const round = (id: string, words: number): readonly ApiMessage[] => [
  { role: "assistant", content: [toolUse(id, "Read", { file_path: `/project/${id}.ts` })] },
  { role: "user", content: [toolResult(id, `${id} tide `.repeat(words))] },
];

/** Runs a conversation that overflows once and recovers, and reports the usage of the recovered call. */
async function reportAfterOverflow(options: { words: number; stated: string; factor: number }) {
  const events: CompactorEvent[] = [];
  const compactor = createCompactor({
    model: "claude-haiku-4-5",
    window: { tokens: WINDOW_TOKENS },
    request: { system: "You are careful.", max_tokens: 1_000 },
    compaction: { summarizer: "built-in", reactiveOnly: true },
    clearing: { form: "off" },
    settings: { environment: {} },
    host: { onEvent: (event) => events.push(event) },
  });
  const list = [
    { role: "user", content: "Look." } as const,
    ...round("t0", 200),
    ...round("t1", options.words),
  ];
  const { tokens } = await compactor.before(list);
  const error = { status: 400, error: { error: { type: "invalid_request_error", message: options.stated } } };
  const recovered = await compactor.recover(Object.assign(new Error(options.stated), error));
  const reported = Math.round((recovered?.tokens ?? 0) * options.factor);
  compactor.after({ id: "msg_1", usage: { input_tokens: reported, output_tokens: 5 } });
  return { tokens, recovered, distrusted: events.filter(({ type }) => type === "usage-distrusted") };
}

describe("a high usage report after an overflow", () => {
  it("distrusts a usage report above the limit that the overflow error stated", async () => {
    const stated = `prompt is too long: 30000 tokens > ${WINDOW_TOKENS} maximum`;
    const { tokens, recovered, distrusted } = await reportAfterOverflow({ words: 4_000, stated, factor: 12 });
    expect(tokens).toBeLessThan(WINDOW_TOKENS);
    expect(recovered).toBeDefined();
    expect(distrusted).toMatchObject([{ why: "too-high" }]);
  });

  it("distrusts a high usage report after an overflow that the engine had expected", async () => {
    const stated = "prompt is too long";
    const { tokens, recovered, distrusted } = await reportAfterOverflow({
      words: 20_000,
      stated,
      factor: 12,
    });
    expect(tokens).toBeGreaterThan(WINDOW_TOKENS);
    expect(recovered).toBeDefined();
    expect(distrusted).toMatchObject([{ why: "too-high" }]);
  });
});

describe("the request after an overflow", () => {
  it("after an overflow, the new request leaves enough tokens for the output that the error states", async () => {
    const maxTokens = 64_000;
    const compactor = createCompactor({
      model: "claude-haiku-4-5",
      window: { tokens: 200_000 },
      request: { system: "You are careful.", max_tokens: maxTokens },
      compaction: { summarizer: "built-in", reactiveOnly: true },
      clearing: { form: "off" },
      settings: { environment: {} },
    });
    const list = [{ role: "user", content: "Look." } as const, ...round("t0", 200), ...round("t1", 60_000)];
    const { tokens } = await compactor.before(list);
    const message = `input length and \`max_tokens\` exceed context limit: ${tokens} + ${maxTokens} > 200000, decrease input length or \`max_tokens\` and try again`;
    const error = { status: 400, error: { error: { type: "invalid_request_error", message } } };
    const recovered = await compactor.recover(Object.assign(new Error(message), error));
    expect(tokens).toBeGreaterThan(200_000 - maxTokens);
    expect(recovered?.tokens).toBeGreaterThan(50_000);
    expect(recovered?.tokens).toBeLessThan(200_000 - maxTokens);
  });
});
