import type { Evaluation } from "@longhaul/lab";
import { evaluateStream, totalOf } from "@longhaul/lab";
import { beforeAll, describe, expect, it } from "vitest";
import { terminal } from "../../../../test/support/terminal.ts";
import { toStream } from "../../../lab/src/evaluate.ts";
import { createDemoSession } from "../../../simulator/src/demo-session.ts";
import { textWidth } from "../view/text-width.ts";
import { type EvalReport, evalView } from "./eval-command.ts";

const HOSTILE = "\u001b[2J\u001b]0;owned\u0007\r\n\u0000";
let report: EvalReport;

beforeAll(async () => {
  const stream = toStream(createDemoSession({ approximateTokens: 60_000 }));
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
  it("longhaul eval shows every policy with its cost, and a total over all sessions", () => {
    const shown = evalView(report, {}, terminal(80));
    expect(shown).toMatch(/longhaul +100% +0% +0% +\d+\/\d+ +[\d,]+ +\$/);
    expect(shown).toMatch(/drop-oldest( ×\d+)? +\d+% +0% +\d+%/);
    expect(shown).toContain("All 2 sessions");
    expect(shown).toContain("Prompts of longhaul: version 7.");
    expect(shown).not.toContain(": not in the context");
  });

  it("longhaul eval --missing lists the probes that are not in the context", () => {
    const shown = evalView(report, { missing: true }, terminal(80));
    expect(shown).toMatch(/drop-oldest: not in the context\n {2}lost +directive-1/);
  });

  it("longhaul eval shows a share of 99.9% without rounding it up to 100%", () => {
    const [session] = report.sessions;
    if (session === undefined) throw new Error("There is a session.");
    const [chain] = session.chains;
    const [policy] = chain?.policies ?? [];
    if (chain === undefined || policy === undefined) throw new Error("There is a policy.");
    const probes = { total: 1_000, inContext: 999, recoverable: 1, lost: 0 };
    const nearly = { ...session, chains: [{ ...chain, policies: [{ ...policy, probes }] }] };
    const shown = evalView({ promptVersion: 7, sessions: [nearly], total: [] }, {}, terminal(80));
    expect(shown).toMatch(/longhaul +99\.9% +<1% +0%/);
  });
});
