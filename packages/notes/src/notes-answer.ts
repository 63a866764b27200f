import { isTruncated, textIn } from "@longhaul/core/internal/compaction";
import type { ContentBlock, ToolUseBlock } from "@longhaul/core/messages";
import type { ModelReply } from "@longhaul/core/models";
import { type EditTool, editsOf, noteBlocksIn } from "./model-edits.ts";
import { applyNotesEdit, applyNotesEdits, type NotesTarget } from "./note-edits.ts";
import type { Notes } from "./notes-format.ts";
import { NOTHING_TO_NOTE } from "./notes-prompt.ts";

export interface AnswerRules extends NotesTarget {
  /** The tool whose calls are edits. Undefined if there is no such tool. */
  readonly editTool: EditTool | undefined;
}

export interface ReadAnswer {
  /** Notes with the applied edits. */
  readonly notes: Notes;
  readonly edits: number;
  /** Number of refused edits, plus the number of calls of tools other than the edit tool. */
  readonly refused: number;
  /** False if something is missing from the notes: an edit was refused, or the reply was cut off. */
  readonly isComplete: boolean;
  /**
   * True if the model made only one call and waits for its result. More edits may follow, because some models
   * make one edit per reply.
   */
  readonly isOneByOne: boolean;
  readonly saysNothingToNote: boolean;
  /** Feedback on the reply, for the next message to the model. Empty if every edit succeeded. */
  readonly reasons: readonly ContentBlock[];
}

export const NOT_EVERYTHING = "Some edits were not applied:";
const BROKE_OFF =
  "Your answer was cut off at its output limit, so everything after the last complete edit is missing.";
const CALL_BROKE_OFF = "Not applied: the call was cut off at the output limit.";
const GO_ON =
  "All other edits were applied. Send only the missing edits, corrected, in the same form as before. If they are not needed after all, answer";

const MORE =
  "If there is more to note, make all other edits now, together in one answer. If that was all, answer";

/** Applies the edits of a reply: first the calls of the edit tool, then the note blocks in the text. */
export function readAnswer(reply: ModelReply, notes: Notes, rules: AnswerRules): ReadAnswer {
  const reader = new AnswerReader(notes, rules);
  const isBrokenOff = isTruncated(reply);
  const results = reply.content.flatMap((block, at): ContentBlock[] => {
    if (block.type !== "tool_use") return [];
    const isCutOff = isBrokenOff && at === reply.content.length - 1;
    const reasons = isCutOff ? [reader.refuse(CALL_BROKE_OFF)] : reader.call(block);
    const content = reasons.length > 0 ? reasons.join("\n") : "Applied.";
    const failed = reasons.length > 0 ? { is_error: true } : {};
    return [{ type: "tool_result", tool_use_id: block.id, content, ...failed }];
  });
  const text = textIn(reply);
  const complaints = [...reader.blocks(text), ...(isBrokenOff ? [`- ${BROKE_OFF}`] : [])];
  const { edits, refused } = reader;
  const hasReasons = refused > 0 || complaints.length > 0;
  const isOneByOne = !hasReasons && results.length === 1 && edits === 1;
  const advice = isOneByOne ? [MORE] : complaints.length > 0 ? [NOT_EVERYTHING, ...complaints, GO_ON] : [];
  const words: ContentBlock[] =
    advice.length === 0 ? [] : [{ type: "text", text: `${advice.join("\n")} ${NOTHING_TO_NOTE}.` }];
  return {
    notes: reader.notes,
    edits,
    refused,
    isComplete: reader.isComplete && !isBrokenOff && !isOneByOne,
    isOneByOne,
    saysNothingToNote: isNothing(text) && edits === 0,
    reasons: hasReasons || isOneByOne ? [...results, ...words] : [],
  };
}

/** True if a line consists of the words NOTHING TO NOTE, with any markup. */
function isNothing(text: string): boolean {
  const words = (line: string): string => line.replace(/[^\p{L}]+/gu, " ").trim();
  return text.split("\n").some((line) => words(line).toUpperCase() === NOTHING_TO_NOTE);
}

/** Applies the edits of a reply one after the other, and stores the current notes and the totals. */
class AnswerReader {
  readonly #rules: AnswerRules;
  notes: Notes;
  edits = 0;
  refused = 0;
  isComplete = true;

  constructor(notes: Notes, rules: AnswerRules) {
    this.notes = notes;
    this.#rules = rules;
  }

  /** Applies the edits of a tool call. Returns the reasons for refused edits, or an empty list. */
  call(call: ToolUseBlock): readonly string[] {
    const { editTool, path } = this.#rules;
    if (editTool === undefined || call.name !== editTool.name) {
      this.refused++;
      const instead = editTool === undefined ? "blocks of text" : `calls of \`${editTool.name}\` on ${path}`;
      return [`Not executed: you can only edit the notes here, with ${instead}.`];
    }
    const edits = editsOf(call, editTool);
    if ("refused" in edits) return [this.refuse(edits.refused)];
    const { notes, outcomes } = applyNotesEdits(this.notes, edits, this.#rules);
    this.notes = notes;
    return outcomes.flatMap(({ refused }, index) => {
      if (refused !== undefined)
        return this.refuse(outcomes.length === 1 ? refused : `Edit ${index + 1}: ${refused}`);
      this.edits++;
      return [];
    });
  }

  /** Applies the note blocks in a text. Returns a line with the reason for each refused block. */
  blocks(text: string): readonly string[] {
    return noteBlocksIn(text).flatMap(({ named, edit }) => {
      const result = "refused" in edit ? edit : applyNotesEdit(this.notes, edit, this.#rules);
      if ("refused" in result) return `- ${named}: ${this.refuse(result.refused)}`;
      this.edits++;
      this.notes = result.notes;
      return [];
    });
  }

  /** Counts a refused edit, which makes the notes incomplete. Returns the reason unchanged. */
  refuse(reason: string): string {
    this.refused++;
    this.isComplete = false;
    return reason;
  }
}
