import {
  type PolicyReplay,
  REPLAY_POLICIES,
  type Replay,
  type ReplayPolicyName,
  totalOfReplays,
} from "@longhaul/lab";
import { describe, expect, it } from "vitest";
import { unfolded } from "../../../../test/support/cli.ts";
import { terminal } from "../../../../test/support/terminal.ts";
import { compare } from "../../../lab/src/replay/replay-result.ts";
import { textWidth } from "../view/text-width.ts";
import { replayView } from "./replay-command.ts";

const policyOf = (policy: ReplayPolicyName, fields: Partial<PolicyReplay> = {}): PolicyReplay => ({
  policy,
  cost: { total: 123.456, summaries: 7.5 },
  breakdown: {
    read: { frame: 10, messages: 20, summary: 3, facts: 2, restored: 1 },
    written: { added: 30, expired: 8, summary: 4, facts: 2, restored: 1, kept: 5, cleared: 6.456 },
    answers: 23.5,
    summaries: { uncached: 1, cached: 2, output: 4.5 },
  },
  tokens: { plain: 1, written: 2, read: 3, output: 4 },
  summaryCalls: 2,
  compactions: 1_200,
  clearings: 34,
  stallMs: 4_000_000,
  cacheBreaks: 925,
  refusedCalls: 0,
  peakTokens: 623_616,
  lastTokens: 33_000,
  probesKept: 299,
  turns: [],
  ...fields,
});

const replayOf = (policies: readonly PolicyReplay[], id = "70d782f7"): Replay => ({
  session: { id, path: "/place/session.jsonl", model: "claude-opus-5" },
  window: { size: 50_000, origin: "option", autoCompact: 33_500 },
  pricesOf: "claude-opus-5",
  arePricesAssumed: false,
  cacheTtl: "5m",
  overhead: { tokens: 10_000, recorded: 41_600 },
  tokenRatio: 1.3,
  calls: 307,
  probes: 313,
  policies,
  comparison: compare(policies),
});

const shown = (replays: readonly Replay[], width = 80, chart: { path: string } | null = null): string =>
  replayView({ sessions: replays, total: totalOfReplays(replays), chart }, terminal(width));

const all = REPLAY_POLICIES.map((policy) => policyOf(policy));

describe("replayView, the output of longhaul replay", () => {
  it.each([44, 60, 80, 100])("keeps the replay report within %i columns", (width) => {
    const report = shown([replayOf(all), replayOf(all)], width, { path: "chart.svg" });
    for (const line of report.split("\n")) expect(textWidth(line)).toBeLessThanOrEqual(width);
    expect(report).toContain("All 2 sessions");
  });

  it.each([44, 60, 80, 100])(
    "keeps the costs by source within %i columns, with the total at the end",
    (width) => {
      const report = { sessions: [replayOf(all)], total: totalOfReplays([replayOf(all)]), chart: null };
      const view = replayView(report, terminal(width), { breakdown: true });
      for (const line of view.split("\n")) expect(textWidth(line)).toBeLessThanOrEqual(width);
      const table = view.slice(view.indexOf("Cost by source"));
      expect(table).toMatch(/written: kept messages +\$5\.00/);
      expect(table).toMatch(/total +\$123\.46/);
      expect(shown([replayOf(all)])).not.toContain("Cost by source");
    },
  );

  it("compares longhaul with a plain summary in each session if there are several", () => {
    const cheaper = policyOf("plain-summary", { cost: { total: 246.912, summaries: 0 }, probesKept: 200 });
    const replays = ["70d782f7", "8209f1c2"].map((id) => replayOf([policyOf("longhaul"), cheaper], id));
    expect(shown(replays)).toMatch(/8209f1c2 +\$123\.46 +\$246\.91 +0\.50 +299\/200 +none/);
    expect(shown(replays.slice(0, 1))).not.toContain("By session");
  });

  it("shows the recorded size of system prompt and tools if the replay used a smaller size", () => {
    expect(shown([replayOf(all)])).toContain("(recorded: 42K)");
  });

  it("compares longhaul with the cheapest policy that keeps as many probes, or says that there is no such policy", () => {
    const ours = policyOf("longhaul", { cost: { total: 6, summaries: 1 } });
    const rival = policyOf("plain-summary", { cost: { total: 10, summaries: 1 } });
    expect(shown([replayOf([ours, rival])])).toContain("longhaul costs 0.60 times as much as plain-summary");
    const forgetful = { ...rival, probesKept: 40 };
    expect(shown([replayOf([ours, forgetful])])).toMatch(
      /No other policy keeps as many[\s\S]*plain-summary,\s+keeps\s+40\s+of\s+313/,
    );
  });

  it("says first that another policy keeps more probes than longhaul, and compares the costs", () => {
    const ours = policyOf("longhaul", { cost: { total: 6, summaries: 1 }, probesKept: 290 });
    const rivals = [
      policyOf("drop-oldest", { cost: { total: 4, summaries: 0 }, probesKept: 290 }),
      policyOf("plain-summary", { cost: { total: 5, summaries: 1 }, probesKept: 300 }),
      policyOf("everything", { cost: { total: 20, summaries: 0 }, probesKept: 313 }),
    ];
    const said = unfolded(shown([replayOf([ours, ...rivals])]));
    const places = [
      "longhaul keeps fewer probes than plain-summary: 290, not 300. It costs 1.20 times as much.",
      "longhaul costs 1.50 times as much as drop-oldest, the cheapest other policy that keeps as many probes.",
      "longhaul costs 0.30 times as much as keeping everything.",
    ].map((line) => said.indexOf(line));
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((one, other) => one - other));
  });

  it("compares longhaul with the policy that keeps the most probes if no policy keeps as many as longhaul", () => {
    const ours = policyOf("longhaul", { cost: { total: 6, summaries: 1 } });
    const rivals = [
      policyOf("drop-oldest", { cost: { total: 4, summaries: 0 }, probesKept: 40 }),
      policyOf("plain-summary", { cost: { total: 5, summaries: 1 }, probesKept: 250 }),
    ];
    expect(unfolded(shown([replayOf([ours, ...rivals])]))).toContain(
      "Of the other policies, plain-summary keeps the most probes: 250. longhaul costs 1.20 times as much.",
    );
  });

  it("says in how many sessions another policy keeps as many probes as longhaul, and in how many it keeps more", () => {
    const ours = (probesKept: number): PolicyReplay =>
      policyOf("longhaul", { cost: { total: 6, summaries: 1 }, probesKept });
    const plain = (total: number, probesKept: number): PolicyReplay =>
      policyOf("plain-summary", { cost: { total, summaries: 1 }, probesKept });
    const said = unfolded(
      shown([
        replayOf([ours(300), plain(5, 100)]),
        replayOf([ours(20), plain(5, 21)]),
        replayOf([ours(20), plain(8, 20)]),
      ]),
    );
    expect(said).toContain("No other policy keeps as many probes in this window.");
    expect(said).toContain(
      "In 2 of 3 sessions another policy keeps as many probes as longhaul. longhaul costs 0.75 to 1.20 times as much as the cheapest of those. In 1 another policy keeps more.",
    );
  });

  it("says how many calls of a policy did not fit the window", () => {
    const report = shown([replayOf([policyOf("drop-oldest", { refusedCalls: 2 })])]);
    expect(report).toContain("drop-oldest: 2 calls did not fit the window.");
  });

  it("removes control sequences from the session id and model name in the replay report", () => {
    const hostile = { ...replayOf(all, "a\u001b[31mb\nc"), pricesOf: "claude-opus-5\u001b]0;x\u0007" };
    const report = shown([hostile]);
    expect(report).not.toContain("\u001b");
    expect(report).not.toContain("\u0007");
  });
});
