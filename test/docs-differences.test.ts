import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Model } from "@longhaul/core";
import { apiClearing, createCompactor } from "@longhaul/core";
import { KEEP_RECENT_TOKENS, SMALLEST_WORTHWHILE_SAVING } from "@longhaul/core/compaction";
import { computeThresholds, resolveSettings } from "@longhaul/core/measure";
import { restoreAll } from "@longhaul/core/restore";
import { describe, expect, it } from "vitest";
import { CLEARING_TARGET_TOKENS } from "../packages/core/src/compaction/clear/clearing-limits.ts";
import { FACTS_BUDGET_TOKENS } from "../packages/core/src/compaction/facts/quote-facts.ts";
import { RESULT_SHARE } from "../packages/core/src/compaction/plan/compaction-plan.ts";
import { MIN_WINDOW_TOKENS } from "../packages/core/src/measure/window/settings.ts";
import { formatCount } from "../packages/core/src/messages/text.ts";
import { PLAIN_CAPABILITIES } from "../packages/core/src/models/plain-model.ts";
import { API_CLEARING_TRIGGER_TOKENS } from "../packages/core/src/modules/api-clearing/api-clearing.ts";
import { notesAsSummary } from "../packages/notes/src/as-summary.ts";
import { NOTES_LIMITS, parseNotes } from "../packages/notes/src/notes-format.ts";
import { NOTES_TEMPLATE, parseTemplate } from "../packages/notes/src/template.ts";

const PAGE = readFileSync(join(import.meta.dirname, "..", "docs", "design", "differences.md"), "utf8");
const rows = [...PAGE.matchAll(/^\| (\d+) ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$/gm)].map(
  ([, section = "", title = "", spec = "", ours = "", reason = ""]) => ({
    section: Number(section),
    title,
    spec,
    ours,
    reason,
  }),
);

/** Returns the row that has these words in its middle columns. */
function rowWith(...words: readonly string[]): string {
  const found = rows.filter(({ spec, ours }) => words.every((word) => `${spec} | ${ours}`.includes(word)));
  expect(found, words.join(", ")).toHaveLength(1);
  const [{ spec, ours, reason } = { spec: "", ours: "", reason: "" }] = found;
  return [spec, ours, reason].join(" | ");
}

const TEMPLATE = parseTemplate(NOTES_TEMPLATE);
const USUAL = { windowTokens: 200_000, maxOutputTokens: 32_000 };
const usual = computeThresholds(USUAL);

describe("the page docs/design/differences.md", () => {
  it("the table on the differences page is sorted by section and has a reason in every row", () => {
    const lines = PAGE.split("\n").filter((line) => /^\| \d/.test(line));
    expect(rows).toHaveLength(lines.length);
    expect(rows.length).toBeGreaterThan(40);
    const sections = rows.map(({ section }) => section);
    expect(sections).toEqual([...sections].sort((a, b) => a - b));
    for (const { reason, spec, ours } of rows) {
      expect(reason.trim().length, spec).toBeGreaterThan(20);
      expect(ours).not.toBe(spec);
    }
  });

  it("all rows of one section on the differences page have the same section title", () => {
    const titles = new Map(rows.map(({ section, title }) => [section, title]));
    expect(rows.filter(({ section, title }) => titles.get(section) !== title)).toEqual([]);
  });

  it("the differences page states the computed warning threshold for a low auto-compact percentage", () => {
    const low = computeThresholds(USUAL, { autoCompactPercent: 5 });
    const row = rowWith("warning = threshold");
    expect(row).toContain(`threshold is ${formatCount(low.autoCompact)}`);
    expect(row).toContain(`the warning ${formatCount(low.warning)}`);
  });

  it("the differences page states the smallest window, and the code accepts any blocking limit", () => {
    expect(rowWith("a smaller window can be set")).toContain(`under ${formatCount(MIN_WINDOW_TOKENS)} `);
    expect(resolveSettings({ values: { blockingLimit: 1 } })).toMatchObject({
      settings: { blockingLimit: 1 },
      warnings: [],
    });
  });

  it("the differences page states when the provider clears results, and the engine requests one clearing edit", async () => {
    const row = rowWith("clearing by the API starts");
    for (const tokens of [API_CLEARING_TRIGGER_TOKENS, usual.warning, usual.autoCompact, usual.blocking]) {
      expect(row).toContain(formatCount(tokens));
    }
    expect(API_CLEARING_TRIGGER_TOKENS).toBe(usual.effective);
    const model: Model = {
      name: "any",
      capabilities: { ...PLAIN_CAPABILITIES, contextEdits: true },
      stream: () => expect.unreachable(),
      countTokens: () => expect.unreachable(),
    };
    const tools = ["Read", "Write"].map((name) => ({ name, input_schema: { type: "object" as const } }));
    const compactor = createCompactor({
      model,
      window: { tokens: USUAL.windowTokens },
      request: { tools },
      clearing: { form: "api" },
      modules: [apiClearing()],
      settings: { environment: {} },
    });
    const { request } = await compactor.before([{ role: "user", content: "hello" }]);
    expect(request.context_management?.edits).toEqual([
      expect.objectContaining({
        trigger: { type: "input_tokens", value: usual.warning },
        clear_tool_inputs: ["Write"],
      }),
    ]);
    const least = formatCount(API_CLEARING_TRIGGER_TOKENS - CLEARING_TARGET_TOKENS);
    expect(rowWith("one for write-like tools")).toContain(`${least} tokens each`);
  });

  it("the differences page states the same numbers for a compaction as the code", () => {
    const { share, tokens } = SMALLEST_WORTHWHILE_SAVING;
    expect(rowWith("keeps no messages")).toContain(formatCount(KEEP_RECENT_TOKENS));
    const saving = rowWith("compaction-ineffective");
    expect(saving).toContain(`${share * 100}%`);
    expect(saving).toContain(`${formatCount(tokens)} tokens`);
    expect(rowWith("fixed budgets")).toContain(`${RESULT_SHARE * 100}%`);
    expect(rowWith("the budget is at most")).toContain(formatCount(FACTS_BUDGET_TOKENS));
    const notes = rowWith("each section is cut");
    expect(notes).toContain(formatCount(NOTES_LIMITS.sectionTokens));
    expect(notes).toContain(formatCount(NOTES_LIMITS.totalTokens));
  });

  it("the differences page states the same order of restored content as the code", async () => {
    rowWith("todos, plan, plan mode");
    const restored = await restoreAll(
      {
        summarized: [],
        kept: [],
        keptPlace: "after",
        countTokens: (text) => text.length,
        budgetTokens: 100_000,
      },
      {
        skills: () => [{ name: "sail", content: "Set the sail. ".repeat(50) }],
        plan: () => ({ path: "/plan.md", content: "Set out at noon." }),
        todos: () => [{ content: "Cast off", status: "pending" }],
        tools: () => ["Read"],
      },
    );
    expect(restored.items.map(({ kind }) => kind)).toEqual(["todos", "plan", "tools", "skills"]);
  });

  it("the differences page says that a summary from notes omits the italic lines", () => {
    expect(rowWith("the summary text is the notes")).toContain("italic lines");
    const [first] = TEMPLATE.sections;
    const text = `${first?.heading}\n${first?.guide}\n\nThe quota of ships\n`;
    const summary = notesAsSummary(parseNotes(text, TEMPLATE), {
      limits: NOTES_LIMITS,
      path: "/notes.md",
      countTokens: (words) => words.length / 4,
    });
    expect(summary).toBe(`${first?.heading}\nThe quota of ships`);
  });
});
