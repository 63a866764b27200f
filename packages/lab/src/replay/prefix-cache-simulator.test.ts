import type { ContentBlock, Entry } from "@longhaul/core/messages";
import type { ModelRequest } from "@longhaul/core/models";
import { withCacheMarks } from "@longhaul/core/models";
import { flatten } from "@longhaul/core/request";
import { describe, expect, it } from "vitest";
import { measureBlock } from "../../../core/src/measure/tokens/measure.ts";
import { type Body, createScene } from "../../../simulator/src/anthropic/prompt/scene.case.ts";
import { createDemoSession } from "../../../simulator/src/demo-session.ts";
import { PrefixCache } from "./prefix-cache.ts";
import { recordedCalls } from "./recorded-calls.ts";

const SYSTEM: readonly ContentBlock[] = [{ type: "text", text: "You are an agent. ".repeat(600) }];

/** Returns the requests of a session and their times. The history is cut once, in the middle. */
function requestsOf(entries: readonly Entry[]): readonly { request: ModelRequest; at: number }[] {
  const { calls } = recordedCalls({ entries, isRepeated: () => false });
  let said: readonly Entry[] = [];
  return calls.map(({ newEntries: news, startedAt }, index) => {
    said = [...(index === Math.floor(calls.length / 2) ? said.slice(-20) : said), ...news];
    const request = { system: SYSTEM, messages: flatten(said, { request: { model: "claude-sonnet-4-6" } }) };
    return { request: withCacheMarks(request), at: startedAt };
  });
}

describe("PrefixCache compared with the simulator", () => {
  it("PrefixCache and the simulator count the same cached and uncached tokens, within 3% of each prompt", async () => {
    const scene = await createScene();
    const cache = new PrefixCache({
      minimumTokens: 1_024,
      tokensOf: (block) => measureBlock(block as ContentBlock, (text) => text.length),
    });
    const requests = requestsOf(createDemoSession({ approximateTokens: 60_000 }));
    expect(requests.length).toBeGreaterThan(50);
    const sums = { ours: [0, 0, 0], theirs: [0, 0, 0] };
    const hits = { ours: 0, theirs: 0 };
    for (const { request, at } of requests) {
      scene.clock.advance(at - scene.clock.now());
      const usage = scene.send(request as unknown as Body);
      const { read, written, plain } = cache.call(request, at);
      const theirs = [
        usage.cache_read_input_tokens,
        usage.cache_creation_input_tokens,
        usage.input_tokens,
      ] as const;
      const total = theirs[0] + theirs[1] + theirs[2];
      for (const [index, figure] of [read, written, plain].entries()) {
        expect(Math.abs(figure - (theirs[index] ?? 0))).toBeLessThan(total * 0.03);
        sums.ours[index] = (sums.ours[index] ?? 0) + figure;
        sums.theirs[index] = (sums.theirs[index] ?? 0) + (theirs[index] ?? 0);
      }
      hits.ours += read > 0 ? 1 : 0;
      hits.theirs += theirs[0] > 0 ? 1 : 0;
    }
    expect(hits.ours).toBe(hits.theirs);
    for (const index of [0, 1]) {
      expect((sums.ours[index] ?? 0) / (sums.theirs[index] ?? 1)).toBeCloseTo(1, 1);
    }
  });
});
