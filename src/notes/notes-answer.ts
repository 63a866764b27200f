import { isTruncated, textIn } from "../compaction/write/ask-model.ts";
import type { ContentBlock, ToolUseBlock } from "../conversation/message.ts";
import type { ModelReply } from "../models/port.ts";
import { type EditTool, editsOf, noteBlocksIn } from "./model-edits.ts";
import { applyNotesEdit, applyNotesEdits, type NotesTarget } from "./note-edits.ts";
import type { Notes } from "./notes-format.ts";
import { NOTHING_TO_NOTE } from "./notes-prompt.ts";

export interface AnswerRules extends NotesTarget {
  /** The one tool whose calls are edits; undefined where none is. */
  readonly editTool: EditTool | undefined;
}

/** The effect of an answer. */
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
  /** The model was to say so where there is nothing. */
  readonly saysNothingToNote: boolean;
  /** Feedback on the answer, as the next message to the model; empty if all went well. */
  readonly reasons: readonly ContentBlock[];
}

/** Above what was not carried out. */
export const NOT_EVERYTHING = "Not everything was carried out:";
const BROKE_OFF =
  "Your answer broke off at its output limit, so what came after the last whole edit is missing.";
const CALL_BROKE_OFF = "Not carried out: the call broke off at the output limit.";
const GO_ON =
  "All other edits were carried out and stay. Send only what is missing, put right, in the same form as before. If it is not needed after all, say";

const MORE = "If more is to be noted, make all other edits now, together in one answer. If that was all, say";

/** Carries out what an answer asks for: calls of the edit tool first, then the blocks in its text. */
export function takeAnswer(reply: ModelReply, notes: Notes, rules: AnswerRules): TakenAnswer {
  const outcomes = new Outcomes(notes, rules);
  const cutOff = isTruncated(reply) ? reply.content.at(-1) : undefined;
  for (const block of reply.content) {
    if (block.type === "tool_use") outcomes.takeCall(block, block === cutOff);
  }
  const text = textIn(reply);
  outcomes.takeText(text, isTruncated(reply));
  return outcomes.taken(isNothing(text));
}

/** On a line of its own, however it is marked. */
const isNothing = (text: string): boolean =>
  text.split("\n").some(
    (line) =>
      line
        .replace(/[^\p{L}]+/gu, " ")
        .trim()
        .toUpperCase() === NOTHING_TO_NOTE,
  );

class Outcomes {
  readonly #rules: AnswerRules;
  readonly #results: ContentBlock[] = [];
  readonly #complaints: string[] = [];
  #notes: Notes;
  #edits = 0;
  #refused = 0;
  #isComplete = true;

  constructor(notes: Notes, rules: AnswerRules) {
    this.#notes = notes;
    this.#rules = rules;
  }

  takeCall(call: ToolUseBlock, isCutOff: boolean): void {
    const reasons = isCutOff ? [this.#refuse(CALL_BROKE_OFF)] : this.#carryOut(call);
    const isRefused = reasons.length > 0;
    this.#results.push({
      type: "tool_result",
      tool_use_id: call.id,
      content: isRefused ? reasons.join("\n") : "Carried out.",
      ...(isRefused ? { is_error: true } : {}),
    });
  }

  takeText(text: string, isBrokenOff: boolean): void {
    for (const { named, edit } of noteBlocksIn(text)) {
      const result = "refused" in edit ? edit : applyNotesEdit(this.#notes, edit, this.#rules);
      if ("refused" in result) this.#complaints.push(`- ${named}: ${this.#refuse(result.refused)}`);
      else {
        this.#edits++;
        this.#notes = result.notes;
      }
    }
    if (!isBrokenOff) return;
    this.#isComplete = false;
    this.#complaints.push(`- ${BROKE_OFF}`);
  }

  taken(saysNothingToNote: boolean): TakenAnswer {
    const hasReasons = this.#refused > 0 || this.#complaints.length > 0;
    const isOneByOne = !hasReasons && this.#results.length === 1 && this.#edits === 1;
    return {
      notes: this.#notes,
      edits: this.#edits,
      refused: this.#refused,
      isComplete: this.#isComplete && !isOneByOne,
      isOneByOne,
      saysNothingToNote: saysNothingToNote && this.#edits === 0,
      reasons: hasReasons || isOneByOne ? [...this.#results, ...this.#complaintBlock(isOneByOne)] : [],
    };
  }

  /** Why it was not carried out, or not all of it; empty where it was. */
  #carryOut(call: ToolUseBlock): readonly string[] {
    const { editTool, path } = this.#rules;
    if (editTool === undefined || call.name !== editTool.name) {
      this.#refused++;
      const instead = editTool === undefined ? "blocks of text" : `calls of \`${editTool.name}\` on ${path}`;
      return [`Not carried out: here the notes are edited, by ${instead}, and nothing else is done.`];
    }
    const edits = editsOf(call, editTool);
    if ("refused" in edits) return [this.#refuse(edits.refused)];
    const { notes, outcomes } = applyNotesEdits(this.#notes, edits, this.#rules);
    this.#notes = notes;
    return outcomes.flatMap(({ refused }, index) => {
      if (refused !== undefined)
        return this.#refuse(outcomes.length === 1 ? refused : `Edit ${index + 1}: ${refused}`);
      this.#edits++;
      return [];
    });
  }

  /** An edit that is still to be made. */
  #refuse(reason: string): string {
    this.#refused++;
    this.#isComplete = false;
    return reason;
  }

  #complaintBlock(isOneByOne: boolean): readonly ContentBlock[] {
    if (isOneByOne) return [{ type: "text", text: `${MORE} ${NOTHING_TO_NOTE}.` }];
    if (this.#complaints.length === 0) return [];
    const text = [NOT_EVERYTHING, ...this.#complaints, `${GO_ON} ${NOTHING_TO_NOTE}.`];
    return [{ type: "text", text: text.join("\n") }];
  }
}
