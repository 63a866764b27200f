import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { claudeCodeSessions, describeRecorded } from "../../../test/support/real-sessions.ts";
import type { Attachment } from "../entry.ts";
import { contentText } from "../fields.ts";
import { attachmentContent } from "./attachment-content.ts";

const said = (attachment: Attachment): string => contentText(attachmentContent(attachment));

describe("attachments as user content", () => {
  it("sends a queued command as the user's own words, text or blocks with pictures", () => {
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

  it("marks everything else as put in by the harness", () => {
    const text = said({ type: "nested_memory", path: "/p/RULES.md", content: { content: "use tabs" } });
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
      "a file too large to put back",
      { type: "compact_file_reference", filename: "/big.log" },
      ["/big.log", "read it again"],
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
    ["no tasks", { type: "task_reminder", content: [], itemCount: 0 }, ["empty"]],
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
    ["a hook's message", { type: "hook_system_message", content: "linked" }, ["linked"]],
    ["skills", { type: "skill_listing", content: "- golang" }, ["golang"]],
    [
      "tools",
      { type: "deferred_tools_delta", addedNames: ["CronCreate"], removedNames: ["Old"] },
      ["CronCreate", "gone", "Old"],
    ],
    [
      "agents",
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
    ["notes", { type: "session_memory", path: "/notes.md" }, ["/notes.md"]],
    [
      "a kind of tomorrow",
      { type: "of_tomorrow", payload: { deep: [1] } },
      ["of_tomorrow", '{"payload":{"deep":[1]}}'],
    ],
  ])("says what there is to say about %s", (_, attachment, parts) => {
    for (const part of parts) expect(said(attachment)).toContain(part);
  });

  it("sends attached pictures and PDFs as such", () => {
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

  it("sends nothing for what only concerns the screen, or says nothing", () => {
    const silent: Attachment[] = [
      { type: "command_permissions", allowedTools: [] },
      { type: "auto_mode" },
      { type: "hook_success", content: "", stdout: "" },
      { type: "queued_command", prompt: " " },
      { type: "deferred_tools_delta", addedNames: [], removedNames: [] },
      { type: "invoked_skills", skills: [{ name: "empty", content: " " }] },
      { type: "session_memory" },
      { type: "of_tomorrow" },
    ];
    expect(silent.flatMap(attachmentContent)).toEqual([]);
  });

  it("takes fields of the wrong type for absent", () => {
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

describeRecorded("attachments of recorded sessions", () => {
  it("are all of a kind we know", () => {
    const unknown = new Set<string>();
    for (const path of claudeCodeSessions()) {
      for (const line of readFileSync(path, "utf8").split("\n")) {
        if (!line.includes('"type":"attachment"')) continue;
        const { attachment } = JSON.parse(line) as { attachment?: Attachment };
        if (attachment === undefined) continue;
        if (said(attachment).startsWith(`<system-reminder>\n${attachment.type}: {`))
          unknown.add(attachment.type);
      }
    }
    expect([...unknown]).toEqual([]);
  });
});
