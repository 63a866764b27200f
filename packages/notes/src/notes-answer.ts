import { isTruncated, textIn } from "@longhaul/core/internal/compaction";
import type { ContentBlock, ToolUseBlock } from "@longhaul/core/messages";
import type { ModelReply } from "@longhaul/core/models";
import { type EditTool, editsOf, noteBlocksIn } from "./model-edits.ts";
import { applyNotesEdit, applyNotesEdits, type NotesTarget } from "./note-edits.ts";
import type { Notes } from "./notes-format.ts";
import { NOTHING_TO_NOTE } from "./notes-prompt.ts";

export interface AnswerRules extends NotesTarget {
  /** The one tool whose calls are edits; undefined where none is. */
  readonly editTool: EditTool | undefined;
}

export interface TakenAnswer {
  /** With the edits that were carried out. */
  readonly notes: Notes;
  readonly edits: number;
  /** Edits that were not, and calls of other tools. */
  readonly refused: number;
  /** False where something that was to be noted is not: an edit was refused, or the answer broke off. */
  readonly isComplete: boolean;
  /** It made one call and waits for its result: some models edit one by one, and more may come. */
  readonly isOneByOne: boolean;
  readonly saysNothingToNote: boolean;
  /** Feedback on the answer, as the next message to the model; empty if all went well. */
  readonly reasons: readonly ContentBlock[];
}

export const NOT_EVERYTHING = "Not everything was carried out:";
const BROKE_OFF =
  "Your answer broke off at its output limit, so what came after the last whole edit is missing.";
const CALL_BROKE_OFF = "Not carried out: the call broke off at the output limit.";
const GO_ON =
  "All other edits were carried out and stay. Send only what is missing, put right, in the same form as before. If it is not needed after all, say";

const MORE = "If more is to be noted, make all other edits now, together in one answer. If that was all, say";

/** Carries out what an answer asks for: calls of the edit tool first, then the blocks in its text. */
export function takeAnswer(reply: ModelReply, notes: Notes, rules: AnswerRules): TakenAnswer {
  const taking = new Taking(notes, rules);
  const isBrokenOff = isTruncated(reply);
  const results = reply.content.flatMap((block, at): ContentBlock[] => {
    if (block.type !== "tool_use") return [];
    const isCutOff = isBrokenOff && at === reply.content.length - 1;
    const reasons = isCutOff ? [taking.refuse(CALL_BROKE_OFF)] : taking.call(block);
    const content = reasons.length > 0 ? reasons.join("\n") : "Carried out.";
    const failed = reasons.length > 0 ? { is_error: true } : {};
    return [{ type: "tool_result", tool_use_id: block.id, content, ...failed }];
  });
  const text = textIn(reply);
  const complaints = [...taking.blocks(text), ...(isBrokenOff ? [`- ${BROKE_OFF}`] : [])];
  const { edits, refused } = taking;
  const hasReasons = refused > 0 || complaints.length > 0;
  const isOneByOne = !hasReasons && results.length === 1 && edits === 1;
  const advice = isOneByOne ? [MORE] : complaints.length > 0 ? [NOT_EVERYTHING, ...complaints, GO_ON] : [];
  const words: ContentBlock[] =
    advice.length === 0 ? [] : [{ type: "text", text: `${advice.join("\n")} ${NOTHING_TO_NOTE}.` }];
  return {
    notes: taking.notes,
    edits,
    refused,
    isComplete: taking.isComplete && !isBrokenOff && !isOneByOne,
    isOneByOne,
    saysNothingToNote: isNothing(text) && edits === 0,
    reasons: hasReasons || isOneByOne ? [...results, ...words] : [],
  };
}

/** On a line of its own, however it is marked. */
function isNothing(text: string): boolean {
  const words = (line: string): string => line.replace(/[^\p{L}]+/gu, " ").trim();
  return text.split("\n").some((line) => words(line).toUpperCase() === NOTHING_TO_NOTE);
}

/** The notes while an answer is carried out. */
class Taking {
  readonly #rules: AnswerRules;
  notes: Notes;
  edits = 0;
  refused = 0;
  isComplete = true;

  constructor(notes: Notes, rules: AnswerRules) {
    this.notes = notes;
    this.#rules = rules;
  }

  /** Carries out a call. The reasons why that failed, or parts of it; empty if all went well. */
  call(call: ToolUseBlock): readonly string[] {
    const { editTool, path } = this.#rules;
    if (editTool === undefined || call.name !== editTool.name) {
      this.refused++;
      const instead = editTool === undefined ? "blocks of text" : `calls of \`${editTool.name}\` on ${path}`;
      return [`Not carried out: here the notes are edited, by ${instead}, and nothing else is done.`];
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

  /** Carries out the blocks in a text. Complaints about those that were refused. */
  blocks(text: string): readonly string[] {
    return noteBlocksIn(text).flatMap(({ named, edit }) => {
      const result = "refused" in edit ? edit : applyNotesEdit(this.notes, edit, this.#rules);
      if ("refused" in result) return `- ${named}: ${this.refuse(result.refused)}`;
      this.edits++;
      this.notes = result.notes;
      return [];
    });
  }

  /** An edit that is still to be made. */
  refuse(reason: string): string {
    this.refused++;
    this.isComplete = false;
    return reason;
  }
}
