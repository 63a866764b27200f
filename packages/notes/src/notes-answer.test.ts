import type { ContentBlock } from "@longhaul/core/messages";
import type { ModelReply, StopReason } from "@longhaul/core/models";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toolUse } from "../../../test/support/builders.ts";
import { deepFreeze } from "../../../test/support/deep-freeze.ts";
import type { EditTool } from "./model-edits.ts";
import { type ReadAnswer, readAnswer } from "./notes-answer.ts";
import type { Notes } from "./notes-format.ts";
import { emptyNotes, notesAsShown } from "./notes-format.ts";
import { NOTES_TEMPLATE, parseTemplate } from "./template.ts";

const TEMPLATE = parseTemplate(NOTES_TEMPLATE);
const PATH = "/n/notes.md";
const EDIT: EditTool = {
  name: "Edit",
  path: "file_path",
  oldText: "old_string",
  newText: "new_string",
  replaceAll: undefined,
  list: undefined,
  command: undefined,
};
const MULTI: EditTool = { ...EDIT, name: "MultiEdit", list: "edits" };
const NOTES: Notes = deepFreeze({ ...emptyNotes(TEMPLATE), coveredUuid: "uuid-7" });
const WORKLOG = TEMPLATE.sections.at(-1)?.guide ?? "";

const replyOf = (
  content: string | readonly ContentBlock[],
  stopReason: StopReason = "end_turn",
): ModelReply => ({
  id: "r",
  model: "m",
  content: typeof content === "string" ? [{ type: "text", text: content }] : content,
  stopReason,
  usage: { input_tokens: 1, output_tokens: 1, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
  appliedEdits: [],
  changes: [],
});

const take = (reply: ModelReply, tool: EditTool | null = EDIT): ReadAnswer =>
  readAnswer(reply, NOTES, { path: PATH, template: TEMPLATE, editTool: tool ?? undefined });

const bodyOf = ({ notes }: ReadAnswer, heading = "# Worklog"): string | undefined =>
  notes.sections.find((section) => section.heading === heading)?.body;

const editing = (id: string, oldText: string, newText: string, path = PATH, name = "Edit"): ContentBlock =>
  toolUse(id, name, { file_path: path, old_string: oldText, new_string: newText });
const filling = (id: string, words: string): ContentBlock => editing(id, WORKLOG, `${WORKLOG}\n\n${words}`);
const note = (words: string, section = "Worklog"): string =>
  `<note section="${section}" mode="append">\n${words}\n</note>`;

describe("readAnswer, which applies the edits in a model's answer to the notes", () => {
  it("readAnswer applies the edit calls and note blocks of an answer, and returns no feedback if all succeed", () => {
    const taken = take(
      replyOf([filling("a", "- began"), { type: "text", text: note("- went on") }], "tool_use"),
    );
    expect(bodyOf(taken)).toBe("- began\n- went on");
    expect(taken).toMatchObject({
      edits: 2,
      refused: 0,
      isComplete: true,
      saysNothingToNote: false,
      reasons: [],
    });
    expect(taken.notes.coveredUuid).toBe("uuid-7");
  });

  it("readAnswer keeps the good edits of an answer and returns a result for each edit call", () => {
    const taken = take(replyOf([filling("a", "- began"), editing("b", "# Worklog", "# Log")], "tool_use"));
    expect(bodyOf(taken)).toBe("- began");
    expect(taken).toMatchObject({ edits: 1, refused: 1, isComplete: false });
    expect(taken.reasons).toEqual([
      { type: "tool_result", tool_use_id: "a", content: "Applied." },
      {
        type: "tool_result",
        tool_use_id: "b",
        content: expect.stringMatching(/would damage the line "# Worklog"/),
        is_error: true,
      },
    ]);
  });

  it("refuses edits of other files and calls of other tools, and says what to do instead", () => {
    const calls = [editing("a", WORKLOG, "x", "/src/a.ts"), toolUse("b", "Bash", { command: "ls" })];
    const { reasons, refused, edits } = take(replyOf(calls, "tool_use"));
    expect([edits, refused]).toEqual([0, 2]);
    expect(reasons).toMatchObject([
      { is_error: true, content: expect.stringContaining(PATH) },
      { is_error: true, content: expect.stringMatching(/with calls of `Edit` on \/n\/notes\.md/) },
    ]);
    expect(take(replyOf([filling("a", "x")]), null).reasons).toMatchObject([
      { content: expect.stringContaining("with blocks of text") },
    ]);
  });

  it("treats the notes as complete even if an answer also calls a tool that is not the edit tool", () => {
    const taken = take(replyOf([filling("a", "- began"), toolUse("b", "Bash", {})], "tool_use"));
    expect(taken).toMatchObject({ edits: 1, refused: 1, isComplete: true });
    expect(taken.reasons).toHaveLength(2);
  });

  it("applies the good edits of a call with a list of edits, and reports the refused edits by number", () => {
    const edits = [
      { old_string: WORKLOG, new_string: `${WORKLOG}\n\n- began` },
      { old_string: "not there", new_string: "x" },
      { old_string: "- began", new_string: "- done" },
    ];
    const taken = take(replyOf([toolUse("a", "MultiEdit", { file_path: PATH, edits })], "tool_use"), MULTI);
    expect(bodyOf(taken)).toBe("- done");
    expect(taken).toMatchObject({ edits: 2, refused: 1 });
    expect(taken.reasons).toMatchObject([
      { is_error: true, content: expect.stringMatching(/^Edit 2: .*not in/) },
    ]);
  });

  it("lists every refused note block by name in one text", () => {
    const taken = take(
      replyOf([note("- began"), note("x", "Weather"), '<note mode="append">y</note>'].join("\n")),
    );
    expect(taken).toMatchObject({ edits: 1, refused: 2, isComplete: false });
    expect(taken.reasons).toHaveLength(1);
    const [reason] = taken.reasons;
    expect(reason?.type === "text" && reason.text).toMatch(
      /The note for "Weather": There is no section.*\n- A note: Not applied.*\nAll other edits .* NOTHING TO NOTE\.$/s,
    );
  });

  it("refuses the last edit call of an answer that was cut off, and asks the model to continue", () => {
    const taken = take(replyOf([filling("a", "- began"), editing("b", "- began", "- be")], "max_tokens"));
    expect(bodyOf(taken)).toBe("- began");
    expect(taken).toMatchObject({ edits: 1, refused: 1, isComplete: false });
    expect(taken.reasons).toMatchObject([
      { content: "Applied." },
      { content: expect.stringMatching(/was cut off/), is_error: true },
      { type: "text", text: expect.stringMatching(/was cut off at its output limit/) },
    ]);
    const text = take(
      replyOf(`${note("- began")}\n<note section="Workflow" mode="append">\nand`, "max_tokens"),
    );
    expect(text).toMatchObject({ edits: 1, refused: 1, isComplete: false });
    const whole = take(replyOf(note("- began"), "max_tokens"));
    expect(whole).toMatchObject({ edits: 1, refused: 0, isComplete: false, reasons: [{ type: "text" }] });
  });

  it.each(["NOTHING TO NOTE", "**Nothing to note.**", "I have looked.\n\n`NOTHING TO NOTE`\n"])(
    "recognizes an answer that says that there is nothing to note: %j",
    (words) => {
      expect(take(replyOf(words))).toMatchObject({ edits: 0, saysNothingToNote: true, reasons: [] });
    },
  );

  it.each(["", "There is nothing to note here, I think.", "All done!"])(
    'does not read %j as "nothing to note"',
    (words) => {
      expect(take(replyOf(words))).toMatchObject({ edits: 0, saysNothingToNote: false });
    },
  );

  it('ignores "nothing to note" in an answer that contains an edit', () => {
    expect(take(replyOf(`${note("- began")}\nNOTHING TO NOTE`)).saysNothingToNote).toBe(false);
  });
});

describe("readAnswer, for any answer", () => {
  const lines = TEMPLATE.sections.flatMap(({ heading, guide }) => [heading, guide]);
  const words = fc.oneof(fc.string(), fc.constantFrom(...lines, "", "- began", `${WORKLOG}\n\n- began`));
  const block: fc.Arbitrary<ContentBlock> = fc.oneof(
    fc.tuple(fc.uuid(), words, words).map(([id, one, other]) => editing(id, one, other)),
    fc.tuple(fc.uuid(), fc.anything()).map(([id, input]) => toolUse(id, "Edit", input)),
    fc.uuid().map((id) => toolUse(id, "Bash", { command: "ls" })),
    fc
      .tuple(words, words)
      .map(([one, section]): ContentBlock => ({ type: "text", text: note(one, section) })),
    words.map((text): ContentBlock => ({ type: "text", text })),
  );
  const replies = fc
    .tuple(
      fc.array(block, { maxLength: 6 }),
      fc.constantFrom<StopReason>("end_turn", "tool_use", "max_tokens"),
    )
    .map(([content, stopReason]) => replyOf(content, stopReason));

  it("readAnswer keeps the order of headings and italic lines, and keeps the id of the newest noted message", () => {
    fc.assert(
      fc.property(replies, fc.constantFrom(EDIT, MULTI, null), (reply, tool) => {
        const { notes } = take(deepFreeze(reply), tool);
        const left = notesAsShown(notes)
          .split("\n")
          .filter((line) => lines.includes(line));
        expect(left).toEqual(lines);
        expect(notes.coveredUuid).toBe("uuid-7");
      }),
    );
  });

  it("readAnswer returns feedback if an edit was refused, and the feedback has a result for every tool call", () => {
    fc.assert(
      fc.property(replies, fc.constantFrom(EDIT, MULTI, null), (reply, tool) => {
        const { reasons, refused, isComplete } = take(reply, tool);
        if (refused > 0 || !isComplete) expect(reasons.length).toBeGreaterThan(0);
        if (reasons.length === 0) return;
        const results = reasons.flatMap((reason) =>
          reason.type === "tool_result" ? [reason.tool_use_id] : [],
        );
        const calls = reply.content.flatMap((one) => (one.type === "tool_use" ? [one.id] : []));
        expect(results).toEqual(calls);
      }),
    );
  });
});
