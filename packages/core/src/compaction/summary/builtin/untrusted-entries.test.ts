import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Entry } from "../../../messages/entry.ts";
import { presentSections, SECTION_NAMES } from "../summary-message.ts";
import { summarize } from "./summarize.ts";

const countTokens = (text: string): number => Math.ceil(text.length / 3);

describe("entries of any shape", () => {
  const junk = fc.jsonValue({ maxDepth: 3 });
  const block = fc.oneof(
    junk,
    fc.record(
      {
        type: fc.constantFrom("text", "tool_use", "tool_result", "image", "thinking", "nonsense"),
        text: junk,
        id: fc.constantFrom("a", "b"),
        tool_use_id: fc.constantFrom("a", "b", "c"),
        name: fc.oneof(
          fc.constantFrom("Bash", "Edit", "Write", "Read", "TodoWrite", "TaskCreate", "TaskUpdate", "Agent"),
          fc.constantFrom("AskUserQuestion", "ExitPlanMode", "MultiEdit"),
          junk,
        ),
        input: fc.oneof(
          junk,
          fc.record({ command: junk, file_path: junk, edits: junk, todos: junk, plan: junk }),
        ),
        content: fc.oneof(junk, fc.string()),
        is_error: fc.oneof(fc.boolean(), junk),
      },
      { requiredKeys: ["type"] },
    ),
  );
  const entry = fc.record(
    {
      type: fc.constantFrom(
        "user",
        "assistant",
        "attachment",
        "system",
        "progress",
        "queue-operation",
        "other",
      ),
      message: fc.oneof(
        junk,
        fc.record({ content: fc.oneof(junk, fc.array(block, { maxLength: 4 })), model: junk }),
      ),
      attachment: fc.oneof(
        junk,
        fc.record({ type: fc.constantFrom("queued_command", "edited_text_file"), prompt: junk }),
      ),
      operation: fc.constantFrom("enqueue", "dequeue"),
      content: junk,
      toolUseResult: junk,
      isMeta: fc.oneof(fc.boolean(), junk),
      isCompactSummary: fc.oneof(fc.boolean(), junk),
      isSidechain: junk,
      todos: junk,
      origin: junk,
      cwd: junk,
      gitBranch: junk,
    },
    { requiredKeys: ["type"] },
  );

  it("never make it throw, and the summary still has its nine sections within the budget", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(entry, junk), { maxLength: 12 }), (entries) => {
        const summary = summarize(entries as unknown as Entry[], { countTokens, budgetTokens: 2_000 });
        expect(presentSections(summary.text)).toEqual(SECTION_NAMES);
        expect(countTokens(summary.text)).toBeLessThanOrEqual(2_000);
      }),
      { numRuns: 500 },
    );
  });
});

describe("entries of any size", () => {
  const user = (text: string): Entry =>
    ({ type: "user", message: { role: "user", content: text } }) as unknown as Entry;
  const says = (text: string): Entry =>
    ({
      type: "assistant",
      message: { role: "assistant", content: [{ type: "text", text }] },
    }) as unknown as Entry;

  it.each([
    ["a tag that is opened again and again", user("<system-reminder>".repeat(200_000))],
    ["one line of many sentences", says("The problem is that it fails. ".repeat(300_000))],
    ["one line of many code marks", says("`a`. ".repeat(1_000_000))],
    ["one endless word", user("x".repeat(10_000_000))],
  ])("are read in one go: %s", (_what, entry) => {
    const summary = summarize([entry], { countTokens });
    expect(countTokens(summary.text)).toBeLessThanOrEqual(8_000);
  });
});
