import { scriptedModel } from "@longhaul/simulator";
import { describe, expect, it } from "vitest";
import { collectGarbage } from "../../../../../test/engine/garbage.case.ts";
import { toolResult, toolUse } from "../../../../../test/support/builders.ts";
import { createCompactor } from "../../../../../test/support/full-compactor.ts";
import type { CompactorEvent } from "../../engine/events.ts";
import type { ApiMessage } from "../../messages/message.ts";

/** A conversation three times the size of the window. */
const conversation: readonly ApiMessage[] = Array.from({ length: 200 }, (_, nth): readonly ApiMessage[] => [
  { role: "user", content: `question ${nth}` },
  { role: "assistant", content: [toolUse(`t${nth}`, "Bash", { command: `run ${nth}` })] },
  { role: "user", content: [toolResult(`t${nth}`, `word${nth} `.repeat(120))] },
  { role: "assistant", content: `answer ${nth}` },
]).flat();

describe("a turn that waits for a summary model that never answers", () => {
  it("waits only once for a summary model that never answers, however many spans are needed", async () => {
    const events: CompactorEvent[] = [];
    const model = scriptedModel(() => new Promise<never>(() => undefined));
    const compactor = createCompactor({
      settings: { environment: {} },
      window: { tokens: 20_000 },
      clearing: { form: "off" },
      compaction: { model },
      collapse: { timeoutMs: 1 },
      host: { onEvent: (event) => events.push(event) },
    });
    const next: ApiMessage = { role: "user", content: "on" };
    const { tokens, thresholds } = await compactor.before([...conversation, next]);
    expect(tokens).toBeLessThan(thresholds.effective);
    expect(events.filter(({ type }) => type === "span-staged").length).toBeGreaterThan(10);
    // The background work may ask the model again after the turn stopped waiting.
    expect(model.requests.length).toBeLessThanOrEqual(2);
    await compactor.close();
  });

  it("stops waiting for a summary model that never answers, even when the garbage collector runs", async () => {
    const compactor = createCompactor({
      settings: { environment: {} },
      window: { tokens: 20_000 },
      clearing: { form: "off" },
      compaction: { model: scriptedModel(() => new Promise<never>(() => undefined)) },
      collapse: { timeoutMs: 100 },
    });
    const collecting = setInterval(collectGarbage, 10);
    const { tokens, thresholds } = await compactor
      .before([...conversation, { role: "user", content: "on" }])
      .finally(() => clearInterval(collecting));
    expect(tokens).toBeLessThan(thresholds.effective);
    await compactor.close();
  });
});
