import type { ApiMessage } from "../../../conversation/message.ts";
import { listField } from "../../../conversation/untrusted.ts";
import { NOTHING_TO_NOTE } from "../../../modules/notes/notes-prompt.ts";
import type { Behaviour, SeenRequest, Turn } from "../exchange.ts";
import type { FaultCandidate } from "../server/faults.ts";
import { textTurn } from "./answers.ts";
import { byAttempt, type Kinds } from "./by-attempt.ts";
import { type BadNotesKind, badNotesTurn } from "./notes/bad-notes.ts";
import { answerByDoor } from "./notes/doors.ts";
import { goodNotes } from "./notes/good-notes.ts";
import { notesRequestIn, type SeenNotesRequest } from "./notes/notes-request.ts";

/** `nothing`: says that there is nothing to note; `one-by-one`: good notes, one edit in each answer. */
export type NotesKind = "good" | "one-by-one" | "nothing" | BadNotesKind;

/**
 * Answers requests to bring a session's notes up to date, and no others: by the tool that the request offers for it,
 * or else by text. A list gives the kinds for the first, second, … request, its last for all that follow; a function
 * gets the number of the attempt, from 0.
 */
export function noteTaker(kinds: Kinds<NotesKind> = "good"): Behaviour {
  const kindOf = byAttempt(kinds, "good");
  let attempts = 0;
  return (request) => {
    const notes = notesRequestIn(request.messages);
    if (notes === undefined) return undefined;
    return notesTurn(kindOf(attempts++), notes, request);
  };
}

function notesTurn(kind: NotesKind, notes: SeenNotesRequest, request: SeenRequest): Turn {
  switch (kind) {
    case "good":
      return goodTurn(notes, request);
    case "one-by-one":
      return oneByOneTurn(notes, request);
    case "nothing":
      return textTurn(NOTHING_TO_NOTE);
    case "repairs":
      return notes.answers === 0
        ? badNotesTurn("damages-headings", notes, request)
        : goodTurn(notes, request);
    default:
      return badNotesTurn(kind, notes, request);
  }
}

function oneByOneTurn(notes: SeenNotesRequest, request: SeenRequest): Turn {
  const wish = goodNotes(notes, request.maxTokens)[notes.answers];
  return wish === undefined ? textTurn(NOTHING_TO_NOTE) : answerByDoor([wish], request, notes.facts);
}

function goodTurn(notes: SeenNotesRequest, request: SeenRequest): Turn {
  // All was carried out: what is asked now is whether there is more.
  if (notes.answers > 0 && !notes.isRefused) return textTurn(NOTHING_TO_NOTE);
  const wishes = goodNotes(notes, request.maxTokens);
  return wishes.length === 0 ? textTurn(NOTHING_TO_NOTE) : answerByDoor(wishes, request, notes.facts);
}

/** A condition for faults: such a fault makes the note taker slow, or silent, and nobody else. */
export const isNotesCall = ({ endpoint, body }: Pick<FaultCandidate, "endpoint" | "body">): boolean =>
  endpoint === "messages" &&
  notesRequestIn(listField(body, "messages") as readonly ApiMessage[]) !== undefined;
