import { basename } from "node:path";
import type { Entry } from "@longhaul/core";
import type { PolicyEvaluation } from "@longhaul/lab";
import { deriveProbes, evaluateStream } from "@longhaul/lab";
import { loadSession } from "@longhaul/sessions";
import { describe, expect, it } from "vitest";
import { sessionStream, toStream } from "../../packages/lab/src/evaluate.ts";
import { withTranscript } from "../../packages/lab/src/probe-search.ts";
import { createDemoSession } from "../../packages/simulator/src/demo-session.ts";
import { claudeCodeSessions, describeRecorded } from "../support/real-sessions.ts";

const COMPACTIONS = 10;
const WINDOW_TOKENS = 50_000;
const MIN_IN_CONTEXT = 0.95;
const MAX_TOKENS_OF_HOSTILE = 1.3;

/** Returns the evaluation of our two policies after a chain of ten compactions. */
async function figuresOf(
  stream: readonly Entry[],
  model: string | undefined,
): Promise<readonly PolicyEvaluation[]> {
  const { chains } = await evaluateStream({ id: "figures", model }, stream, {
    policies: ["longhaul", "longhaul-hostile"],
    compactions: [COMPACTIONS],
    windowTokens: WINDOW_TOKENS,
  });
  return chains[0]?.policies ?? [];
}

function expectFigures(policies: readonly PolicyEvaluation[]): void {
  const [ours, hostile] = policies;
  if (ours === undefined || hostile === undefined) throw new Error("Two policies were asked for.");
  for (const { policy, probes, activeDirectives, missing } of [ours, hostile]) {
    const detail = `${policy}: ${missing.map(({ id, fate }) => `${id} ${fate}`).join(", ")}`;
    expect(activeDirectives.inContext, detail).toBe(activeDirectives.total);
    expect(probes.inContext, detail).toBeGreaterThanOrEqual(probes.total * MIN_IN_CONTEXT);
    expect(probes.lost, detail).toBe(0);
  }
  expect(hostile.tokens.mean).toBeLessThanOrEqual(ours.tokens.mean * MAX_TOKENS_OF_HOSTILE);
  expect(hostile.tokens.last).toBeLessThanOrEqual(ours.tokens.last * MAX_TOKENS_OF_HOSTILE);
}

/** Checks that recall finds every probed fact, whether it is in the context or not. */
async function expectAllRecalled(stream: readonly Entry[]): Promise<void> {
  const lost: string[] = [];
  await withTranscript(stream, async (finds) => {
    for (const probe of deriveProbes(stream)) if (!(await finds(probe))) lost.push(probe.id);
  });
  expect(lost).toEqual([]);
}

const RULES =
  "ten compactions keep all active directives and 95% of all probes, even with a hostile summarizer";

describeRecorded("a recorded session in a window of 50,000 tokens", () => {
  describe.each(claudeCodeSessions().map((path) => [basename(path), path]))("%s", (_, path) => {
    it(RULES, { timeout: 60_000 }, async () => {
      const session = await loadSession(path);
      expectFigures(await figuresOf(sessionStream(session), session.model));
    });

    it("recall finds every probed fact that left the context of a recorded session", {
      timeout: 60_000,
    }, async () => {
      await expectAllRecalled(sessionStream(await loadSession(path)));
    });
  });
});

describe("a generated session in a window of 50,000 tokens", () => {
  it(RULES, { timeout: 60_000 }, async () => {
    const stream = toStream(createDemoSession());
    const policies = await figuresOf(stream, "claude-sonnet-5");
    expectFigures(policies);
    expect(policies.map(({ compactions }) => compactions)).toEqual([COMPACTIONS, COMPACTIONS]);
  });

  it("recall finds every probed fact that left the context of a generated session", {
    timeout: 60_000,
  }, async () => {
    await expectAllRecalled(toStream(createDemoSession()));
  });

  it("longhaul keeps more probed facts in the context than any other policy", {
    timeout: 60_000,
  }, async () => {
    const { chains } = await evaluateStream(
      { id: "generated", model: "claude-sonnet-5" },
      toStream(createDemoSession()),
      { compactions: [COMPACTIONS], windowTokens: WINDOW_TOKENS },
    );
    const [ours, hostile, ...others] = chains[0]?.policies ?? [];
    const best = Math.max(...others.map(({ probes }) => probes.inContext));
    expect(ours?.probes.inContext).toBeGreaterThan(best);
    expect(hostile?.probes.inContext).toBeGreaterThan(best);
  });
});
