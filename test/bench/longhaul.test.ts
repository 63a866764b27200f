import { computeThresholds, ESTIMATORS, findModel, measureEntries } from "@longhaul/core/measure";
import type { Entry } from "@longhaul/core/messages";
import { createDemoSession } from "@longhaul/simulator/internal";
import { expect, it } from "vitest";
import { longhaulPolicy } from "../../bench/fidelity/longhaul.ts";

const MODEL = "claude-sonnet-4-5";
const SHORT_TOKENS = 1_000;
const thresholds = computeThresholds({ ...findModel(MODEL), windowTokens: 50_000 });
const session = createDemoSession();
const fills = (_: Entry, at: number): boolean =>
  measureEntries(session.slice(0, at), ESTIMATORS.o200k) >= thresholds.autoCompact;
/** Start of the generated session that reaches the threshold. */
const entries = session.slice(0, session.findIndex(fills));

/** Compacts the generated session and returns the tokens of the model's answer, and the new conversation. */
async function compacted(summaryTokens?: number) {
  const policy = longhaulPolicy("longhaul", { model: MODEL, summaryTokens });
  const outcome = await policy.shrink({ entries, thresholds, transcriptPath: "/sessions/one.jsonl" });
  const { calls } = outcome;
  return { left: outcome.entries, outputTokens: calls[0]?.usage.output_tokens ?? 0 };
}

it("longhaul writes a summary of the length that the comparison gives to every library", async () => {
  const [short, usual] = [await compacted(SHORT_TOKENS), await compacted()];
  expect(short.outputTokens).toBeGreaterThan(0);
  expect(short.outputTokens).toBeLessThan(usual.outputTokens);
});

it("longhaul restores files of the session, as in `longhaul eval`", async () => {
  const { left } = await compacted();
  const kinds = left.flatMap((entry) =>
    entry.type === "attachment" && "attachment" in entry ? [(entry.attachment as { type: string }).type] : [],
  );
  expect(kinds).toContain("file");
});
