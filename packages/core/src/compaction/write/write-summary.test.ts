import { scriptedModel } from "@longhaul/simulator";
import { describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../../../../test/support/builders.ts";
import { ESTIMATORS } from "../../measure/tokens/estimators.ts";
import { ModelError } from "../../models/model-error.ts";
import { type CompactionPlan, planCompaction } from "../plan/compaction-plan.ts";
import { SMALLEST_SUMMARY_TOKENS } from "../plan/room.ts";
import { factsSection, SECTION_NAMES } from "../summary/summary-message.ts";
import { prepareSummary, type SummaryOptions, type WrittenSummary } from "./summary-chain.ts";

const GOOD = `<summary>\n${SECTION_NAMES.map((name, at) => `${at + 1}. ${name}: some`).join("\n")}\n</summary>`;

function conversation(): ConversationBuilder {
  const built = new ConversationBuilder();
  for (let round = 0; round < 30; round++) {
    built.user(`request-${round}: ${"please look into it with care ".repeat(20)}`);
    built.assistant(`answer-${round}: ${"it was looked into with care ".repeat(20)}`);
  }
  return built;
}

const writeSummary = async (plan: CompactionPlan, options: SummaryOptions): Promise<WrittenSummary> =>
  (await prepareSummary(plan, options)).written;

describe("writing the summary of a plan", () => {
  it("summarizes the messages of a plan, and reports the author and all attempts", async () => {
    const { entries } = conversation();
    const plan = planCompaction({ entries }, { keepRecentTokens: 500 });
    const model = scriptedModel([new ModelError({ kind: "other", retry: false }, "no"), GOOD]);
    const fork = { model, frame: {}, messagesFor: () => [], cachedMessages: 0 };
    expect(await writeSummary(plan, { model, fork, instructions: "mind the tides" })).toMatchObject({
      source: "model",
      step: "direct",
      attempts: [
        { step: "fork", outcome: "failed", reason: "model-other" },
        { step: "direct", outcome: "written", model: "scripted" },
      ],
    });
    expect(JSON.stringify(model.requests[1])).toContain("mind the tides");
    expect(JSON.stringify(model.requests[1])).toContain("stay verbatim after your summary");
  });

  it("summarizes only the earlier messages of an 'up-to' plan, with the section titles of that variant", async () => {
    const { entries } = conversation();
    const plan = planCompaction({ entries }, { variant: "up-to", at: 20 });
    const { text, attempts } = await writeSummary(plan, {});
    expect(attempts).toEqual([{ step: "built-in", outcome: "written", cuts: 0 }]);
    expect(text).toContain("Context for Continuing Work");
    expect(text).not.toContain("request-25");
  });

  it("keeps the size of an earlier summary and condenses only the messages after it", async () => {
    const { entries } = conversation();
    const first = planCompaction({ entries }, { keepRecentTokens: 0 });
    const { text: earlier } = await writeSummary(first, {});
    const next = new ConversationBuilder("next");
    next.summary(`${earlier}\n\n${factsSection("- a quoted fact")}`);
    next.user("Continue with the last request.");
    next.assistant("The last request is done.");
    const plan = planCompaction({ entries: next.entries }, { keepRecentTokens: 0 });
    const { text } = await writeSummary(plan, {});
    const [before, after] = [earlier, text].map((part) => ESTIMATORS.o200k(part));
    expect(after).toBeGreaterThan(Number(before) * 0.9);
    expect(after).toBeLessThanOrEqual(Number(before) + (plan.summarizedTokens - Number(before)) / 3);
    expect(text).toContain("request-3");
  });

  it("limits a built-in summary to a third of the summarized tokens and to 45% of the available tokens", async () => {
    const { entries } = conversation();
    const plan = planCompaction({ entries }, { keepRecentTokens: 0 });
    const { text } = await writeSummary(plan, { summaryBudgetTokens: 100_000 });
    expect(ESTIMATORS.o200k(text)).toBeLessThanOrEqual(plan.summarizedTokens / 3);
    const tight = await writeSummary(plan, { targetTokens: 2_200 });
    expect(ESTIMATORS.o200k(tight.text)).toBeLessThanOrEqual(1_000);
    // If the provider counts twice as many tokens, the available tokens are half as many by our count.
    const double = { ...plan, tokenRatio: 2, summarizedTokens: plan.summarizedTokens * 2 };
    const halved = await writeSummary(double, { targetTokens: 4_400 });
    expect(ESTIMATORS.o200k(halved.text)).toBeLessThanOrEqual(1_000);
    const least = plan.overheadTokens + plan.keptTokens + SMALLEST_SUMMARY_TOKENS / 0.45;
    const smallest = await writeSummary(plan, { targetTokens: least });
    expect(ESTIMATORS.o200k(smallest.text)).toBeLessThanOrEqual(SMALLEST_SUMMARY_TOKENS);
    // Without any room, a shorter summary would not help.
    const free = await writeSummary(plan, {});
    expect((await writeSummary(plan, { targetTokens: 1_000 })).text).toBe(free.text);
    expect(ESTIMATORS.o200k(free.text)).toBeGreaterThan(1_000);
  });
});
