import { join } from "node:path";
import type { SummaryAttempt } from "@longhaul/core/compaction";
import type { HookOutcome } from "@longhaul/core/hooks";
import { computeThresholds } from "@longhaul/core/measure";
import type { Entry } from "@longhaul/core/messages";
import type { Session, SessionListing } from "@longhaul/sessions";
import { clearSession, compactSession, loadSession, writeNewSession } from "@longhaul/sessions";
import { beforeAll, describe, expect, it } from "vitest";
import { terminal } from "../../../../test/support/terminal.ts";
import { temporaryFolder } from "../../../../test/transcript/temporary-folder.ts";
import { createDemoSession } from "../../../simulator/src/demo-session.ts";
import { type ClearReport, clearReport, clearView } from "../commands/clear-command.ts";
import { sessionsView } from "../commands/sessions-command.ts";
import { type CompactReport, compactReport } from "../compact-report.ts";
import { inspectSession } from "../inspect-report.ts";
import { promptsOf, promptsView } from "../prompts-report.ts";
import { compactView } from "./compact-view.ts";
import { inspectView } from "./inspect-view.ts";
import { textWidth } from "./text-width.ts";

const folder = temporaryFolder();
const HOSTILE = "\u001b[2J\u001b]0;owned\u0007\r\n\u0000";
const thresholds = computeThresholds({ windowTokens: 200_000, maxOutputTokens: 32_000 });
let session: Session;
let compacted: CompactReport;
let cleared: ClearReport;

/** Puts control sequences into the name of a tool, a request and the id. */
function hostile(entry: Entry): Entry {
  const text = JSON.stringify(entry)
    .replaceAll('"name":"Read"', JSON.stringify({ name: `Read${HOSTILE}` }).slice(1, -1))
    .replaceAll("tide", `tide${JSON.stringify(HOSTILE).slice(1, -1)}`);
  return { ...(JSON.parse(text) as Entry), sessionId: `id${HOSTILE}` } as Entry;
}

const attempt = (fields: Partial<SummaryAttempt>): SummaryAttempt => ({
  step: "direct",
  outcome: "failed",
  cuts: 0,
  ...fields,
});
const hook = (fields: Partial<HookOutcome>): HookOutcome => ({
  event: "PreCompact",
  name: "x",
  kind: "command",
  state: "completed",
  text: "PreCompact [x] completed",
  durationMs: 1,
  ...fields,
});

beforeAll(async () => {
  const path = join(folder, "session.jsonl");
  await writeNewSession(path, createDemoSession().map(hostile));
  session = await loadSession(path);
  const result = await compactSession(session);
  compacted = compactReport({ ...result, thresholds, written: undefined });
  cleared = clearReport(clearSession(session, { keepNewest: 5 }), thresholds, undefined);
});

const outline = { showSummary: false } as const;

describe.each([44, 60, 80, 100])("views in %d columns", (width) => {
  const views = (): readonly string[] => [
    inspectView(inspectSession(session, thresholds), terminal(width)),
    promptsView(promptsOf(session), session, terminal(width)),
    promptsView([], session, terminal(width)),
    clearView(cleared, terminal(width)),
    clearView({ ...cleared, fits: false }, terminal(width)),
    compactView(
      {
        ...compacted,
        hooks: [hook({ text: `PreCompact [${"x".repeat(60)}] completed: ${"words ".repeat(90)}` })],
        skipped: [
          { kind: "file", path: "/a", reason: "outside-project" },
          { kind: "skills", path: "s", reason: "over-budget" },
          { kind: "todos", path: "todos", reason: "timed-out" },
        ],
        summary: {
          ...compacted.summary,
          condensedRounds: 12,
          truncated: true,
          attempts: [
            attempt({ step: "provider", reason: "model-rate-limited" }),
            attempt({ cuts: 3 }),
            attempt({}),
          ],
        },
      },
      { ...outline, modelNotAsked: "claude-sonnet-5-5" },
      terminal(width),
    ),
  ];

  it("keeps every view within the width of the terminal, without control sequences", () => {
    for (const view of views()) {
      for (const line of view.split("\n")) expect([textWidth(line) <= width, line]).toEqual([true, line]);
      expect(view).not.toMatch(/[^\P{Cc}\n]/u);
    }
  });
});

describe("sessionsView", () => {
  const listing = (contextTokens: number | undefined): SessionListing => ({
    id: "0123456789",
    path: "/s/0123456789.jsonl",
    agent: "claude-code",
    bytes: 1_000,
    modifiedAt: new Date(0),
    cwd: "/project",
    title: "Tides",
    firstPrompt: undefined,
    contextTokens,
  });
  const shown = (...tokens: readonly (number | undefined)[]): string =>
    sessionsView(tokens.map(listing), { now: new Date(0), limit: undefined }, terminal(100));

  it("explains the question mark in the list of sessions only if a context size is unknown", () => {
    expect(shown(1_000, undefined)).toContain("?: the file does not say");
    expect(shown(1_000)).not.toContain("?");
  });
});

describe("promptsView", () => {
  it("says that a session without messages has no messages yet", () => {
    const marks = [{ type: "custom-title", customTitle: "Tides" }] as unknown as Session["conversation"];
    for (const conversation of [[], marks]) {
      expect(promptsView([], { conversation }, terminal(100))).toBe("This session has no messages yet.");
    }
  });

  it("explains why a session with messages has no prompts in its context", () => {
    const shown = promptsView([], session, terminal(200));
    expect(shown).toContain("compacted");
    expect(shown).toContain("subagent");
  });
});

describe("summary in the output of longhaul compact", () => {
  const shown = (summary: Partial<CompactReport["summary"]>): string =>
    compactView({ ...compacted, summary: { ...compacted.summary, ...summary } }, outline, terminal(100));

  it("names the source of a summary that no model wrote: the session notes or the built-in summarizer", () => {
    const written = attempt({ step: "notes", outcome: "written" });
    expect(shown({ source: "notes", attempts: [written], sections: [], titles: [] })).toContain(
      "from the session's notes, no model called",
    );
    const notes = attempt({ step: "notes", outcome: "unavailable", reason: "hook-instructions" });
    const builtIn = attempt({ step: "built-in", outcome: "written" });
    const instead = shown({ source: "built-in", attempts: [notes, builtIn] });
    expect(instead).toContain("by the built-in summarizer, no model called");
    expect(instead).toContain("session notes (not available, hook instructions) → built-in summarizer");
  });

  it("shows the whole summary and the facts that are quoted at its end", () => {
    const summary = { ...compacted.summary, text: "The work.", quoted: "> Never push" };
    const view = compactView({ ...compacted, summary }, { showSummary: true }, terminal(100));
    expect(view).toContain("The work.\n\n> Never push\n");
  });

  it("does not list the section titles of a summary", () => {
    const view = shown({
      sections: ["Errors and Fixes", "Current Work"],
      titles: ["Errors and Fixes", "Work Completed"],
    });
    expect(view).not.toContain("Errors and Fixes");
  });

  it("shows only one method if the first available method wrote the summary", () => {
    const noPrefix = attempt({ step: "fork", outcome: "unavailable", reason: "no-shared-prefix" });
    const view = shown({ attempts: [noPrefix, attempt({ step: "built-in", outcome: "written" })] });
    expect(view).not.toContain("→ built-in");
    expect(view).not.toContain("shared prefix");
  });

  it("shows all methods that were tried for a summary, with the reason why the first method failed", () => {
    const view = shown({
      attempts: [
        attempt({ reason: "model-cut-off", cuts: 2, model: "claude-x" }),
        attempt({ step: "built-in", outcome: "written" }),
      ],
    });
    expect(view).toContain("separate call (failed, cut off, 2 cuts) → built-in summarizer");
    expect(view).toContain("claude-x failed (cut off). The built-in summarizer wrote the summary instead.");
    expect(view).not.toContain("no model called");
  });
});

describe("hooks in the output of longhaul compact", () => {
  it("says how many hooks ran and how many of them failed, and shows nothing without hooks", () => {
    const shown = (hooks: readonly HookOutcome[]): string =>
      compactView({ ...compacted, hooks }, outline, terminal(80));
    expect(shown([])).not.toContain("Hooks");
    expect(shown([hook({})])).toContain("Hooks       1 ran\n  PreCompact [x] completed\n");
    expect(shown([hook({}), hook({ state: "timed-out" })])).toContain("2 ran, 1 of them failed");
  });
});

describe("restored items in the output of longhaul compact", () => {
  it.each(["file", "memory-files"] as const)(
    "cuts the front of a long restored path of the type %s, so that the file name stays visible",
    (kind) => {
      const displayPath = `${"packages/".repeat(12)}AGENTS.md`;
      const restored = [{ kind, path: displayPath, displayPath, tokens: 120, truncated: false }];
      const view = compactView({ ...compacted, restored }, outline, terminal(80));
      expect(view).toMatch(/ 120 {2}….*packages\/AGENTS\.md\n/);
    },
  );
});

it("shows as much of a restored path as fits next to its label in 44 columns", () => {
  const item = (kind: "skills" | "file", displayPath: string, truncated = false) => ({
    ...{ kind, displayPath, truncated },
    path: displayPath,
    tokens: 120,
  });
  const restored = [
    item("file", "src/resources/vessels.ts"),
    item("skills", "code-change-review"),
    item("file", "packages/harbor/src/resources/tugs.ts", true),
  ];
  const view = compactView({ ...compacted, restored }, outline, terminal(44));
  expect(view).toContain("      120  src/resources/vessels.ts\n");
  expect(view).toContain("      120  code-change-review (skill)\n");
  expect(view).toContain("      120  …c/resources/tugs.ts (start only)\n");
});

it("longhaul inspect shows its labels in full in 44 columns, without bars", () => {
  const report = inspectSession(session, thresholds);
  const accounting = { ...report.accounting, localCommandOutput: 5_000 };
  const view = inspectView({ ...report, accounting }, terminal(44));
  expect(view).toMatch(/^ {2}Local command output {5,}5,000 +\d+%$/m);
  expect(inspectView({ ...report, accounting }, terminal(80))).toMatch(
    /Local command output .*% {2}[▏▎▍▌▋▊▉█]/,
  );
});

it("longhaul inspect wraps the facts about a session in 44 columns instead of cutting them", () => {
  const report = inspectSession(session, thresholds);
  const named = { ...report, session: { ...report.session, model: "claude-sonnet-4-5-20250929" } };
  expect(inspectView(named, terminal(44))).toMatch(
    /\nclaude-sonnet-4-5-20250929 · [\d.]+ MB · \d+\nentries\n/,
  );
});

describe("skipped items in the output of longhaul compact", () => {
  it("counts the skipped items for each type and reason", () => {
    const skipped: CompactReport["skipped"] = [
      { kind: "file", path: "/a", reason: "gone" },
      { kind: "file", path: "/b", reason: "gone" },
      { kind: "file", path: "/c", reason: "outside-project" },
      { kind: "plan-mode", path: "plan-mode", reason: "timed-out" },
      { kind: "session-memory", path: "notes.md", reason: "over-budget" },
    ];
    expect(compactView({ ...compacted, skipped }, outline, terminal(100))).toContain(
      "Not restored: 2 files missing, 1 file outside the project, plan mode timed out, notes over budget.\n",
    );
  });
});
