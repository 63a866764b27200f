import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryEntries } from "../../../../../test/support/arbitraries.ts";
import { ConversationBuilder, thinking, toolResult, toolUse } from "../../../../../test/support/builders.ts";
import { promptsOf } from "../../../../longhaul/src/prompts-report.ts";
import { Measures } from "../../engine/contents.ts";
import { accountingMetrics, accountKnown, accountTokens } from "./accounting.ts";
import { ESTIMATORS } from "./estimators.ts";

const perCharacter = (text: string): number => text.length;

describe("token accounting", () => {
  it("divides tokens into user text, assistant text, local commands, tool requests, results and other", () => {
    const c = new ConversationBuilder();
    c.user("please");
    c.user("<local-command-stdout>ok</local-command-stdout>");
    c.assistant([thinking("hmm"), { type: "text", text: "sure" }, toolUse("a", "Bash", { command: "ls" })]);
    c.user([toolResult("a", "file.txt")]);
    const accounting = accountTokens(c.entries, perCharacter);
    expect(accounting.humanText).toBe(6);
    expect(accounting.localCommandOutput).toBe(47);
    expect(accounting.assistantText).toBe(4);
    expect(accounting.toolRequests.get("Bash")).toBe("Bash".length + '{"command":"ls"}'.length);
    expect(accounting.toolResults.get("Bash")).toBe(8);
    expect(accounting.otherByKind.get("thinking")).toBe(3);
    expect(accounting.total).toBe(6 + 47 + 4 + 20 + 8 + 3);
  });

  it("counts attachments by type, and queued user input as human text", () => {
    const c = new ConversationBuilder();
    c.attachment({ type: "queued_command", prompt: "also this" });
    c.attachment({ type: "task_reminder", content: [] });
    c.attachment({ type: "task_reminder", content: [] });
    const accounting = accountTokens(c.entries, perCharacter);
    expect(accounting.attachments.get("task_reminder")).toBe(2);
    expect(accounting.humanText).toBeGreaterThanOrEqual("also this".length);
  });

  it("does not count notices of the agent program as human text, in user messages or in the queue", () => {
    const notice =
      "<task-notification>\n<task-id>t1</task-id>\n<status>completed</status>\n</task-notification>";
    const c = new ConversationBuilder();
    c.user(notice);
    c.user([{ type: "text", text: notice }]);
    c.attachment({ type: "queued_command", prompt: notice });
    const accounting = accountTokens(c.entries, perCharacter);
    expect(accounting.humanText).toBe(0);
    expect(accounting.otherByKind.get("injected")).toBe(2 * notice.length);
    expect(promptsOf({ conversation: c.entries, clearedToolUseIds: new Set() })).toEqual([]);
  });

  it("counts (n − 1)/n of the tokens as waste for a file that was read n times", () => {
    const c = new ConversationBuilder();
    for (const [index, size] of [10, 11, 12].entries()) {
      c.tool(`r${index}`, "Read", { file_path: "/a.ts" }, "x".repeat(size));
    }
    c.tool("once", "Read", { file_path: "/b.ts" }, "y".repeat(99));
    for (const id of ["v1", "v2"]) c.tool(id, "read_file", { path: "/c.ts" }, "z".repeat(5));
    const { duplicateReads } = accountTokens(c.entries, perCharacter);
    expect(duplicateReads).toEqual([
      { path: "/a.ts", reads: 3, tokens: 33, wastedTokens: 22 },
      { path: "/c.ts", reads: 2, tokens: 10, wastedTokens: 5 },
    ]);
  });

  it("lists tool results by size, largest first, with the file or command of their calls", () => {
    const c = new ConversationBuilder();
    c.tool("a", "Bash", { command: "ls" }, "small");
    c.tool("b", "Read", { file_path: "/big.ts" }, "x".repeat(500));
    const [largest] = accountTokens(c.entries, perCharacter).results;
    expect(largest).toMatchObject({ tool: "Read", subject: "/big.ts", tokens: 500 });
  });

  it("counts tokens of tools with names such as __proto__ and constructor", () => {
    const c = new ConversationBuilder();
    c.tool("a", "__proto__", {}, "12345");
    c.tool("b", "constructor", {}, "123");
    const metrics = accountingMetrics(accountTokens(c.entries, perCharacter));
    expect(metrics.tool_result___proto___tokens).toBe(5);
    expect(metrics.tool_result_constructor_tokens).toBe(3);
  });
});

describe("accountKnown", () => {
  it("accountKnown returns the same result as accountTokens without counting any text again", () => {
    fc.assert(
      fc.property(arbitraryEntries(), (entries) => {
        let counted = 0;
        const measures = new Measures((text) => {
          counted++;
          return ESTIMATORS.o200k(text);
        });
        // Measures the entries in the same way as a turn does.
        for (const entry of entries) measures.ofEntry(entry);
        const before = counted;
        const known = accountKnown(entries, measures);
        expect(counted).toBe(before);
        expect(known).toEqual(accountTokens(entries, ESTIMATORS.o200k));
      }),
    );
  });
});

describe("accounting metrics", () => {
  it("accounting metrics contain tool requests and tool results as percentages of all tokens", () => {
    const c = new ConversationBuilder();
    c.user("x".repeat(100));
    c.tool("a", "Read", {}, "y".repeat(50));
    c.tool("b", "Bash", {}, "y".repeat(38));
    const accounting = accountTokens(c.entries, perCharacter);
    expect([accounting.toolRequestTokens, accounting.toolResultTokens]).toEqual([12, 88]);
    const metrics = accountingMetrics(accounting);
    expect(metrics).toMatchObject({
      total_tokens: 200,
      tool_request_tokens: 12,
      tool_request_percent: 6,
      tool_result_tokens: 88,
      tool_result_percent: 44,
      tool_result_Bash_percent: 19,
    });
  });

  it("the totals of the token accounting are the sums of their parts for any conversation", () => {
    const sum = (tokens: ReadonlyMap<string, number>): number =>
      [...tokens.values()].reduce((total, each) => total + each, 0);
    fc.assert(
      fc.property(arbitraryEntries(), (entries) => {
        const accounting = accountTokens(entries, perCharacter);
        expect(accounting.toolRequestTokens).toBe(sum(accounting.toolRequests));
        expect(accounting.toolResultTokens).toBe(sum(accounting.toolResults));
        const { humanText, assistantText, localCommandOutput, other } = accounting;
        const { toolRequestTokens, toolResultTokens, total } = accounting;
        const parts = [
          humanText,
          assistantText,
          localCommandOutput,
          other,
          toolRequestTokens,
          toolResultTokens,
        ];
        expect(parts.reduce((whole, part) => whole + part, 0)).toBe(total);
      }),
    );
  });

  it("accounting metrics contain tokens, counts and rounded percentages under flat names", () => {
    const c = new ConversationBuilder();
    c.user("x".repeat(50));
    c.tool("a", "Read", { file_path: "/a" }, "y".repeat(20));
    c.tool("b", "Read", { file_path: "/a" }, "y".repeat(20));
    c.attachment({ type: "todo" });
    const metrics = accountingMetrics(accountTokens(c.entries, perCharacter));
    expect(metrics).toMatchObject({
      tool_result_Read_tokens: 40,
      attachment_todo_count: 1,
      duplicate_read_tokens: 20,
      duplicate_read_file_count: 1,
    });
    expect(metrics.tool_result_Read_percent).toBe(Math.round((40 / (metrics.total_tokens ?? 1)) * 100));
  });

  it("accounting metrics of an empty conversation contain no percentages", () => {
    const names = Object.keys(accountingMetrics(accountTokens([], perCharacter)));
    expect(names.filter((name) => name.endsWith("_percent"))).toEqual([]);
  });
});
