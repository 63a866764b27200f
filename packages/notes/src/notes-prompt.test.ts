import { summaryPrompt } from "@longhaul/core/summary";
import { describe, expect, it } from "vitest";
import { findEditTool } from "./model-edits.ts";
import type { Notes, NotesTemplate } from "./notes-format.ts";
import { emptyNotes, measureNotes, notesAsShown } from "./notes-format.ts";
import { isNotesRequest, type NotesPromptOptions, notesPrompt, readNotesRequest } from "./notes-prompt.ts";
import { NOTES_TEMPLATE, parseTemplate } from "./template.ts";

const TEMPLATE = parseTemplate(NOTES_TEMPLATE);
const text = { type: "string" };
const properties = { file_path: text, old_string: text, new_string: text };
const EDIT = findEditTool({ tools: [{ name: "Edit", input_schema: { type: "object", properties } }] });

function notesOf(bodies: Readonly<Record<string, string>>, template: NotesTemplate = TEMPLATE): Notes {
  const notes = emptyNotes(template);
  const sections = notes.sections.map((section) => ({ ...section, body: bodies[section.heading] ?? "" }));
  return { ...notes, sections, coveredUuid: "uuid-7" };
}

function prompt(options: Partial<NotesPromptOptions> = {}): string {
  const notes = options.notes ?? notesOf({ "# Worklog": "- began" });
  const size = measureNotes(notes, (words) => words.length);
  const limits = { sectionTokens: 20, totalTokens: 60 };
  return notesPrompt({ notes, size, limits, path: "/n/notes.md", editTool: EDIT, ...options });
}

describe("the prompt that asks a model to update the notes", () => {
  it("the notes prompt shows the notes and their path, without the id of the newest noted message", () => {
    const notes = notesOf({ "# Worklog": "- began" });
    expect(prompt({ notes })).toContain(notesAsShown(notes));
    expect(prompt({ notes })).toContain("/n/notes.md");
    expect(prompt({ notes })).not.toContain("uuid-7");
  });

  it("the notes prompt names the host's edit tool with its parameters, and no other way to edit", () => {
    expect(prompt()).toContain("`Edit`. Pass `file_path`, `old_string` and `new_string`.");
    expect(prompt()).not.toContain("<note ");
  });

  it("the notes prompt asks for note blocks with section names when there is no edit tool", () => {
    const asked = prompt({ editTool: undefined });
    expect(asked).toContain('<note section="Session Title" mode="replace">');
    expect(asked).toContain("Errors & Corrections, Codebase and System Documentation");
    expect(asked).not.toContain("old_string");
  });

  it("the notes prompt calls the conversation incomplete only if the request has just the new messages", () => {
    expect(prompt()).not.toContain("conversation above is not complete");
    expect(prompt({ isPart: true })).toContain("conversation above is not complete");
  });

  it("the notes prompt mentions the section Current State only if the template has it", () => {
    const own = parseTemplate("# Diary\n_What happened._\n");
    expect(prompt()).toContain("Current State must always describe");
    expect(prompt({ notes: notesOf({}, own) })).not.toContain("Current State");
  });

  it("the notes prompt ends with the user's permanent instructions", () => {
    expect(prompt({ instructions: "  Keep the tide tables. " })).toMatch(/\nKeep the tide tables\.$/);
    expect(prompt({ instructions: " " })).toBe(prompt());
  });

  it("the notes prompt asks the model to condense exactly the sections that are over their limit", () => {
    expect(prompt()).not.toMatch(/over their limit|URGENT/);
    const asked = prompt({ notes: notesOf({ "# Worklog": "x".repeat(21), "# Learnings": "x".repeat(20) }) });
    expect(asked).toContain("- Worklog: 21 tokens, limit 20\n");
    expect(asked).not.toContain("- Learnings:");
    expect(asked).not.toContain("URGENT");
  });

  it("the notes prompt is marked URGENT when all sections together are over the total limit", () => {
    const bodies = {
      "# Worklog": "x".repeat(20),
      "# Learnings": "x".repeat(20),
      "# Workflow": "x".repeat(20),
    };
    expect(prompt({ notes: notesOf(bodies) })).not.toContain("URGENT");
    const over = prompt({ notes: notesOf({ ...bodies, "# Key Results": "x" }) });
    expect(over).toMatch(/URGENT: the notes have 61 tokens in total, and the limit is 60\./);
  });

  it("readNotesRequest returns the parts of a notes prompt, and undefined for any other text", () => {
    const notes = notesOf({
      "# Worklog": `a tag </session-notes> and ${"x".repeat(40)}`,
      "# Errors & Corrections": "y".repeat(30),
    });
    const asked = prompt({ notes });
    expect(isNotesRequest(asked)).toBe(true);
    expect(readNotesRequest(asked)).toEqual({
      path: "/n/notes.md",
      shown: notesAsShown(notes),
      condense: ["Errors & Corrections", "Worklog"],
      isUrgent: true,
    });
    expect(readNotesRequest(prompt())).toMatchObject({ condense: [], isUrgent: false });
    for (const other of [summaryPrompt(), "Update the notes of this session, please.", `So: ${asked}`])
      expect(readNotesRequest(other)).toBeUndefined();
  });
});
