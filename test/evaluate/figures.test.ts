import { basename } from "node:path";
import type { Entry } from "@longhaul/core";
import type { PolicyEvaluation } from "@longhaul/lab";
import { asStream, evaluateStream, scoreOf, sessionStream } from "@longhaul/lab";
import { loadSession } from "@longhaul/sessions";
import { describe, expect, it } from "vitest";
import { createDemoSession } from "../../packages/simulator/src/demo-session.ts";
import { claudeCodeSessions, describeRecorded } from "../support/real-sessions.ts";

const COMPACTIONS = 10;
const WINDOW_TOKENS = 50_000;
/** Least share of the probes that the context answers after ten compactions. */
const MIN_IN_CONTEXT = 0.9;
/** Most false statements in a summary, as a share of the probes. */
const MAX_FALSE = 0.02;
const MAX_TOKENS_OF_HOSTILE = 1.3;

/** Returns the evaluation of policies after a chain of ten compactions. */
async function figuresOf(
  stream: readonly Entry[],
  model: string | undefined,
): Promise<readonly PolicyEvaluation[]> {
  const { chains } = await evaluateStream({ id: "figures", model }, stream, {
    policies: ["longhaul", "longhaul-hostile", "drop-oldest"],
    compactions: [COMPACTIONS],
    windowTokens: WINDOW_TOKENS,
  });
  return chains[0]?.policies ?? [];
}

function expectFigures(policies: readonly PolicyEvaluation[]): void {
  const [ours, hostile, dropped] = policies;
  if (ours === undefined || hostile === undefined || dropped === undefined)
    throw new Error("Three policies were asked for.");
  const detail = [
    ...ours.missing.map(({ id, fate }) => `${id} ${fate}`),
    ...ours.falseStatements.map(({ why }) => why),
  ];
  const { probes, scores } = ours;
  expect(probes.inContext, detail.join("\n")).toBeGreaterThanOrEqual(
    Math.floor(probes.total * MIN_IN_CONTEXT),
  );
  expect(scores.withFacts.false, detail.join("\n")).toBeLessThanOrEqual(Math.ceil(probes.total * MAX_FALSE));
  // The hostile summary holds nothing, and only the quoted facts repair it.
  expect(scoreOf(hostile.scores.summary) ?? 0).toBeLessThanOrEqual(0);
  expect(hostile.scores.withFacts.held).toBeGreaterThanOrEqual(hostile.scores.summary.held);
  expect(hostile.tokens.mean).toBeLessThanOrEqual(ours.tokens.mean * MAX_TOKENS_OF_HOSTILE);
  expect(scoreOf(ours.scores.context) ?? 1).toBeGreaterThanOrEqual(scoreOf(dropped.scores.context) ?? 0);
}

const RULES = "ten compactions keep nine tenths of all probes, and a hostile summary earns nothing by itself";

describeRecorded("a recorded session in a window of 50,000 tokens", () => {
  it.each(claudeCodeSessions().map((path) => [basename(path), path]))(
    `${RULES} (%s)`,
    { timeout: 60_000 },
    async (_, path) => {
      const session = await loadSession(path);
      expectFigures(await figuresOf(sessionStream(session), session.model));
    },
  );
});

describe("a generated session in a window of 50,000 tokens", () => {
  it(`${RULES} (generated)`, { timeout: 60_000 }, async () => {
    const policies = await figuresOf(asStream(createDemoSession()), "claude-sonnet-5");
    expectFigures(policies);
    expect(policies.slice(0, 2).map(({ compactions }) => compactions)).toEqual([COMPACTIONS, COMPACTIONS]);
  });

  it("longhaul answers more probes in the context than any policy that only removes content", {
    timeout: 60_000,
  }, async () => {
    const { chains } = await evaluateStream(
      { id: "generated", model: "claude-sonnet-5" },
      asStream(createDemoSession()),
      {
        policies: ["longhaul", "drop-oldest", "keep-last", "clear-results"],
        compactions: [COMPACTIONS],
        windowTokens: WINDOW_TOKENS,
      },
    );
    const [ours, ...others] = chains[0]?.policies ?? [];
    const best = Math.max(...others.map(({ probes }) => probes.inContext));
    expect(ours?.probes.inContext).toBeGreaterThan(best);
  });
});
