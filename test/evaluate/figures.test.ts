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
/** Kinds of probes that the context always answers. Names and figures may be left to recall. */
const KEPT_KINDS = ["user-words", "constraint", "decision", "error"] as const;
/** Least share of files that the context answers. Every second file needs a word of change beside its path. */
const MIN_FILES = 0.75;
/**
 * Least share of all probes that the context answers after ten compactions. Half of the probes of a short session
 * are names and figures, which one page of recall answers too.
 */
const MIN_IN_CONTEXT = 0.65;
/** Most probes of a session that the context lacks, without names, figures and files. */
const MAX_OTHERS_MISSING = 2;
const LITERAL_KINDS: ReadonlySet<string> = new Set(["name", "number", "file"]);
/** Most probes of a session that neither the context nor one page of recall answers. */
const MAX_LOST = 1;
const MAX_TOKENS_OF_HOSTILE = 1.3;

/** Returns the evaluation of policies after a chain of ten compactions. */
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
  const { probes, scores, kinds } = ours;
  const detail = ours.missing.map(({ id, fate }) => `${id} ${fate}`).join("\n");
  for (const kind of KEPT_KINDS) expect(kinds[kind].inContext, detail).toBe(kinds[kind].total);
  expect(kinds.file.inContext, detail).toBeGreaterThanOrEqual(kinds.file.total * MIN_FILES);
  expect(probes.inContext, detail).toBeGreaterThanOrEqual(probes.total * MIN_IN_CONTEXT);
  const others = ours.missing.filter(({ kind }) => !LITERAL_KINDS.has(kind));
  expect(others.length, detail).toBeLessThanOrEqual(MAX_OTHERS_MISSING);
  expect(probes.lost, detail).toBeLessThanOrEqual(MAX_LOST);
  expect(scores.withFacts.false, ours.falseStatements.map(({ why }) => why).join("\n")).toBe(0);
  // The hostile summary holds nothing by itself, and the quoted facts repair it.
  expect(scoreOf(hostile.scores.summary) ?? 0).toBeLessThanOrEqual(0);
  expect(hostile.scores.withFacts.held).toBeGreaterThanOrEqual(hostile.scores.summary.held);
  expect(hostile.kinds["user-words"].inContext).toBe(hostile.kinds["user-words"].total);
  expect(hostile.tokens.mean).toBeLessThanOrEqual(ours.tokens.mean * MAX_TOKENS_OF_HOSTILE);
}

const RULES =
  "ten compactions keep what the user said, rules, decisions, errors and files, and a hostile summary earns nothing by itself";

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
