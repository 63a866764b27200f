import { ESTIMATORS } from "@longhaul/core/measure";
import type { Entry } from "@longhaul/core/messages";
import { continuationMessage } from "@longhaul/core/summary";
import { describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../../test/support/builders.ts";
import type { Notes, NotesTemplate } from "./notes-format.ts";
import { formatNotes, NOTES_LIMITS, parseNotes } from "./notes-format.ts";
import { NOTES_TEMPLATE, parseTemplate } from "./template.ts";
import { bringNotesUpToDate } from "./update.ts";

const ours = parseTemplate(NOTES_TEMPLATE);

/** Runs a notes update without a model on a file with the text `before`, and returns the new notes. */
async function updated(
  entries: readonly Entry[],
  before?: string,
  template: NotesTemplate = ours,
): Promise<Notes> {
  let text = before;
  const file = {
    path: "/notes.md",
    read: async () => text,
    write: async (next: string) => {
      text = next;
      return true;
    },
  };
  await bringNotesUpToDate({
    file,
    template,
    limits: NOTES_LIMITS,
    countTokens: ESTIMATORS.o200k,
    instructions: undefined,
    entries,
    clearedToolUseIds: new Set(),
    model: undefined,
    fork: undefined,
    signal: new AbortController().signal,
  });
  return parseNotes(text ?? "", template);
}

describe("the id of the last noted message after a notes update", () => {
  const closed = new ConversationBuilder();
  closed.user("write the harbour report");
  closed.assistant("It is written.");
  const open = new ConversationBuilder();
  open.user("write the harbour report");
  open.tool("a", "Bash", { command: "make report" });

  it("a notes update stores the id of the newest message", async () => {
    expect((await updated(closed.entries)).coveredUuid).toBe(closed.entries[1]?.uuid);
  });

  it("a notes update stores an empty message id while a tool call has no result", async () => {
    const first = await updated(open.entries);
    expect(first.coveredUuid).toBe("");
    expect((await updated(open.entries, formatNotes(first))).coveredUuid).toBe("");
  });

  it("a notes update keeps the stored message id while a tool call has no result", async () => {
    const theirs = NOTES_TEMPLATE.replace("# Current State", "Reports.\n\n# Current State");
    expect((await updated(open.entries, theirs)).coveredUuid).toBe("");
    const earlier = `<!-- longhaul: noted up to message e-0 -->\n\n${theirs}`;
    expect((await updated(open.entries, earlier)).coveredUuid).toBe("e-0");
  });

  it("stores an empty message id when the template has no section that the built-in writer can fill", async () => {
    const own = "# Goals\n_what we want_\n";
    const notes = await updated(closed.entries, `${own}\nA harbour.\n`, parseTemplate(own));
    expect(notes.sections.map(({ body }) => body)).toEqual(["A harbour."]);
    expect(notes.coveredUuid).toBe("");
  });

  it("a notes update includes all messages after the first copy if the last noted message occurs twice", async () => {
    const c = new ConversationBuilder();
    c.user("write the harbour report");
    c.assistant("It is written.");
    c.user("now paint the lighthouse");
    c.assistant("It is painted.");
    const [first] = c.entries;
    const noted = `<!-- longhaul: noted up to message ${first?.uuid} -->\n\n${NOTES_TEMPLATE}`;
    const repeated = [...c.entries, ...c.entries.slice(0, 1)];
    expect(formatNotes(await updated(repeated, noted))).toContain("lighthouse");
  });
});

describe("a conversation with a summary that was made from notes", () => {
  it("copies a model's summary into the notes, but not a summary that was made from the notes", async () => {
    const c = new ConversationBuilder();
    const summary =
      '# Task Specification\n- "never touch the lighthouse"\n\n# Worklog\n- looked at the tides';
    c.summary(continuationMessage({ summary, isNotes: true, keptRecent: false, trigger: "auto" }));
    const span = '6. All User Messages:\n- "paint the pier"';
    c.summary(continuationMessage({ summary: span, keptRecent: false, trigger: "auto" }));
    c.user("go on with the harbour report");
    c.assistant("It is written.");
    // In this file, the user has removed the line about the lighthouse since the summary was made.
    const before = NOTES_TEMPLATE.replace("# Worklog", "# Worklog\n- looked at the tides");
    const notes = formatNotes(await updated(c.entries, before));
    expect(notes).toContain("looked at the tides");
    expect(notes).not.toContain("never touch the lighthouse");
    expect(notes).toContain("paint the pier");
  });
});

describe("a notes update after the notes file was deleted", () => {
  it("fills a new notes file with the summary that was made from the deleted notes", async () => {
    const c = new ConversationBuilder();
    const summary =
      '# Task Specification\n- "never touch the lighthouse"\n\n# Worklog\n- looked at the tides';
    c.summary(continuationMessage({ summary, isNotes: true, keptRecent: false, trigger: "auto" }));
    c.user("go on with the harbour report");
    c.assistant("It is written.");
    expect(formatNotes(await updated(c.entries))).toContain("never touch the lighthouse");
  });
});
