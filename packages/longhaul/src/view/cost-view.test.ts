import { join } from "node:path";
import { computeThresholds, contextTokens } from "@longhaul/core/measure";
import {
  compactSession,
  loadSession,
  type Session,
  type SessionCompaction,
  writeNewSession,
} from "@longhaul/sessions";
import { beforeAll, describe, expect, it } from "vitest";
import { terminal } from "../../../../test/support/terminal.ts";
import { temporaryFolder } from "../../../../test/transcript/temporary-folder.ts";
import { createDemoSession } from "../../../simulator/src/demo-session.ts";
import { type CompactCost, compactCost } from "../compact-cost.ts";
import { type CostReport, costReport } from "../cost-report.ts";
import { compactCostSection, costSection } from "./cost-view.ts";
import { textWidth } from "./text-width.ts";

const folder = temporaryFolder();
const thresholds = computeThresholds({ windowTokens: 200_000, maxOutputTokens: 32_000 });
const SONNET = "claude-sonnet-5-5";
let session: Session;
let result: SessionCompaction;
let lastCall: number;

beforeAll(async () => {
  const path = join(folder, "session.jsonl");
  await writeNewSession(path, createDemoSession());
  session = { ...(await loadSession(path)), model: SONNET };
  result = await compactSession(session);
  const answers = session.conversation.filter(({ type }) => type === "assistant");
  lastCall = Date.parse(answers.at(-1)?.timestamp ?? "");
});

const costAfter = (seconds: number, changes: Partial<Session> = {}): CostReport | null =>
  costReport(
    { ...session, ...changes },
    {
      thresholds,
      contextTokens: contextTokens(session.conversation),
      now: new Date(lastCall + seconds * 1_000),
      prices: {},
      compaction: result,
    },
  );

const compactCostWith = (wouldAsk: string | undefined): CompactCost | null =>
  compactCost({ ...result, session, thresholds, prices: {}, now: new Date(lastCall + 1_000), wouldAsk });

describe("cost of a session", () => {
  it("compares the cost of a session with and without a compaction, for a warm and a cold cache", () => {
    const cost = costAfter(10);
    expect(cost?.cache).toMatchObject({ ageSeconds: 10, isCold: false });
    expect(cost?.options.map(({ name }) => name)).toContain("compact");
    expect(cost?.nextTurn.cold).toBeGreaterThan((cost?.nextTurn.warm ?? 0) * 10);
    expect(costAfter(3_601)?.cache.isCold).toBe(true);
  });

  it("assumes the prices of a common model when the prices of the session's model are unknown", () => {
    const cost = costAfter(10, { model: "house-model" });
    expect(cost).toMatchObject({ model: "claude-sonnet-4-5", arePricesAssumed: true });
    const shown = costSection(cost, "house-model", terminal(200));
    expect(shown).toContain("prices of claude-sonnet-4-5 (assumed: the prices of house-model are unknown)");
    expect(shown).toContain("settings.json");
    const nameless = costSection(costAfter(10, { model: undefined as never }), null, terminal(200));
    expect(nameless).toContain("(assumed: the session names no model)");
    expect(costSection(costAfter(10), SONNET, terminal(200))).not.toContain("assumed");
  });

  it("recommends in one line whether to do nothing or to compact the session", () => {
    const cost = costAfter(10);
    if (cost === null) throw new Error("the prices should be known");
    const shown = (chosen: CostReport["chosen"]): string =>
      costSection({ ...cost, chosen }, SONNET, terminal(100))
        .split("\n")
        .at(-1) ?? "";
    expect(shown("nothing")).toContain("Recommended: do nothing");
    expect(shown("compact")).toContain("longhaul compact SESSION");
  });
});

describe("cost of a compaction", () => {
  it("estimates the cost of the summary call that a dry run does not make", () => {
    const cost = compactCostWith("claude-haiku-4-5");
    expect(cost?.call).toMatchObject({ model: "claude-haiku-4-5", isEstimate: true });
    const { inputTokens = 0, outputTokens = 0, cost: dollars = 0 } = cost?.call ?? {};
    expect(dollars).toBeCloseTo((inputTokens + 5 * outputTokens) / 1e6, 10);
    expect(cost?.rewrite).toBeGreaterThan(0);
  });

  it("the built-in summarizer makes no model call, so the saving is larger by the price of such a call", () => {
    const [without, asked] = [compactCostWith(undefined), compactCostWith("claude-haiku-4-5")];
    expect(without?.call).toBeNull();
    expect((without?.netSaving ?? 0) - (asked?.netSaving ?? 0)).toBeCloseTo(asked?.call?.cost ?? 0, 10);
    expect(compactCostWith("built-in")?.call).toBeNull();
  });

  it("says that the cost of a compaction is unknown for a model with unknown prices", () => {
    expect(compactCostWith("house-model")).toBeNull();
    expect(compactCostSection(null, null, terminal(80))).toContain("is unknown");
  });
});

describe.each([44, 60, 80, 120])("cost sections in %i columns", (width) => {
  it("keeps the cost sections within the width of the terminal", () => {
    const shown = [
      costSection(costAfter(10), SONNET, terminal(width)),
      costSection(null, "a-model-of-the-house-with-a-long-name", terminal(width)),
      compactCostSection(compactCostWith("claude-haiku-4-5"), SONNET, terminal(width)),
      compactCostSection(compactCostWith(undefined), SONNET, terminal(width)),
    ];
    for (const line of shown.join("\n").split("\n")) expect(textWidth(line)).toBeLessThanOrEqual(width);
  });
});
