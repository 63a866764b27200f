import { join } from "node:path";
import { buildNotes, loadSession, writeNewSession } from "@longhaul/sessions";
import { beforeAll, describe, expect, it } from "vitest";
import { terminal } from "../../../test/support/terminal.ts";
import { temporaryFolder } from "../../../test/transcript/temporary-folder.ts";
import { NOTES_LIMITS } from "../../notes/src/notes-format.ts";
import { createDemoSession } from "../../simulator/src/demo-session.ts";
import { notesProgressLine } from "./commands/notes-command.ts";
import { type NotesReport, notesReport, notesView } from "./notes-report.ts";
import { memorySection, notesSection } from "./view/inspect-view.ts";
import { textWidth } from "./view/text-width.ts";

const folder = temporaryFolder();
const HOSTILE = "\u001b[2J\u001b]0;owned\u0007\r\u0000漢字";
let report: NotesReport;

const plain = { modelNotAsked: undefined, isDryRun: false } as const;
const usage = {
  input_tokens: 9,
  output_tokens: 1,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
};

beforeAll(async () => {
  const path = join(folder, "session.jsonl");
  await writeNewSession(path, createDemoSession());
  const session = await loadSession(path);
  report = notesReport(session, await buildNotes(session), NOTES_LIMITS, undefined);
});

/** Returns the most hostile content that a file could have. */
const hostile = (): NotesReport => ({
  ...report,
  written: false,
  path: `/a/${"long/".repeat(40)}${HOSTILE}.notes.md`,
  session: { id: `id${HOSTILE}`, path: "/s" },
  preface: `${HOSTILE}\n\tmine, ${"word ".repeat(60)}`,
  sections: [
    {
      name: `Name ${HOSTILE} ${"x".repeat(120)}`,
      tokens: 99_999,
      text: `- ${"y".repeat(300)}\n  - ${HOSTILE}`,
    },
    ...report.sections,
  ],
  overLimit: [`Name ${HOSTILE}`, "x".repeat(200)],
  covers: { state: "known", uuid: `u${HOSTILE}${"9".repeat(50)}`, timestamp: `2026${HOSTILE}`, newer: 3 },
});

/** Removes the last line: the path of the notes, which may be wider than the terminal. */
const withoutPath = (view: string): string => view.slice(0, view.lastIndexOf("\n"));

describe.each([44, 60, 80, 100])("notes and memory files in %d columns", (width) => {
  const views = (): readonly string[] => [
    notesView({ ...report, path: "/short" }, plain, terminal(width)),
    withoutPath(notesView(hostile(), { modelNotAsked: `m${HOSTILE}`, isDryRun: true }, terminal(width))),
    notesSection(hostile(), terminal(width)),
    notesSection({ path: `/a${HOSTILE}`, problem: `It is ${HOSTILE} ${"no ".repeat(90)}` }, terminal(width)),
    memorySection(
      {
        attached: [{ path: `/p/${"sub/".repeat(60)}${HOSTILE}`, tokens: 1, times: 2, isVisible: false }],
        folder: "/p",
        governing: [{ path: "/p/AGENTS.md", tokens: 12_345 }],
        skipped: [{ path: "/p/x.md", reason: HOSTILE.repeat(20) }],
      },
      "/p",
      terminal(width),
    ),
  ];

  it("keeps notes and memory files within the width of the terminal, without control sequences", () => {
    for (const view of views()) {
      for (const line of view.split("\n")) expect([textWidth(line) <= width, line]).toEqual([true, line]);
      expect(view).not.toMatch(/[^\P{Cc}\n]/u);
    }
  });
});

describe("notesView, the output of longhaul notes", () => {
  const shown = (fields: Partial<NotesReport>, options = plain): string =>
    notesView({ ...report, ...fields }, options, terminal(80));

  it("shows every section of the notes with its tokens and its token limit", () => {
    const view = shown({});
    for (const { name } of report.sections) expect(view).toContain(name);
    expect(view).toMatch(/Worklog +[\d,]+ \/ 2,000 [█▏▎▍▌▋▊▉]+\n/);
    expect(shown({ sections: [{ name: "Mood", tokens: 0, text: "" }] })).toContain("(nothing noted)");
  });

  it("shows no sections of notes for a session without messages", () => {
    const view = shown({ outcome: "up-to-date", tokens: 0, written: false, work: null });
    expect(view).toContain("This session has no messages yet, so there are no notes.");
    expect(view).not.toContain("Worklog");
  });

  it("shows headings of the notes in bold, but only when colors are on", () => {
    expect(notesView(report, plain, terminal(80, true))).toContain("\u001b[1mCurrent State");
    expect(shown({})).not.toContain("\u001b");
  });

  it.each([
    [
      { state: "known", uuid: "12345678-9", timestamp: "2026-01-02T03:04:05Z", newer: 0 },
      "Up to date: the notes cover everything up to message 12345678 (2026-01-02 03:04).",
    ],
    [{ state: "known", uuid: "1", timestamp: null, newer: 1 }, "1. 1 newer message is missing"],
    [{ state: "known", uuid: "1", timestamp: null, newer: 12 }, "12 newer messages are missing"],
    [{ state: "known", uuid: null, timestamp: null, newer: 12 }, "The notes are incomplete"],
    [{ state: "unknown", uuid: null, timestamp: null, newer: null }, "do not say"],
    [{ state: "not-found", uuid: "x", timestamp: null, newer: null }, "not in this session"],
  ] as const)("says how much of the session the notes cover: %j", (covers, words) => {
    expect(shown({ covers }).replaceAll("\n  ", " ")).toContain(words);
  });

  it("says whether a model wrote the notes, from how many messages, and to which file", () => {
    const work = {
      by: "built-in",
      model: null,
      messages: 7,
      calls: 0,
      edits: 0,
      refused: 0,
      complete: true,
      fallback: null,
      usage: null,
      cost: null,
    } as const;
    expect(shown({ work, outcome: "updated" })).toContain("Updated from 7 messages, without a model.");
    expect(shown({ outcome: "shown", work: null, written: false })).not.toContain("Written");
    expect(shown({ outcome: "up-to-date", work: null, written: false })).toContain("There is nothing new.");
    const dry = { modelNotAsked: "claude-x", isDryRun: true };
    const view = notesView({ ...report, written: false }, dry, terminal(80)).replaceAll("\n", " ");
    expect(view).toContain("claude-x was not called: a dry run calls no model.");
    expect(view).toContain(`Nothing was written. Without --dry-run, the notes go to: ${report.path}`);
    const asked = {
      ...work,
      by: "model",
      model: "claude-x",
      calls: 2,
      usage,
      cost: 0.5,
      complete: false,
    } as const;
    const byModel = shown({ work: asked, outcome: "built" }).replaceAll("\n", " ");
    expect(byModel).toContain(
      "by claude-x in 2 calls: 9 tokens in, 1 out, $0.5000. Some edits of the model were invalid",
    );
    const late = { ...asked, complete: true, fallback: { reason: "model-timed-out", messages: 3 } } as const;
    expect(shown({ work: late, outcome: "built" }).replaceAll("\n", " ")).toContain(
      "claude-x timed out. The built-in note taker noted the last 3 messages instead.",
    );
  });

  it("shows the progress of writing the notes", () => {
    expect(notesProgressLine({ step: 1, steps: 1, messages: 4 }, undefined)).toBe("Writing the notes …");
    expect(notesProgressLine({ step: 2, steps: 3, messages: 4 }, "m")).toBe(
      "m reads 4 messages (part 2 of 3) …",
    );
  });
});

describe("memorySection", () => {
  it("lists each memory file with its tokens and how it was attached", () => {
    const memory = {
      attached: [{ path: "/p/a/AGENTS.md", tokens: 120, times: 2, isVisible: true }],
      folder: "/p",
      governing: [
        { path: "/p/a/AGENTS.md", tokens: 130 },
        { path: "/p/CLAUDE.md", tokens: 900 },
      ],
      skipped: [],
    };
    const view = memorySection(memory, "/p", terminal(80));
    expect(view).toContain("Memory files (1 file in the context, 120 tokens)");
    expect(view).toMatch(/120 {2}a\/AGENTS\.md {2}attached 2 times\n/);
    expect(view).toMatch(/900 {2}CLAUDE\.md {4}on disk, not attached/);
    expect(
      memorySection({ attached: [], folder: null, governing: [], skipped: [] }, null, terminal(80)),
    ).toBe("");
  });
});
