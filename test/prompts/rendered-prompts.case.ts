import { createHooks, type ToolDefinition } from "@longhaul/core";
import { ledgerText } from "@longhaul/core/compaction";
import { ESTIMATORS } from "@longhaul/core/measure";
import type { Attachment, Ledger } from "@longhaul/core/messages";
import { continuationMessage, SUMMARY_SYSTEM_PROMPT, summaryPrompt } from "@longhaul/core/summary";
import { createAgentState } from "../../packages/agent/src/agent-state.ts";
import { systemPrompt } from "../../packages/agent/src/system-prompt.ts";
import { standardTools } from "../../packages/agent/src/tools/standard-tools.ts";
import { WEB_FETCH_SYSTEM_PROMPT } from "../../packages/agent/src/tools/web/web-fetch.ts";
import type { Workplace } from "../../packages/agent/src/workplace.ts";
import { factsSection } from "../../packages/core/src/compaction/summary/summary-message.ts";
import { compactionInstructions } from "../../packages/core/src/compaction/summary/summary-prompt.ts";
import { HOOK_EVENTS } from "../../packages/core/src/hooks/hook.ts";
import { SPAN_SYSTEM_PROMPT, spanPrompt } from "../../packages/core/src/modules/collapse/summarize-span.ts";
import { attachmentContent } from "../../packages/core/src/request/flatten/attachment-content.ts";
import { findEditTool } from "../../packages/notes/src/model-edits.ts";
import { measureNotes, NOTES_LIMITS, parseNotes } from "../../packages/notes/src/notes-format.ts";
import { NOTES_SYSTEM_PROMPT, notesPrompt } from "../../packages/notes/src/notes-prompt.ts";
import { NOTES_TEMPLATE, parseTemplate } from "../../packages/notes/src/template.ts";

/**
 * Returns every prompt as a model reads it. The key is the name of the prompt. The code that builds the
 * requests renders the prompts.
 */
export async function renderedPrompts(): Promise<Readonly<Record<string, string>>> {
  return {
    ...summaryPrompts(),
    ...continuationMessages(),
    ...notesPrompts(),
    ...spanPrompts(),
    ...restoredTexts(),
    ...(await hookPrompts()),
    ...agentPrompts(),
  };
}

const POINT = { description: `the user's message that begins with "Now add the tests"`, messages: 12 };
const INSTRUCTIONS = "Keep every port number.";

function summaryPrompts(): Readonly<Record<string, string>> {
  return {
    "summary-system": SUMMARY_SYSTEM_PROMPT,
    "summary-whole": summaryPrompt(),
    "summary-whole-recent-kept": summaryPrompt({ keepsRecent: true }),
    "summary-incremental": summaryPrompt({ hasEarlierSummary: true }),
    "summary-from": summaryPrompt({ variant: "from", point: POINT }),
    "summary-up-to": summaryPrompt({ variant: "up-to", point: POINT }),
    "summary-up-to-alone": summaryPrompt({ variant: "up-to" }),
    "summary-instructions": summaryPrompt({ instructions: INSTRUCTIONS }),
    "summary-by-provider": compactionInstructions({ instructions: INSTRUCTIONS }, 16_384),
  };
}

function continuationMessages(): Readonly<Record<string, string>> {
  const input = {
    summary: "Summary:\n1. Primary Request and Intent:\n   (the summary)",
    transcriptPath: "/sessions/session.jsonl",
    recallTool: "recall",
    keptRecent: true,
    trigger: "auto",
  } as const;
  return {
    continuation: continuationMessage(input),
    "continuation-autonomous": continuationMessage({ ...input, autonomous: true, unseen: "whole" }),
    "continuation-shortened": continuationMessage({ ...input, unseen: "shortened" }),
    "continuation-from": continuationMessage({ ...input, keptEarlier: true, keptRecent: false }),
    "continuation-notes": continuationMessage({ ...input, isNotes: true }),
    "continuation-manual": continuationMessage({ ...input, trigger: "manual" }),
    "quoted-facts": factsSection(
      "User messages, newest first [id status]:\n[d-1 active] > Keep the tests green.",
    ),
    "ledger-text": ledgerText(LEDGER, { recallTool: "recall" }),
  };
}

const LEDGER: Ledger = {
  facts: [
    {
      id: "d-1",
      kind: "directive",
      status: "active",
      text: "Keep the tests green.",
      entryIds: ["e-1"],
      fate: "quoted",
    },
    { id: "f-1", kind: "file", text: "changed src/a.ts", entryIds: ["e-2"], fate: "recoverable" },
  ],
  summarized: { messages: 40, tokens: 90_000 },
  kept: { messages: 4, tokens: 2_000 },
  restored: [{ kind: "files", name: "src/a.ts", tokens: 300 }],
  skipped: [],
  quotedTokens: 120,
};

function notesPrompts(): Readonly<Record<string, string>> {
  const long = `# Worklog\n${"- a step that was done\n".repeat(400)}`;
  const notesIn = (text: string) => parseNotes(text, parseTemplate(NOTES_TEMPLATE));
  const properties = Object.fromEntries(
    ["file_path", "old_string", "new_string"].map((name) => [name, { type: "string" }]),
  );
  const editTool = findEditTool({ tools: [{ name: "Edit", input_schema: { type: "object", properties } }] });
  const prompt = (text: string, options: { isPart?: boolean; editTool?: typeof editTool } = {}): string => {
    const notes = notesIn(text);
    const limits = text === long ? { sectionTokens: 1_000, totalTokens: 1_500 } : NOTES_LIMITS;
    const size = measureNotes(notes, ESTIMATORS.o200k);
    return notesPrompt({ notes, size, limits, path: "/sessions/notes.md", editTool: undefined, ...options });
  };
  return {
    "notes-system": NOTES_SYSTEM_PROMPT,
    "notes-template": NOTES_TEMPLATE,
    "notes-update-by-tool": prompt("# Worklog\n- began\n", { editTool }),
    "notes-update-by-text": prompt("# Worklog\n- began\n", { isPart: true }),
    "notes-update-too-long": prompt(long),
  };
}

const spanPrompts = (): Readonly<Record<string, string>> => ({
  "span-system": SPAN_SYSTEM_PROMPT,
  "span-summary": spanPrompt(400),
});

const ATTACHMENTS: readonly Attachment[] = [
  { type: "compact_file_reference", filename: "src/large.ts" },
  { type: "edited_text_file", filename: "src/a.ts", snippet: "1\tone" },
  { type: "nested_memory", path: "AGENTS.md", content: "Use tabs." },
  { type: "plan_file_reference", planFilePath: "plan.md", planContent: "1. Look" },
  { type: "todo", content: [{ content: "Run the tests", status: "pending" }] },
  { type: "skill_listing", content: "- review" },
  { type: "deferred_tools_delta", addedNames: ["A"], readdedNames: ["B"], removedNames: ["C"] },
  { type: "deferred_tools_delta", pendingMcpServers: ["D"], needsAuthMcpServers: ["E"] },
  { type: "agent_listing_delta", addedTypes: ["checker"], removedTypes: ["finder"] },
  { type: "mcp_instructions_delta", addedBlocks: ["Be kind."], removedNames: ["old"] },
  { type: "invoked_skills", skills: [{ name: "review", path: "/skills/review/SKILL.md", content: "Read." }] },
  { type: "plan_mode", planFilePath: "plan.md" },
  { type: "task_status", taskId: "a1", description: "search", status: "running" },
  { type: "task_status", taskId: "a2", description: "search", status: "completed", outputFilePath: "a2.md" },
  { type: "session_memory", path: "/sessions/notes.md" },
];

const restoredTexts = (): Readonly<Record<string, string>> => ({
  "restored-content": ATTACHMENTS.flatMap((attachment) =>
    attachmentContent(attachment).map((block) => (block.type === "text" ? block.text : `[${block.type}]`)),
  ).join("\n\n"),
});

/** Returns the instructions that a hook of type `agent` gets before its own prompt. */
async function hookPrompts(): Promise<Readonly<Record<string, string>>> {
  const prompts: string[] = [];
  const settings = {
    hooks: Object.fromEntries(
      HOOK_EVENTS.map((event) => [
        event,
        [{ hooks: [{ type: "agent", prompt: "(the hook's own prompt)" }] }],
      ]),
    ),
  };
  const hooks = createHooks({
    settings,
    agent: async (prompt) => {
      prompts.push(prompt.slice(0, prompt.indexOf("(the hook's own prompt)")).trim());
      return '{"ok": true}';
    },
  });
  for (const hook_event_name of HOOK_EVENTS) {
    const base = { session_id: "s", transcript_path: "/sessions/session.jsonl", cwd: "/project" };
    await hooks.run({ ...base, hook_event_name, trigger: "auto", source: "compact" } as never);
  }
  return { hooks: prompts.join("\n\n") };
}

function agentPrompts(): Readonly<Record<string, string>> {
  const tools = standardTools(WORKPLACE).map(({ definition }) => definition);
  const options = {
    cwd: "/project",
    platform: "linux",
    date: new Date("2026-01-01T12:00:00Z"),
    isGitRepo: true,
    model: "claude-sonnet-4-5",
    tools: tools.map(({ name }) => name),
  };
  const agentType = { name: "general-purpose", instructions: "" };
  return {
    "agent-system": systemPrompt(options),
    "subagent-system": systemPrompt({ ...options, agentType }),
    "web-page-reader-system": WEB_FETCH_SYSTEM_PROMPT,
    tools: tools.map(toolText).join("\n\n"),
  };
}

const toolText = ({ name, description, input_schema }: ToolDefinition): string =>
  `## ${name}\n${description}\n\n${JSON.stringify(input_schema, null, 1)}`;

/** A workplace with only the fields that the tool definitions need. No tool is called. */
const WORKPLACE = {
  cwd: "/project",
  sessionPath: "/sessions/session.jsonl",
  state: createAgentState({ planPath: "/sessions/plan.md" }),
  agents: { types: [{ name: "general-purpose", description: "Any task." }] },
  skills: [
    { name: "review", description: "Reviews code.", folder: "/skills/review", read: async () => undefined },
  ],
} as unknown as Workplace;
