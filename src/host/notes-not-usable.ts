import { LonghaulError } from "../errors.ts";
import type { NotesDecline } from "../notes/as-summary.ts";

interface Words {
  readonly message: string;
  readonly remedy: string;
}

const WITHOUT_NOTES = "or compact without the notes";

const WORDS: Readonly<Record<NotesDecline, Words>> = {
  disabled: {
    message: "Notes are switched off for this session.",
    remedy: `Switch them on, ${WITHOUT_NOTES}.`,
  },
  "no-file": {
    message: "This session has no notes.",
    remedy: `Have them written first, ${WITHOUT_NOTES}.`,
  },
  unreadable: {
    message: "The session's notes cannot be read.",
    remedy: `Look at the file, ${WITHOUT_NOTES}.`,
  },
  "only-template": {
    message: "Nothing has been noted in this session's notes.",
    remedy: `Have them written first, ${WITHOUT_NOTES}.`,
  },
  "message-not-found": {
    message: "The newest message that is in the notes is not in the current conversation.",
    remedy: `Bring the notes up to date, ${WITHOUT_NOTES}.`,
  },
  "nothing-new-noted": {
    message:
      "The notes stand for nothing that a compaction could take out: all of it would be kept, or is gone.",
    remedy: `If the session is short, just go on with it. Otherwise bring the notes up to date, keep fewer messages, ${WITHOUT_NOTES}.`,
  },
  instructions: {
    message: "Notes know nothing of instructions that are given now.",
    remedy: `Leave the instructions out, ${WITHOUT_NOTES}.`,
  },
  "hook-instructions": {
    message: "Notes know nothing of the instructions that a hook gives.",
    remedy: `Take the hook out, ${WITHOUT_NOTES}.`,
  },
  "partial-compaction": {
    message: "Notes stand for the whole conversation, not for a part of it.",
    remedy: `Compact the whole conversation, ${WITHOUT_NOTES}.`,
  },
  "keep-recent-tokens": {
    message: "With notes, the newest noted message decides which messages are kept.",
    remedy: `Leave out how many tokens to keep, ${WITHOUT_NOTES}.`,
  },
  "above-threshold": {
    message: "With the notes and what they do not hold yet, the next compaction would be due at once.",
    remedy: `Bring the notes up to date or shorten them, ${WITHOUT_NOTES}.`,
  },
  "does-not-pay": {
    message:
      "The notes are nearly as long as the messages that they would replace, so the compaction does not pay.",
    remedy: `Shorten the notes, ${WITHOUT_NOTES}.`,
  },
};

/** Nothing was changed; the reason says why the notes do not serve. */
export function notesNotUsable(reason: NotesDecline): LonghaulError {
  const { message, remedy } = WORDS[reason];
  return new LonghaulError("notes-not-usable", message, { remedy, facts: { reason } });
}
