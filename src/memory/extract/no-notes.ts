import { LonghaulError } from "../../errors.ts";
import type { ModelReply, ModelUsage } from "../../models/port.ts";

/** The model answered, and was paid for it, but there is no edit of the notes in it that could be carried out. */
export class NoNotesError extends LonghaulError {
  /** Of all calls. */
  readonly usage: ModelUsage;

  constructor({ model, stopReason }: ModelReply, why: string, usage: ModelUsage) {
    super("no-notes", `${model} noted nothing: ${why}.`, {
      remedy: "The notes are as they were. They are tried again when the conversation has grown.",
      facts: { model, stopReason },
    });
    this.usage = usage;
  }
}
