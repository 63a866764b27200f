import { describe, expect, it } from "vitest";
import { billedCalls, modelOf, sumOf } from "./compaction-end.ts";
import { FORK_WRITTEN, USAGE } from "./events.case.ts";

const UNUSED = {
  ...USAGE,
  input_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
  output_tokens: 0,
};

describe("billedCalls", () => {
  it("billedCalls includes the provider's own compaction, whose tokens are only in the iterations of the usage", () => {
    const usage = {
      ...UNUSED,
      iterations: [
        { type: "compaction", input_tokens: 5_000, output_tokens: 700, cache_read_input_tokens: 40_000 },
        { type: "message", input_tokens: 1, output_tokens: 1 },
      ],
    };
    expect(sumOf(billedCalls({ attempts: [{ ...FORK_WRITTEN, step: "provider", usage }] }))).toEqual({
      input: 45_000,
      output: 700,
      cacheRead: 40_000,
      cacheCreation: 0,
    });
  });

  it("lists the usage of each summary attempt, or the total usage if no attempt reports its own", () => {
    const silent = { step: "fork", outcome: "failed", cuts: 0 } as const;
    expect(billedCalls({ attempts: [silent, FORK_WRITTEN, FORK_WRITTEN], usage: USAGE })).toHaveLength(2);
    expect(billedCalls({ attempts: [silent], usage: USAGE })).toHaveLength(1);
    expect(billedCalls({ attempts: [silent] })).toEqual([]);
  });

  it("counts negative and non-finite token figures as 0", () => {
    const usage = {
      ...USAGE,
      input_tokens: -5,
      output_tokens: Number.NaN,
      cache_read_input_tokens: Infinity,
    };
    expect(billedCalls({ attempts: [], usage })[0]?.tokens).toEqual({
      input: 3_000,
      output: 0,
      cacheRead: 0,
      cacheCreation: 3_000,
    });
  });
});

describe("modelOf", () => {
  it("modelOf returns the model that wrote the summary, or else the last model that was called", () => {
    const asked = (model: string) => ({ ...FORK_WRITTEN, outcome: "failed", model }) as const;
    expect(modelOf([asked("a"), { ...FORK_WRITTEN, model: "b" }, asked("c")])).toBe("b");
    expect(modelOf([asked("a"), asked("c"), { step: "built-in", outcome: "failed", cuts: 0 }])).toBe("c");
    expect(modelOf([{ step: "built-in", outcome: "written", cuts: 0 }])).toBeUndefined();
  });
});
