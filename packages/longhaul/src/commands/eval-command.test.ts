import type { Evaluation, PolicyEvaluation } from "@longhaul/lab";
import { asStream, evaluateStream, totalOf } from "@longhaul/lab";
import { beforeAll, describe, expect, it } from "vitest";
import { terminal } from "../../../../test/support/terminal.ts";
import { createDemoSession } from "../../../simulator/src/demo-session.ts";
import { textWidth } from "../view/text-width.ts";
import { type EvalReport, evalView } from "./eval-command.ts";

const HOSTILE = "\u001b[2J\u001b]0;owned\u0007\r\n\u0000";
let report: EvalReport;

beforeAll(async () => {
  const stream = asStream(createDemoSession({ approximateTokens: 60_000 }));
  const one = await evaluateStream({ id: "one", model: "claude-sonnet-5" }, stream, { compactions: [2] });
  const copy = JSON.parse(
    JSON.stringify(one).replaceAll("berth", JSON.stringify(`berth${HOSTILE}`).slice(1, -1)),
  );
  const other: Evaluation = { ...copy, session: { ...copy.session, id: `two${HOSTILE}` } };
  report = { promptVersion: 7, sessions: [one, other], total: totalOf([one, other]) };
});

describe.each([44, 60, 80, 100])("evalView in %i columns", (width) => {
  it.each([false, true])(
    "keeps the report of longhaul eval within the width, without control sequences (colors: %s)",
    (isColored) => {
      const shown = evalView(report, { missing: true }, terminal(width, isColored));
      expect(shown.split("\n").filter((line) => textWidth(line) > width)).toEqual([]);
      expect(shown).not.toContain("\u001b[2J");
      expect(shown).not.toContain("\u0007");
      expect(shown).not.toContain("\r");
    },
  );
});

describe("evalView", () => {
  it("longhaul eval shows every policy with its three scores and its cost, and a total over all sessions", () => {
    const shown = evalView(report, {}, terminal(100));
    expect(shown).toMatch(
      /longhaul( ×\d+)? +\d+% +<?\d+% +<?\d+% +0 +\d\.\d\d +\d\.\d\d +\d\.\d\d +[\d,]+ +\$/,
    );
    expect(shown).toMatch(/drop-oldest( ×\d+)? +\d+% +0% +\d+% +0 +– +– +\d\.\d\d/);
    expect(shown).toContain("All 2 sessions");
    expect(shown).toContain("Prompts of longhaul: version 7.");
    expect(shown).not.toContain(": not in the context");
    expect(shown).not.toContain("judge");
  });

  it("longhaul eval --missing lists the probes that are not in the context, and the false statements", () => {
    const shown = evalView(report, { missing: true }, terminal(80));
    expect(shown).toMatch(/drop-oldest: not in the context\n {2}lost +[a-z-]+-\d+/);
    expect(shown).toMatch(/longhaul-hostile: false statements\n {2}[a-z-]+ /);
  });

  it("longhaul eval shows a share of 99.9% without rounding it up to 100%", () => {
    const probes = { total: 1_000, inContext: 999, recoverable: 1, lost: 0 };
    const shown = evalView(reportWith({ probes }), {}, terminal(80));
    expect(shown).toMatch(/longhaul +99\.9% +<1% +0%/);
  });

  it("longhaul eval --judge adds a column with the share of right answers", () => {
    const usage = { input_tokens: 1, output_tokens: 1 };
    const judge = { model: "m", asked: 10, right: 7, unknown: 2, wrong: 1, missed: [], usage };
    const shown = evalView(reportWith({ judge }), {}, terminal(100));
    expect(shown).toMatch(/cost +judge\n/);
    expect(shown).toMatch(/longhaul.* 70%\n/);
  });

  it("longhaul eval shows the summaries of the session's own program beside ours", () => {
    const [session] = report.sessions;
    const [chain] = session?.chains ?? [];
    if (session === undefined || chain === undefined) throw new Error("There is a session.");
    const recorded = [{ ...chain, compactions: 1, version: "2.1.39" }];
    const shown = evalView(
      { promptVersion: 7, sessions: [{ ...session, chains: [], recorded }], total: [] },
      {},
      terminal(120),
    );
    expect(shown).toContain("Summary 1 that Claude Code 2.1.39 wrote, and ours at the same place");
  });
});

/** A report with one policy, whose result has these fields. */
function reportWith(fields: Partial<PolicyEvaluation>): EvalReport {
  const [session] = report.sessions;
  const [chain] = session?.chains ?? [];
  const [policy] = chain?.policies ?? [];
  if (session === undefined || chain === undefined || policy === undefined)
    throw new Error("There is a policy.");
  const changed = { ...policy, compactions: chain.compactions, ...fields };
  const sessions = [{ ...session, chains: [{ ...chain, policies: [changed] }] }];
  return { promptVersion: 7, sessions, total: [] };
}
