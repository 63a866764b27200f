import { describe, expect, it } from "vitest";
import { ConversationBuilder, usage } from "../../../../test/support/builders.ts";
import type { AssistantEntry, Entry } from "./entry.ts";
import { inputTokens, isOutputProvisional, reportedUsage } from "./responses.ts";

const said = (figures: unknown, fields: Partial<AssistantEntry> = {}): Entry => {
  const entry = new ConversationBuilder().assistant("so", fields);
  return { ...entry, message: { ...entry.message, usage: figures } } as Entry;
};

describe("usage of a response", () => {
  it("inputTokens includes cache reads and cache writes", () => {
    expect(inputTokens(usage(1, 9, 20, 300))).toBe(321);
    expect(inputTokens({ input_tokens: 1, output_tokens: 9 })).toBe(1);
    const nulls = { cache_creation_input_tokens: null, cache_read_input_tokens: null };
    expect(inputTokens({ input_tokens: 1, output_tokens: 9, ...nulls })).toBe(1);
  });

  it("reportedUsage returns the usage object of an entry unchanged", () => {
    const figures = usage(0, 0, 5);
    expect(reportedUsage(said(figures))).toBe(figures);
  });

  it("reportedUsage returns no usage if the input is zero or a figure is invalid", () => {
    const odd = [
      undefined,
      null,
      usage(0, 10),
      { input_tokens: 5 },
      { output_tokens: 5, cache_read_input_tokens: 5 },
      { input_tokens: Number.NaN, output_tokens: 1 },
      { input_tokens: 5, output_tokens: Number.POSITIVE_INFINITY },
    ];
    for (const figures of odd) expect(reportedUsage(said(figures))).toBeUndefined();
  });

  it("reportedUsage returns no usage for entries that no model wrote", () => {
    expect(reportedUsage(said(usage(5, 5), { isApiErrorMessage: true }))).toBeUndefined();
    const synthetic = said(usage(5, 5)) as AssistantEntry;
    const message = { ...synthetic.message, model: "<synthetic>" };
    expect(reportedUsage({ ...synthetic, message })).toBeUndefined();
    expect(reportedUsage({ ...synthetic, type: "user" } as unknown as Entry)).toBeUndefined();
    expect(reportedUsage({ type: "assistant" } as unknown as Entry)).toBeUndefined();
  });

  it("the output figure of a response is provisional only if its stop reason is null", () => {
    const entry = new ConversationBuilder().assistant("so");
    const stopped = (stop_reason: string | null): AssistantEntry => ({
      ...entry,
      message: { ...entry.message, stop_reason },
    });
    expect(isOutputProvisional(stopped(null))).toBe(true);
    expect(isOutputProvisional(stopped("end_turn"))).toBe(false);
    expect(isOutputProvisional(entry)).toBe(false);
  });
});
