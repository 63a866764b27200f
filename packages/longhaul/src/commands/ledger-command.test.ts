import type { Fate, Ledger, LedgerFact } from "@longhaul/core/messages";
import { describe, expect, it } from "vitest";
import { terminal } from "../../../../test/support/terminal.ts";
import type { CompactionLedgerReport, FateCounts, LedgerReport } from "../ledger-report.ts";
import { ledgerLine } from "../view/fate-words.ts";
import { textWidth } from "../view/text-width.ts";
import { ledgerView } from "./ledger-command.ts";

const HOSTILE = "\u001b[2J\u001b]0;owned\u0007\r\n\u0000";

const fact = (nth: number, fate: Fate, fields: Partial<LedgerFact> = {}): LedgerFact => ({
  id: `f${nth}`,
  kind: "file",
  text: `changed src/a/rather/long/folder/of/the/project/part-${nth}.ts`,
  entryIds: [`${String(nth).padStart(8, "0")}-0000-4000-8000-000000000000`],
  fate,
  ...fields,
});
const ledgerOf = (facts: readonly LedgerFact[], fields: Partial<Ledger> = {}): Ledger => ({
  facts,
  summarized: { messages: 390, tokens: 153_386 },
  kept: { messages: 1, tokens: 576 },
  restored: [{ kind: "files", name: "/project/part-1.ts", tokens: 1_207 }],
  skipped: [],
  quotedTokens: 0,
  ...fields,
});

function countsOf(facts: readonly LedgerFact[]): FateCounts {
  const of = (fate: Fate): number => facts.filter((one) => one.fate === fate).length;
  const [recoverable, gone] = [of("recoverable"), of("gone")];
  return {
    facts: facts.length,
    inContext: facts.length - recoverable - gone,
    summary: of("summary"),
    kept: of("kept"),
    quoted: of("quoted"),
    restored: of("restored"),
    recoverable,
    gone,
  };
}

function compaction(ledger: Ledger, fields: Partial<CompactionLedgerReport> = {}): CompactionLedgerReport {
  const counts = countsOf(ledger.facts);
  return {
    uuid: "653ae1dd-bd6f-48e7-aba8-beb69b69bae6",
    timestamp: "2026-07-26T15:01:00.000Z",
    trigger: "manual",
    before: 297_190,
    after: 16_970,
    promptVersion: null,
    isCurrent: true,
    source: "file",
    inThisFile: true,
    counts,
    kinds: counts.facts === 0 ? [] : [{ kind: "file", ...counts }],
    ledger,
    ...fields,
  };
}

const report = (...compactions: readonly CompactionLedgerReport[]): LedgerReport => ({
  session: { id: "70d782f7-b303-4e48-9512-6bec16c37abd", path: "/sessions/70d782f7.jsonl" },
  compactions,
});
const shown = (one: LedgerReport, all = false, width = 80): string =>
  ledgerView(one, { all, session: "70d782f7" }, terminal(width));

const SOME = [
  fact(1, "summary"),
  fact(2, "kept"),
  fact(3, "quoted"),
  fact(4, "restored"),
  fact(5, "recoverable"),
];

describe("ledgerView, the output of longhaul ledger", () => {
  it("counts the facts in the context and in the transcript, and reports that nothing is lost", () => {
    const view = shown(report(compaction(ledgerOf(SOME, { quotedTokens: 84 }))));
    expect(view).toMatch(/files\s+5\s+4\s+1 {2}█+▓+░+\n/);
    expect(view).toContain(
      "In the context: 1 in the summary, 1 in kept messages, 1 quoted (84 tokens), 1\n  restored. Nothing is lost.",
    );
    expect(view).not.toContain("gone  ");
  });

  it("names the kinds of restored content in plain words", () => {
    const restored = ["files", "todos", "session-memory", "mcp-instructions", "plan-mode"].map((kind) => ({
      kind,
      name: "x",
      tokens: 5,
    }));
    const view = shown(report(compaction(ledgerOf(SOME, { restored }))));
    for (const name of ["file", "to-dos", "notes", "MCP server", "plan mode"])
      expect(view).toMatch(new RegExp(`^ +5 {2}${name} +x$`, "m"));
  });

  it("lists facts outside the context, each with the message that contains it, and lists every fact with --all", () => {
    const view = shown(report(compaction(ledgerOf([fact(5, "recoverable")]))));
    expect(view).toContain("00000005  file  changed src/a/rather/long/folder/of/the/project/part-5.ts\n");
    const narrow = shown(report(compaction(ledgerOf([fact(5, "recoverable")]))), false, 60);
    expect(narrow).toContain("00000005  file  changed …g/folder/of/the/project/part-5.ts\n");
    expect(view).toContain("longhaul recall 70d782f7 --id MESSAGE");
    const all = shown(report(compaction(ledgerOf(SOME))), true);
    for (const where of [
      "file, summary",
      "file, kept",
      "file, quoted",
      "file, restored",
      "file, transcript",
    ]) {
      expect(all).toContain(where);
    }
  });

  it("lists at most fifteen facts, and says how many other facts there are", () => {
    const facts = Array.from({ length: 40 }, (_, nth) => fact(nth, "recoverable"));
    const view = shown(report(compaction(ledgerOf(facts))));
    expect(view).toContain("00000014  ");
    expect(view).not.toContain("00000015  ");
    expect(view).toContain("and 25 more. --all lists every fact.");
    expect(shown(report(compaction(ledgerOf(facts))), true)).toContain("00000039  ");
  });

  it("says how many facts the ledger does not list, and uses the singular for one fact", () => {
    const view = (unlisted: number): string => shown(report(compaction(ledgerOf(SOME, { unlisted }))));
    expect(view(1)).toContain("1 more fact is not listed.");
    expect(view(2)).toContain("2 more facts are not listed.");
  });

  it("counts facts as lost if no transcript contains them", () => {
    const view = shown(report(compaction(ledgerOf([fact(1, "gone"), fact(2, "summary")]))));
    expect(view).toContain("1 lost: not in any transcript.");
    expect(view).toContain("file, lost");
    expect(view).not.toContain("Nothing is lost.");
    expect(view).not.toContain("longhaul recall");
  });

  it("shows the prompt version of a compaction if the boundary entry records that version", () => {
    expect(shown(report(compaction(ledgerOf(SOME), { promptVersion: 7 })))).toContain(
      "297,190 → 16,970 tokens · prompts v7",
    );
    expect(shown(report(compaction(ledgerOf(SOME))))).not.toContain("prompts");
  });

  it("says whether longhaul computed the ledger, or that there is no ledger", () => {
    expect(shown(report(compaction(ledgerOf(SOME), { source: "computed" })))).toContain(
      "longhaul computed this one",
    );
    expect(shown(report(compaction(ledgerOf(SOME))))).not.toContain("computed");
    expect(shown(report(compaction(ledgerOf([]), { source: "none", ledger: null })))).toContain(
      "No details: its boundary has no ledger",
    );
  });

  it("says that the summarized messages are in the original session if this file lacks them", () => {
    const view = shown(report(compaction(ledgerOf(SOME), { inThisFile: false })));
    expect(view).toContain("These messages are in the original session");
    expect(view).not.toContain("longhaul recall");
  });

  it("shows one line with counts for each earlier compaction", () => {
    const older = { isCurrent: false, ledger: null } as const;
    const view = shown(
      report(
        compaction(ledgerOf(SOME)),
        compaction(ledgerOf(SOME), { ...older, uuid: "aaaaaaaa-1" }),
        compaction(ledgerOf([]), { ...older, uuid: "bbbbbbbb-2", source: "none" }),
      ),
    );
    expect(view).toMatch(/aaaaaaaa {2}2026-07-26 15:01 {2}manual +5 +4 +1\n/);
    expect(view).toMatch(/bbbbbbbb {2}2026-07-26 15:01 {2}manual$/);
  });

  it("reports that a conversation has no compaction", () => {
    expect(shown(report())).toContain("This conversation has no compaction");
    // After a rewind, the session contains more than the context.
    expect(shown(report())).not.toContain("everything that was said");
  });

  it("colors the ledger only when colors are on", () => {
    const colored = ledgerView(
      report(compaction(ledgerOf(SOME))),
      { all: false, session: "latest" },
      terminal(80, true),
    );
    expect(colored).toContain("\u001b[");
    expect(shown(report(compaction(ledgerOf(SOME))))).not.toContain("\u001b[");
  });

  it.each([44, 60, 80, 100, 120])(
    "keeps the ledger within %d columns and free of control sequences",
    (width) => {
      const facts = (["summary", "quoted", "recoverable", "gone"] as const).map((fate, nth) =>
        fact(nth, fate, { text: `说${HOSTILE} ${"word ".repeat(80)}`, entryIds: [`${HOSTILE}${nth}`] }),
      );
      const wild = ledgerOf(facts, {
        restored: [{ kind: `k${HOSTILE}`, name: `n${HOSTILE}${"x".repeat(200)}`, tokens: 1 }],
        skipped: [{ kind: `k${HOSTILE}`, name: "n", reason: `r${HOSTILE}` }],
        unlisted: 3_000,
        earlier: { boundary: `b${HOSTILE}`, facts: 12_345 },
      });
      const wildReport = {
        ...report(
          compaction(wild, {
            uuid: `u${HOSTILE}`,
            trigger: `t${HOSTILE}`,
            timestamp: HOSTILE,
            source: "computed",
          }),
        ),
        session: { id: `id${HOSTILE}`, path: `/p${HOSTILE}` },
      };
      const views = [
        shown(wildReport, false, width),
        shown(wildReport, true, width),
        shown(
          { ...wildReport, compactions: [...wildReport.compactions, ...wildReport.compactions] },
          true,
          width,
        ),
        ledgerLine(wild, terminal(width)),
      ];
      for (const view of views) {
        for (const line of view.split("\n")) expect([textWidth(line) <= width, line]).toEqual([true, line]);
        expect(view).not.toMatch(/[^\P{Cc}\n]/u);
      }
    },
  );
});

describe("ledgerLine, the result after a compaction", () => {
  it("reports in one or two lines where the facts are, and that nothing is lost", () => {
    expect(ledgerLine(ledgerOf(SOME, { quotedTokens: 84 }), terminal(100))).toBe(
      "Facts       5 facts: 1 in the summary, 1 in kept messages, 1 quoted (84 tokens), 1 restored, 1 only\n            in the transcript. Nothing is lost.",
    );
    expect(ledgerLine(ledgerOf([]), terminal(100))).toBe("Facts       none found");
  });
});
