import { join } from "node:path";
import { computeThresholds, resolveSettings, type Thresholds, windowState } from "@longhaul/core/measure";
import { clearSession, compactSession, loadSession, type Session, writeNewSession } from "@longhaul/sessions";
import fc from "fast-check";
import { createColors } from "picocolors";
import { beforeAll, describe, expect, it } from "vitest";
import { fakeAgent } from "../../../../test/support/fake-chat.ts";
import { terminal } from "../../../../test/support/terminal.ts";
import { temporaryFolder } from "../../../../test/transcript/temporary-folder.ts";
import { createDemoSession } from "../../../simulator/src/demo-session.ts";
import type { CommandContext } from "../chat/commands/command.ts";
import { modelCommand } from "../chat/commands/session-commands.ts";
import { contextFacts } from "../chat/print-report.ts";
import { statusLine } from "../chat/status-line.ts";
import { clearReport, clearView } from "../commands/clear-command.ts";
import type { UndoReport } from "../commands/undo-command.ts";
import { undoView } from "../commands/undo-command.ts";
import { compactReport } from "../compact-report.ts";
import { costReport } from "../cost-report.ts";
import { inspectSession } from "../inspect-report.ts";
import { reportWindow } from "../window-report.ts";
import { compactView } from "./compact-view.ts";
import { costSection } from "./cost-view.ts";
import { inspectView } from "./inspect-view.ts";
import { windowGauge } from "./window-gauge.ts";

const folder = temporaryFolder();
const screen = terminal(100);
/** Words that promise that the engine compacts at some size. */
const PROMISE =
  /┴auto|auto-compact (at|threshold)|until (auto-compact|the next compaction)|compacted at|will compact/;

const thresholdsWith = (environment: Record<string, string>): Thresholds =>
  computeThresholds(
    { windowTokens: 200_000, maxOutputTokens: 32_000 },
    resolveSettings({ environment }).settings,
  );

let session: Session;
beforeAll(async () => {
  const path = join(folder, "session.jsonl");
  await writeNewSession(path, createDemoSession());
  session = await loadSession(path);
});

async function said(thresholds: Thresholds, tokens: number): Promise<string> {
  const words: string[] = [];
  const reading = { tokens, thresholds, window: windowState(tokens, thresholds) };
  const context = {
    agent: fakeAgent({ reading }),
    screen: { width: 200 },
    say: (text: string) => void words.push(text),
  };
  await modelCommand.run("", context as unknown as CommandContext);
  return words.join("\n");
}

/** Returns all views that describe the window at this size. */
async function viewsAt(thresholds: Thresholds, tokens: number): Promise<string> {
  const window = reportWindow(thresholds);
  const state = windowState(tokens, thresholds);
  const reading = { tokens, thresholds, window: state };
  const undone = {
    session: { id: "s", path: "/s" },
    direction: "undo",
    step: { kind: "compaction", isUndo: false, uuid: "u", at: null, trigger: null },
    before: { tokens: 10 },
    after: { tokens },
    window,
    fits: tokens < thresholds.blocking,
    messages: { restored: 1, carried: 0 },
    thinkingBlocks: 0,
    out: null,
    written: null,
  } as unknown as UndoReport;
  const { headroomBy } = thresholds;
  return [
    windowGauge({ tokens, window: { ...window, headroomBy }, state }, screen),
    statusLine(
      {
        reading,
        model: "m",
        dollars: undefined,
        isPlanMode: false,
        permissionMode: "default",
        queued: 0,
        agents: 0,
      },
      100,
      createColors(false),
    ),
    undoView(undone, screen),
    await said(thresholds, tokens),
  ].join("\n");
}

describe.each([
  ["DISABLE_AUTO_COMPACT", "DISABLE_AUTO_COMPACT"],
  ["DISABLE_COMPACT", "DISABLE_COMPACT"],
  ["CLAUDE_CONTEXT_COLLAPSE", "Context collapse"],
])("views of the window with %s", (variable, reason) => {
  const thresholds = thresholdsWith({ [variable]: "1" });

  it("no view of the window promises an automatic compaction that is off, however full the window is", async () => {
    expect(await viewsAt(thresholdsWith({}), 100_000)).toMatch(PROMISE);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 250_000 }), async (tokens) => {
        expect(await viewsAt(thresholds, tokens)).not.toMatch(PROMISE);
      }),
      { numRuns: 50 },
    );
  });

  it("inspect, clear and compact promise no automatic compaction that is off, in words and in JSON", async () => {
    const report = inspectSession(session, thresholds);
    const cleared = clearReport(clearSession(session, { keepNewest: 5 }), thresholds, undefined);
    const compacted = compactReport({ ...(await compactSession(session)), thresholds, written: undefined });
    for (const each of [report, cleared, compacted]) expect(each.window.autoCompact).toBeNull();
    expect(report.state.isAboveAutoCompactThreshold).toBe(false);
    const views = [
      inspectView(report, screen),
      clearView(cleared, screen),
      compactView(compacted, { showSummary: false }, screen),
    ].join("\n");
    expect(views).not.toMatch(PROMISE);
    const reading = { tokens: 1, thresholds, window: windowState(1, thresholds) };
    expect(contextFacts({ reading }).autoCompact).toBeNull();
  });

  it("says below the window gauge why auto-compact is off", () => {
    const { headroomBy } = thresholds;
    for (const tokens of [50_000, 170_000]) {
      const window = { ...reportWindow(thresholds), headroomBy };
      const gauge = windowGauge({ tokens, window, state: windowState(tokens, thresholds) }, screen);
      expect(gauge.replace(/\s+/g, " ")).toContain(`tokens until the window is full at 180,000.`);
      expect(gauge).toContain(reason);
    }
  });
});

describe("views of the window with DISABLE_COMPACT", () => {
  const thresholds = thresholdsWith({ DISABLE_COMPACT: "1" });

  it("does not recommend compacting a full window if compaction is disabled", () => {
    const state = windowState(190_000, thresholds);
    const window = { ...reportWindow(thresholds), headroomBy: "nobody" as const };
    const gauge = windowGauge({ tokens: 190_000, window, state }, screen);
    expect(gauge).not.toContain("only a compaction is left");
    expect(gauge).toContain("DISABLE_COMPACT");
  });

  it("offers neither clearing nor compacting in the cost section when compaction is disabled", async () => {
    const circumstances = { contextTokens: 150_000, now: new Date("2026-01-01T00:00:00Z"), prices: {} };
    const compaction = await compactSession(session);
    const cost = costReport(session, { ...circumstances, thresholds, compaction });
    expect(cost?.options.map(({ name }) => name)).toEqual(["nothing"]);
    expect(costSection(cost, "m", screen)).toContain("There is nothing to clear or compact now.");
    const usual = costReport(session, { ...circumstances, thresholds: thresholdsWith({}), compaction });
    expect(usual?.options.map(({ name }) => name)).toEqual(["nothing", "clear", "compact"]);
  });
});
