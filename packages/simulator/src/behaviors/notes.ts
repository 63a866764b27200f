import { listField } from "@longhaul/core/internal/messages";
import type { ApiMessage } from "@longhaul/core/messages";
import type { NotesSection } from "@longhaul/notes/internal/format";
import { NOTHING_TO_NOTE } from "@longhaul/notes/internal/format";
import { createRandom } from "../demo/random.ts";
import type { Behavior, SeenRequest, Turn } from "../exchange.ts";
import type { FaultCandidate } from "../server/faults.ts";
import { byAttempt, type Kinds, textTurn } from "./answers.ts";
import { capitalized, hashText, phrase } from "./chance.ts";
import { goodNotes } from "./good-notes.ts";
import {
  answerWithEdits,
  callsOf,
  noteBlock,
  notesRequestIn,
  offeredTool,
  type SectionChange,
  type SeenNotesRequest,
  sectionsShown,
} from "./notes-protocol.ts";
import { callSomeTool } from "./summaries.ts";

export const BAD_NOTES_KINDS = [
  /** Renames a heading and omits its italic line. */
  "damages-headings",
  /** Edits a file that is not the notes. */
  "other-file",
  /** Calls other tools to continue the work instead of writing notes. */
  "uses-other-tools",
  /** Claims success and changes nothing. */
  "no-edits",
  "unknown-section",
  /** Writes far more than a section may contain, every time, and condenses nothing. */
  "wordy",
  /** Damages a heading first, and repairs it after the feedback. */
  "repairs",
] as const;

export type BadNotesKind = (typeof BAD_NOTES_KINDS)[number];

/**
 * Type of the answer to a notes request. `nothing` says that there is nothing to note. `one-by-one` writes
 * good notes with one edit per answer.
 */
export type NotesKind = "good" | "one-by-one" | "nothing" | BadNotesKind;

/**
 * Creates a behavior that answers only requests to update a session's notes. It edits with the tool that the
 * request offers. If the request offers no tool, it writes the edits as text.
 */
export function noteTaker(kinds: Kinds<NotesKind> = "good"): Behavior {
  return byAttempt(kinds, ({ messages }) => notesRequestIn(messages), notesTurn);
}

/** True for calls that request notes. Use it as the condition of a fault that affects only these calls. */
export const isNotesCall = ({ endpoint, body }: Pick<FaultCandidate, "endpoint" | "body">): boolean =>
  endpoint === "messages" &&
  notesRequestIn(listField(body, "messages") as readonly ApiMessage[]) !== undefined;

function notesTurn(kind: NotesKind, notes: SeenNotesRequest, request: SeenRequest): Turn {
  if (kind === "nothing") return textTurn(NOTHING_TO_NOTE);
  if (kind === "one-by-one") {
    return changeTurn(
      goodNotes(notes, request.maxTokens).slice(notes.answers, notes.answers + 1),
      notes,
      request,
    );
  }
  if (kind === "good" || (kind === "repairs" && notes.answers > 0)) {
    // If all edits of the last answer were applied, nothing is left to note.
    const isDone = notes.answers > 0 && !notes.isRefused;
    return changeTurn(isDone ? [] : goodNotes(notes, request.maxTokens), notes, request);
  }
  const [section] = sectionsShown(notes.facts.shown);
  if (section === undefined) return textTurn("There are no notes.");
  return BAD_TURNS[kind](section, notes, request);
}

const changeTurn = (
  wishes: readonly SectionChange[],
  { facts }: SeenNotesRequest,
  request: SeenRequest,
): Turn => (wishes.length === 0 ? textTurn(NOTHING_TO_NOTE) : answerWithEdits(wishes, request, facts));

type BadTurn = (section: NotesSection, notes: SeenNotesRequest, request: SeenRequest) => Turn;

const BAD_TURNS: Readonly<Record<BadNotesKind, BadTurn>> = {
  "damages-headings": damaging,
  "other-file": otherFile,
  "uses-other-tools": (_section, _notes, request) =>
    callSomeTool(request, "Let me look at one more file before I write anything down."),
  "no-edits": () => textTurn("I have read everything, and I will keep it in mind."),
  "unknown-section": (section) =>
    textTurn(noteBlock({ section: { ...section, heading: "# Weather" }, mode: "append", text: "Rain." })),
  wordy,
  repairs: damaging,
};

function damaging(section: NotesSection, { facts }: SeenNotesRequest, request: SeenRequest): Turn {
  const tool = offeredTool(request);
  const { heading, guide } = section;
  if (tool === undefined)
    return textTurn(noteBlock({ section, mode: "append", text: `${heading}\nA new beginning.` }));
  const edit = { oldText: `${heading}\n${guide}`, newText: "# Everything\nA new beginning." };
  return { blocks: callsOf([edit], tool, facts.path) };
}

function otherFile(section: NotesSection, _: SeenNotesRequest, request: SeenRequest): Turn {
  const tool = offeredTool(request);
  const heading = "# src/other.ts";
  if (tool === undefined)
    return textTurn(noteBlock({ section: { ...section, heading }, mode: "replace", text: "export {};" }));
  return { blocks: callsOf([{ oldText: section.heading, newText: section.heading }], tool, "/src/other.ts") };
}

const WORDY_CHARS = 12_000;
/** Share of `max_tokens` that a wordy text fills. It is low enough that the answer is not cut off. */
const WORDY_SHARE = 0.5;

function wordy(_: NotesSection, { facts, conversation }: SeenNotesRequest, request: SeenRequest): Turn {
  const random = createRandom(hashText("wordy", conversation.length));
  const sections = sectionsShown(facts.shown);
  const shortest = sections.toSorted((one, other) => one.body.length - other.body.length)[0];
  if (shortest === undefined) return { blocks: [] };
  let text = "";
  while (text.length < Math.min(WORDY_CHARS, request.maxTokens * WORDY_SHARE)) {
    text += `- ${capitalized(phrase(random))}, and then ${phrase(random)} (${random.hex(6)}).\n`;
  }
  const wish: SectionChange = { section: shortest, mode: "append", text: text.trimEnd() };
  return answerWithEdits([wish], request, facts);
}
