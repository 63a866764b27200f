import { messagesToSummarise, ownRequest } from "../../compaction/write/ask-model.ts";
import {
  askCutToFit,
  type Cut,
  type CutToFitOptions,
  digestText,
  droppedEntries,
  type FittedReply,
  keptEntries,
} from "../../compaction/write/cut-to-fit.ts";
import type { Entry } from "../../conversation/entry.ts";
import type { ApiMessage } from "../../conversation/message.ts";
import type { Model, ModelRequest } from "../../models/port.ts";
import type { NotesLimits } from "../notes/notes.ts";
import { NOTES_SYSTEM_PROMPT } from "./prompt.ts";

/** Beyond the notes themselves, all of which may be written anew: tags, and a word before them. */
const OUTPUT_BESIDES_NOTES_TOKENS = 1_000;

const INTRODUCTION =
  "[The oldest part of what is new did not fit into this request. It was condensed without a model into the text below; bring what it says into the session's notes as well.]";

export interface DirectTask {
  readonly model: Model;
  /** What is not in the notes yet. */
  readonly fresh: readonly Entry[];
  readonly prompt: string;
  readonly limits: NotesLimits;
}

/** Asks for edits in a call of its own, which is told only what is new, and of that what fits. */
export function askDirectly(
  { model, fresh, prompt, limits }: DirectTask,
  options: CutToFitOptions,
): Promise<FittedReply> {
  const draft = (cut: Cut): ModelRequest => {
    const digest = digestText(droppedEntries(cut), INTRODUCTION);
    const messages: readonly ApiMessage[] = [
      ...(digest === undefined ? [] : [message(digest)]),
      ...messagesToSummarise(keptEntries(cut), options.clearedToolUseIds),
      message(prompt),
    ];
    return directRequest(model, messages, limits);
  };
  return askCutToFit(model, fresh, draft, options);
}

export const directRequest = (
  model: Model,
  messages: readonly ApiMessage[],
  { totalTokens }: NotesLimits,
): ModelRequest =>
  ownRequest(model, messages, {
    system: NOTES_SYSTEM_PROMPT,
    maxOutputTokens: totalTokens + OUTPUT_BESIDES_NOTES_TOKENS,
  });

const message = (text: string): ApiMessage => ({ role: "user", content: [{ type: "text", text }] });
