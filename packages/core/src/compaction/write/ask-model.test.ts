import { scriptedModel } from "@longhaul/simulator";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ESTIMATORS } from "../../measure/tokens/estimators.ts";
import { measureRequest } from "../../measure/tokens/measure.ts";
import { ModelError, type ModelFailure } from "../../models/model-error.ts";
import type { ModelRequest } from "../../models/port.ts";
import { ask } from "./ask-model.ts";

const requestOf = (words: number, more: Partial<ModelRequest> = {}): ModelRequest => ({
  messages: [{ role: "user", content: "word ".repeat(words) }],
  ...more,
});
const tooLong = (figures: Omit<Extract<ModelFailure, { kind: "too-long" }>, "kind">): ModelError =>
  new ModelError({ kind: "too-long", ...figures }, "too long");

async function sent(request: ModelRequest, windowTokens: number): Promise<ModelRequest | undefined> {
  const model = scriptedModel(["fine"], { name: "claude-sonnet-4" });
  await ask(model, request, { windowOf: () => windowTokens });
  return model.requests[0];
}

describe("output limit of a summary request", () => {
  it("limits the output of a summary request to the tokens that the prompt leaves in the context window", async () => {
    for (const request of [requestOf(20_000), requestOf(20_000, { max_tokens: 64_000 })]) {
      const { max_tokens = Infinity } = (await sent(request, 32_000)) ?? {};
      expect(max_tokens).toBeLessThan(13_000);
      expect(max_tokens).toBeGreaterThan(10_000);
    }
  });

  it("sends a summary request unchanged when its output limit fits into the window", async () => {
    const request = requestOf(20_000, { max_tokens: 6_000 });
    expect(await sent(request, 32_000)).toBe(request);
  });

  it("sends a prompt that seems too long unchanged, so that the provider's error states the excess", async () => {
    const request = requestOf(40_000, { max_tokens: 6_000 });
    expect(await sent(request, 32_000)).toBe(request);
  });

  it("keeps the output limit of a summary request above its thinking budget", async () => {
    const thinking = { type: "enabled", budget_tokens: 12_000 };
    const { max_tokens } = (await sent(requestOf(20_000, { max_tokens: 20_000, thinking }), 32_000)) ?? {};
    expect(max_tokens).toBe(14_000);
  });

  it("fits any prompt and its output into the window, or requests the minimum output", async () => {
    const words = fc.integer({ min: 1, max: 3_000 });
    const window = fc.integer({ min: 1_000, max: 6_000 });
    const wanted = fc.option(fc.integer({ min: 1, max: 100_000 }), { nil: undefined });
    await fc.assert(
      fc.asyncProperty(words, window, wanted, async (count, windowTokens, max_tokens) => {
        const request = requestOf(count, max_tokens === undefined ? {} : { max_tokens });
        const prompt = measureRequest(request, ESTIMATORS.o200k);
        const { max_tokens: output = Infinity } = (await sent(request, windowTokens)) ?? {};
        const least = Math.floor(windowTokens / 16);
        // Tokens are whole, so the margin is rounded up.
        const isTooLong = Math.ceil(prompt * 1.05) >= windowTokens;
        expect(isTooLong || output <= least || prompt + output <= windowTokens).toBe(true);
        expect(output).toBeLessThanOrEqual(max_tokens ?? Infinity);
      }),
      { examples: [[1_040, 1_007, undefined]] },
    );
  });

  it("lowers the output limit to fit the figures in the provider's error", async () => {
    const refusal = tooLong({ tokens: 209_573, outputTokens: 21_333, limit: 200_000 });
    const model = scriptedModel([refusal, "fine"]);
    await ask(model, requestOf(10, { max_tokens: 21_333 }), {});
    expect(model.requests.map(({ max_tokens }) => max_tokens)).toEqual([21_333, 11_760]);
  });

  it("requests the minimum output when the provider's error states only a lower bound of the prompt size", async () => {
    const refusal = tooLong({ tokens: 262_145, outputTokens: 128_000, limit: 262_144, isLowerBound: true });
    const model = scriptedModel([refusal, "fine"]);
    await ask(model, requestOf(10, { max_tokens: 128_000 }), {});
    expect(model.requests.at(-1)?.max_tokens).toBe(4_000);
  });

  it("does not retry a request whose prompt alone is too long", async () => {
    for (const figures of [
      { tokens: 211_000, limit: 200_000 },
      { tokens: 219_000, outputTokens: 20_000, limit: 200_000 },
    ]) {
      const model = scriptedModel([tooLong(figures), "fine"]);
      await expect(ask(model, requestOf(10), {})).rejects.toMatchObject({ code: "model-too-long" });
      expect(model.requests).toHaveLength(1);
    }
  });
});
