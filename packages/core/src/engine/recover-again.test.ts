import { describe, expect, it } from "vitest";
import { toolResult, toolUse } from "../../../../test/support/builders.ts";
import { type Compactor, createCompactor } from "../../../../test/support/full-compactor.ts";
import type { ApiMessage } from "../messages/message.ts";
import type { Turn } from "./options.ts";

const round = (id: string, words: number): readonly ApiMessage[] => [
  { role: "assistant", content: [toolUse(id, "Read", { file_path: `/project/${id}.ts` })] },
  { role: "user", content: [toolResult(id, `${id} tide `.repeat(words))] },
];

/** Opens a turn whose last result fills most of a 48,000-token window. */
async function openTurn(): Promise<Compactor> {
  const compactor = createCompactor({
    model: "claude-haiku-4-5",
    window: { tokens: 48_000 },
    request: { system: "You are careful.", max_tokens: 1_000 },
    compaction: { summarizer: "built-in", reactiveOnly: true },
    clearing: { form: "off" },
    settings: { environment: {} },
  });
  await compactor.before([{ role: "user", content: "Look." }, ...round("t0", 2_000), ...round("t1", 7_000)]);
  return compactor;
}

const failed = (status: number, type: string, message: string): Error =>
  Object.assign(new Error(message), { status, error: { error: { type, message } } });
const tooLarge = failed(413, "request_too_large", "Request exceeds the maximum size");
const tooLong = (tokens: number, limit: number): Error =>
  failed(400, "invalid_request_error", `prompt is too long: ${tokens} tokens > ${limit} maximum`);

describe("a second overflow, of a request that recover() returned", () => {
  it("recovers from a second overflow if only the second error states a limit, below the host's window", async () => {
    const compactor = await openTurn();
    const first = await compactor.recover(tooLarge);
    expect(first?.tokens).toBeGreaterThan(20_000);
    const second = await compactor.recover(tooLong(first?.tokens ?? 0, 20_000));
    expect(second?.tokens).toBeLessThan(20_000 - 1_000);
  });

  it("recovers from a second overflow if its error states a smaller prompt that is still too long", async () => {
    const compactor = await openTurn();
    const first = (await compactor.recover(tooLong(60_000, 48_000))) as Turn;
    const factor = 2.6;
    const stated = Math.round(first.tokens * factor);
    expect(stated).toBeGreaterThan(48_000);
    const second = await compactor.recover(tooLong(stated, 48_000));
    expect((second?.tokens ?? Number.POSITIVE_INFINITY) * factor).toBeLessThan(48_000 - 1_000);
  });

  it.each([
    ["repeats the same figures", tooLong(60_000, 48_000)],
    ["states a larger prompt", tooLong(70_000, 48_000)],
    ["states no figures", failed(400, "invalid_request_error", "prompt is too long")],
    ["is about the size in bytes", tooLarge],
  ])("recover() returns nothing for a second overflow if its error %s", async (_, error) => {
    const compactor = await openTurn();
    expect(await compactor.recover(tooLong(60_000, 48_000))).toBeDefined();
    expect(await compactor.recover(error)).toBeUndefined();
  });

  it("recovers at most three times in a row even if each error states a smaller prompt", async () => {
    const compactor = await openTurn();
    let recoveries = 0;
    while ((await compactor.recover(tooLong(90_000 - recoveries, 48_000))) !== undefined) recoveries += 1;
    expect(recoveries).toBeLessThanOrEqual(3);
  });
});
