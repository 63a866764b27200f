import { expect, it } from "vitest";
import { ConversationBuilder, usage } from "../../../../test/support/builders.ts";
import { createCompactor } from "../../../../test/support/full-compactor.ts";
import { type CompactMetadata, isCompactBoundary } from "../messages/entry.ts";

const MODEL = "claude-sonnet-4-5";

/** Returns the record on the boundary of a manual compaction, after responses with these usages. */
async function recordAfter(...reported: readonly number[]): Promise<CompactMetadata["longhaul"]> {
  const c = new ConversationBuilder();
  for (let turn = 0; turn < 19; turn++) {
    c.user(`request ${turn}`);
    c.tool(`t${turn}`, "Read", { file_path: `/project/${turn}.ts` }, "text ".repeat(8_000));
  }
  const compactor = createCompactor({
    model: MODEL,
    window: { evidence: null },
    clearing: { form: "off" },
    settings: { values: { autoCompactEnabled: false }, environment: {} },
  });
  for (const tokens of reported) {
    await compactor.before(c.entries);
    compactor.after({ usage: usage(tokens, 5), model: MODEL });
  }
  const { messages } = await compactor.compact(c.entries);
  return messages.find(isCompactBoundary)?.compactMetadata.longhaul;
}

it("a compaction boundary records the model, and the window if a usage report proves its size", async () => {
  expect(await recordAfter(210_000)).toMatchObject({
    model: MODEL,
    window: { model: MODEL, windowTokens: 1_000_000, origin: "reported-usage" },
  });
  expect(await recordAfter(150_000)).toMatchObject({ model: MODEL, window: null });
});

it("a usage report far above the estimate does not prove the size of the window, even if the report repeats", async () => {
  expect(await recordAfter(450_000, 450_000, 450_000)).toMatchObject({ model: MODEL, window: null });
});
