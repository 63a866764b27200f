import type { Entry } from "@longhaul/core/messages";
import { describe, expect, it } from "vitest";
import { ConversationBuilder, image, toolResult } from "../../../test/support/builders.ts";
import { type PromptReport, promptsOf } from "./prompts-report.ts";

const prompts = (entries: readonly Entry[], cleared: readonly string[] = []): readonly PromptReport[] =>
  promptsOf({ conversation: entries, clearedToolUseIds: new Set(cleared) });

describe("promptsOf", () => {
  it("lists the user's requests, slash commands and shell commands in order", () => {
    const c = new ConversationBuilder();
    c.user("build it");
    c.user("<command-name>/review</command-name><command-args>the tides</command-args>");
    c.user("<bash-input>git status</bash-input>");
    c.user([{ type: "text", text: "what is this?" }, image()]);
    expect(prompts(c.entries).map(({ text }) => text)).toEqual([
      "build it",
      "/review the tides",
      "! git status",
      "what is this?\n[image]",
    ]);
  });

  it("lists prompts that were queued while the agent worked", () => {
    const c = new ConversationBuilder();
    c.user("build it");
    const queued = c.attachment({ type: "queued_command", prompt: "and paint it" });
    c.attachment({ type: "file", filename: "a.ts" });
    expect(prompts(c.entries).map(({ uuid, text }) => [uuid, text])).toEqual([
      [expect.any(String), "build it"],
      [queued.uuid, "and paint it"],
    ]);
  });

  it("does not list tool results, summaries, injected text, interruptions and notifications as prompts", () => {
    const c = new ConversationBuilder();
    c.summary("a summary");
    c.user("injected", { isMeta: true });
    c.user([toolResult("t", "a result"), { type: "text", text: "beside it" }]);
    c.user("[Request interrupted by user]");
    c.user("<task-notification>done</task-notification>");
    c.user("<local-command-stdout>1</local-command-stdout>");
    c.assistant("an answer");
    expect(prompts(c.entries)).toEqual([]);
  });

  it("counts the tokens before each prompt, without the content of cleared tool results", () => {
    const c = new ConversationBuilder();
    c.user("first");
    c.tool("t", "Read", { file_path: "/a" }, "word ".repeat(4_000));
    c.user("second");
    const [first, second] = prompts(c.entries);
    expect(first?.tokensBefore).toBe(0);
    expect(second?.tokensBefore).toBeGreaterThan(3_000);
    expect(prompts(c.entries, ["t"])[1]?.tokensBefore).toBeLessThan(100);
  });
});
