import { describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../../../test/support/builders.ts";
import { type Compactor, createCompactor } from "../../../../test/support/full-compactor.ts";
import { DECISION_PADDING } from "../measure/tokens/measure.ts";
import type { Entry } from "../messages/entry.ts";

const newCompactor = (): Compactor =>
  createCompactor({
    model: "claude-sonnet-5",
    window: { tokens: 200_000 },
    request: { system: "You are careful.", max_tokens: 1_000 },
    clearing: { form: "off" },
    settings: { environment: {} },
  });

/** Creates a session that another process compacted, followed by a new user message. */
function compacted(keptWords: number): readonly Entry[] {
  const c = new ConversationBuilder();
  for (let round = 0; round < 9; round++) c.tool(`t${round}`, "Read", {}, "text ".repeat(keptWords / 9));
  const kept = [...c.entries];
  return [c.boundary(), c.summary("earlier work"), ...kept, c.user("continue")];
}

describe("a session resumed right after a compaction that kept many messages", () => {
  it("does not compact a just compacted session again before a usage report confirms a size near the limit", async () => {
    const compactor = newCompactor();
    const conversation = compacted(110_000);
    const { tokens, thresholds, skipped, messages } = await compactor.before(conversation);
    expect(tokens).toBeLessThan(thresholds.autoCompact);
    expect(tokens * DECISION_PADDING).toBeGreaterThan(thresholds.autoCompact);
    expect(skipped).toBe("just-compacted");
    // After three turns without a usage report, the estimate decides.
    for (let turn = 2; turn <= 3; turn++) await compactor.before(messages);
    expect((await compactor.before(messages)).compaction).toBeDefined();
  });

  it("compacts a resumed session at once if it is larger than the result of any compaction", async () => {
    const { compaction } = await newCompactor().before(compacted(150_000));
    expect(compaction).toBeDefined();
  });
});
