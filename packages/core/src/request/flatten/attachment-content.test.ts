import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../../../../test/support/builders.ts";
import { claudeCodeSessions, describeRecorded } from "../../../../../test/support/real-sessions.ts";
import { documentsOf } from "../../../../sessions/src/recall/documents.ts";
import { accountTokens } from "../../measure/tokens/accounting.ts";
import { measureEntries } from "../../measure/tokens/measure.ts";
import type { Attachment } from "../../messages/entry.ts";
import { contentText } from "../../messages/untrusted.ts";
import { attachmentContent, sentContent } from "./attachment-content.ts";
import { countOriginalMessages } from "./count-messages.ts";
import { flatten } from "./flatten.ts";
import { readableText } from "./readable-text.ts";

const textOf = (attachment: Attachment): string => contentText(attachmentContent(attachment));

describe("attachments as user content", () => {
  it("sends a queued command as user text, or as blocks with images", () => {
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "x" } };
    expect(attachmentContent({ type: "queued_command", prompt: "and this" })).toEqual([
      { type: "text", text: "and this" },
    ]);
    const blocks = attachmentContent({
      type: "queued_command",
      prompt: [{ type: "text", text: "see" }, image],
    });
    expect(blocks).toEqual([{ type: "text", text: "see" }, image]);
  });

  it("sends a memory file as a system reminder", () => {
    const text = textOf({ type: "nested_memory", path: "/p/RULES.md", content: { content: "use tabs" } });
    expect(text).toMatch(/^<system-reminder>\n[\s\S]*\/p\/RULES\.md[\s\S]*use tabs\n<\/system-reminder>$/);
  });

  it.each<[string, Attachment, readonly string[]]>([
    [
      "a file",
      {
        type: "file",
        filename: "/a.ts",
        content: { type: "text", file: { content: "let a", startLine: 5, numLines: 1, totalLines: 9 } },
      },
      ["/a.ts", "let a", "lines 5 to 5 of 9"],
    ],
    ["a file given as a string", { type: "file", filename: "/a.ts", content: "let a" }, ["/a.ts", "let a"]],
    [
      "a file too large to restore",
      { type: "compact_file_reference", filename: "/big.log" },
      ["/big.log", "Read it again"],
    ],
    [
      "a file edited elsewhere",
      { type: "edited_text_file", filename: "/a.ts", snippet: "1\tlet b" },
      ["/a.ts", "let b"],
    ],
    [
      "a plan",
      { type: "plan_file_reference", planFilePath: "/plan.md", planContent: "first this" },
      ["/plan.md", "first this"],
    ],
    [
      "todos",
      { type: "todo", content: [{ content: "write tests", status: "in_progress" }] },
      ["[in_progress] write tests"],
    ],
    [
      "tasks",
      { type: "task_reminder", content: [{ subject: "ship it", status: "pending" }] },
      ["[pending] ship it"],
    ],
    ["an empty task list", { type: "task_reminder", content: [], itemCount: 0 }, ["empty"]],
    [
      "a hook's output",
      { type: "hook_success", hookName: "SessionStart:startup", content: "be brief" },
      ["SessionStart:startup", "be brief"],
    ],
    [
      "a hook's context",
      { type: "hook_additional_context", hookName: "UserPromptSubmit", content: ["one", "two"] },
      ["one\ntwo"],
    ],
    [
      "a hook's reason to block",
      {
        type: "hook_blocking_error",
        hookName: "PostToolUse:Edit",
        blockingError: { blockingError: "format it first", command: "lint" },
      },
      ["PostToolUse:Edit", "format it first"],
    ],
    ["a folder", { type: "directory", path: "/p/src", content: "a.ts\nb.ts" }, ["/p/src", "a.ts\nb.ts"]],
    ["a list of skills", { type: "skill_listing", content: "- golang" }, ["golang"]],
    [
      "a change of tools",
      { type: "deferred_tools_delta", addedNames: ["CronCreate"], removedNames: ["Old"] },
      ["CronCreate", "no longer available", "Old"],
    ],
    [
      "a change of agents",
      { type: "agent_listing_delta", addedLines: ["- explorer: looks"], removedTypes: [] },
      ["explorer: looks"],
    ],
    [
      "server instructions",
      { type: "mcp_instructions_delta", addedBlocks: ["## docs\nask first"], removedNames: [] },
      ["ask first"],
    ],
    [
      "diagnostics",
      {
        type: "diagnostics",
        files: [{ uri: "/a.ts", diagnostics: [{ message: "unused", severity: "Error" }] }],
      },
      ["/a.ts", "Error: unused"],
    ],
    [
      "the head of a file",
      {
        type: "file",
        filename: "/a.ts",
        truncated: true,
        content: { type: "text", file: { content: "let a" } },
      },
      ["let a\n\n[The rest was left out. Read the file"],
    ],
    [
      "tasks with ids",
      { type: "task_reminder", content: [{ id: "4", subject: "ship it", status: "pending" }] },
      ["- #4 [pending] ship it"],
    ],
    [
      "skills in use",
      { type: "invoked_skills", skills: [{ name: "go", path: "/s/SKILL.md", content: "use gofmt" }] },
      ["Skill go (/s/SKILL.md):\nuse gofmt"],
    ],
    ["plan mode", { type: "plan_mode", planFilePath: "/plan.md" }, ["Plan mode is on", "/plan.md"]],
    [
      "a command in the background",
      { type: "task_status", taskType: "local_bash", taskId: "b1", status: "running", deltaSummary: "built" },
      ["Command b1 is still running", "So far: built"],
    ],
    [
      "an agent that has ended",
      { type: "task_status", taskId: "a1", description: "search", status: "failed", outputFilePath: "/out" },
      ["Agent a1 (search) in the background has ended: failed", "Its output is in /out."],
    ],
    ["the session notes", { type: "session_memory", path: "/notes.md" }, ["/notes.md"]],
  ])("converts an attachment to text for the model: %s", (_, attachment, parts) => {
    for (const part of parts) expect(textOf(attachment)).toContain(part);
  });

  it("sends attached images and PDFs as image and document blocks", () => {
    const picture = attachmentContent({
      type: "file",
      filename: "/a.png",
      content: { type: "image", file: { base64: "x", type: "image/png" } },
    });
    expect(picture[1]).toEqual({
      type: "image",
      source: { type: "base64", media_type: "image/png", data: "x" },
    });
    const pdf = attachmentContent({
      type: "file",
      filename: "/a.pdf",
      content: { type: "pdf", file: { base64: "x" } },
    });
    expect(pdf[1]).toMatchObject({ type: "document", source: { media_type: "application/pdf" } });
  });

  it("sends nothing for attachments that are internal, unknown or empty", () => {
    const silent: Attachment[] = [
      { type: "command_permissions", allowedTools: ["Bash(ls:*)"] },
      { type: "auto_mode" },
      { type: "prompt_snapshot", systemPrompt: ["You are an agent."], tools: [{ name: "Bash" }] },
      { type: "session_context", context: { branch: "main" } },
      { type: "hook_system_message", content: "for the screen", hookEvent: "PostToolUse" },
      { type: "hook_non_blocking_error", stderr: "not found", hookEvent: "PreToolUse" },
      { type: "hook_success", content: "", stdout: "", hookEvent: "SessionStart" },
      { type: "hook_success", content: "checked", hookName: "PreToolUse:Bash", hookEvent: "PreToolUse" },
      { type: "hook_success", content: "ended", hookName: "Stop", hookEvent: "Stop" },
      { type: "hook_blocking_error", blockingError: {} },
      { type: "of_tomorrow", payload: { deep: [1] } },
      { type: "queued_command", prompt: " " },
      { type: "deferred_tools_delta", addedNames: [], removedNames: [] },
      { type: "invoked_skills", skills: [{ name: "empty", content: " " }] },
      { type: "session_memory" },
      { type: "of_tomorrow" },
    ];
    expect(silent.flatMap(attachmentContent)).toEqual([]);
  });

  it("treats attachment fields of the wrong type as absent", () => {
    const kinds = [
      "file",
      "nested_memory",
      "todo",
      "diagnostics",
      "hook_success",
      "queued_command",
      "skill_listing",
      "deferred_tools_delta",
      "invoked_skills",
      "plan_mode",
      "task_status",
      "session_memory",
      "directory",
      "hook_blocking_error",
    ];
    const damaged = kinds.flatMap((type) => [
      { type },
      { type, content: 5, prompt: {}, files: [3], addedNames: "x" },
    ]);
    for (const attachment of [...damaged, null, { type: 4 }]) {
      expect(() => attachmentContent(attachment as unknown as Attachment)).not.toThrow();
    }
  });
});

describe("attachments with a record of the sent content", () => {
  const sent = (rendered: unknown, attachment: Attachment = { type: "environment", snapshot: { os: "x" } }) =>
    sentContent({ attachment, rendered });

  it("uses the recorded content of an attachment, whatever its type", () => {
    const rendered = [{ content: "first" }, { content: [{ type: "text", text: "second" }] }];
    const texts = [
      { type: "text", text: "first" },
      { type: "text", text: "second" },
    ];
    expect(sent(rendered)).toEqual(texts);
    expect(sent(rendered, { type: "file", filename: "/a.ts", content: "let a" })).toEqual(texts);
    expect(sent(rendered, { type: "prompt_snapshot", systemPrompt: ["secret"] })).toEqual(texts);
  });

  it("sends nothing for an attachment whose record of the sent content is empty", () => {
    expect(sent([], { type: "file", filename: "/a.ts", content: "let a" })).toEqual([]);
    expect(sent([{ content: " " }])).toEqual([]);
  });

  it("uses the attachment's type when the record of the sent content cannot be read", () => {
    const file = { type: "file", filename: "/a.ts", content: "let a" };
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "x" } };
    const unreadable = [
      undefined,
      null,
      "text",
      { content: "text" },
      [5],
      [{ content: 5 }],
      [{ content: [image] }],
    ];
    for (const rendered of unreadable) {
      expect(sent(rendered, file)).toEqual(attachmentContent(file));
      expect(sent(rendered)).toEqual([]);
    }
  });

  it("never puts a tool call, a result or thinking from an attachment's record into a user message", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (rendered) => {
        const blocks = sentContent({ attachment: { type: "of_tomorrow" }, rendered });
        expect(blocks.every((block) => block.type === "text" && block.text.trim() !== "")).toBe(true);
      }),
    );
    const call = { type: "tool_use", id: "t", name: "Bash", input: {} };
    expect(sent([{ content: [{ type: "text", text: "a" }, call] }])).toEqual([]);
  });

  it("attachments that were never sent appear in no token count, no message and no readable text", () => {
    const b = new ConversationBuilder();
    b.user("go");
    const before = { tokens: measureEntries(b.entries, (text) => text.length), messages: flatten(b.entries) };
    b.attachment({ type: "prompt_snapshot", systemPrompt: ["You are an agent."] });
    b.attachment({ type: "of_tomorrow", text: "unknown" });
    b.assistant("done");
    const entries = b.entries.slice(0, 3);
    expect(measureEntries(entries, (text) => text.length)).toBe(before.tokens);
    expect(flatten(entries)).toEqual(before.messages);
    expect(readableText(entries)).toBe("go");
    expect(entries.flatMap(documentsOf)).toMatchObject([{ text: "go" }]);
    expect(accountTokens(entries, (text) => text.length).attachments).toEqual(new Map());
    expect(entries.map((entry) => countOriginalMessages([entry]))).toEqual([1, 0, 0]);
  });
});

describeRecorded("attachments of recorded sessions", () => {
  it("converts every attachment type of the recorded sessions to content", () => {
    const unknown = new Set<string>();
    for (const path of claudeCodeSessions()) {
      for (const line of readFileSync(path, "utf8").split("\n")) {
        if (!line.includes('"type":"attachment"')) continue;
        const { attachment } = JSON.parse(line) as { attachment?: Attachment };
        if (attachment === undefined) continue;
        if (textOf(attachment) === "" && !MAY_BE_EMPTY.has(attachment.type)) unknown.add(attachment.type);
      }
    }
    expect([...unknown]).toEqual([]);
  });
});

/** Types that are never sent, or that may be empty. */
const MAY_BE_EMPTY: ReadonlySet<string> = new Set([
  "command_permissions",
  "hook_success",
  "hook_system_message",
  "hook_non_blocking_error",
]);
