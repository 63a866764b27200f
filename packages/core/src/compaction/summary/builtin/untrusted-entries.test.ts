import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Entry } from "../../../messages/entry.ts";
import { presentSections, SECTION_NAMES } from "../summary-message.ts";
import { summarize } from "./summarize.ts";

const countTokens = (text: string): number => Math.ceil(text.length / 3);

describe("malformed entries", () => {
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

  it("summarizes entries of any shape in nine sections within the budget, without throwing", () => {
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

describe("huge entries", () => {
  const user = (text: string): Entry =>
    ({ type: "user", message: { role: "user", content: text } }) as unknown as Entry;
  const reply = (text: string): Entry =>
    ({
      type: "assistant",
      message: { role: "assistant", content: [{ type: "text", text }] },
    }) as unknown as Entry;

  it.each([
    ["one tag opened 200,000 times", user("<system-reminder>".repeat(200_000))],
    ["one line of many sentences", reply("The problem is that it fails. ".repeat(300_000))],
    ["one line of many code marks", reply("`a`. ".repeat(1_000_000))],
    ["one endless word", user("x".repeat(10_000_000))],
  ])("summarizes a huge entry within the budget: %s", (_what, entry) => {
    const summary = summarize([entry], { countTokens });
    expect(countTokens(summary.text)).toBeLessThanOrEqual(8_000);
  });
});
