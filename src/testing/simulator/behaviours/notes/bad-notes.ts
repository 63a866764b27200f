import { createRandom } from "../../../../demo/random.ts";
import type { NotesSection } from "../../../../modules/notes/notes-format.ts";
import type { SeenRequest, Turn } from "../../exchange.ts";
import { textTurn } from "../answers.ts";
import { callSomeTool } from "../bad-summaries.ts";
import { hashText } from "../coder/hash.ts";
import { capitalised, phrase } from "../lexicon.ts";
import { answerByDoor, callsOf, noteBlock, offeredTool, type Wish } from "./doors.ts";
import type { SeenNotesRequest } from "./notes-request.ts";
import { sectionsShown } from "./shown-notes.ts";

export type BadNotesKind =
  /** Renames a heading and leaves its italic line out. */
  | "damages-headings"
  /** Edits a file that is not the notes. */
  | "other-file"
  /** Goes on with the work instead. */
  | "uses-other-tools"
  /** Says that all is well, and does nothing. */
  | "no-edits"
  | "unknown-section"
  /** Writes far more than a section may hold, every time, and condenses nothing. */
  | "wordy"
  /** Damages a heading first, and puts it right once it has been told. */
  | "repairs";

export const BAD_NOTES_KINDS: readonly BadNotesKind[] = [
  "damages-headings",
  "other-file",
  "uses-other-tools",
  "no-edits",
  "unknown-section",
  "wordy",
  "repairs",
];

const WORDY_CHARS = 12_000;
/** What a wordy answer takes of its room, so that it does not break off. */
const WORDY_SHARE = 0.5;

export function badNotesTurn(
  kind: Exclude<BadNotesKind, "repairs">,
  notes: SeenNotesRequest,
  request: SeenRequest,
): Turn {
  const [section] = sectionsShown(notes.facts.shown);
  if (section === undefined) return textTurn("There are no notes.");
  switch (kind) {
    case "damages-headings":
      return damaging(section, notes, request);
    case "other-file":
      return otherFile(section, request);
    case "uses-other-tools":
      return callSomeTool(request, "Let me look at one more file before I write anything down.");
    case "no-edits":
      return textTurn("I have read everything, and I will keep it in mind.");
    case "unknown-section":
      return textTurn(
        noteBlock({ section: { ...section, heading: "# Weather" }, mode: "append", text: "Rain." }),
      );
    case "wordy":
      return wordy(notes, request);
  }
}

function damaging(section: NotesSection, { facts }: SeenNotesRequest, request: SeenRequest): Turn {
  const tool = offeredTool(request);
  const { heading, guide } = section;
  if (tool === undefined)
    return textTurn(noteBlock({ section, mode: "append", text: `${heading}\nA new beginning.` }));
  const edit = { oldText: `${heading}\n${guide}`, newText: "# Everything\nA new beginning." };
  return { blocks: callsOf([edit], tool, facts.path) };
}

function otherFile(section: NotesSection, request: SeenRequest): Turn {
  const tool = offeredTool(request);
  const heading = "# src/other.ts";
  if (tool === undefined)
    return textTurn(noteBlock({ section: { ...section, heading }, mode: "replace", text: "export {};" }));
  return { blocks: callsOf([{ oldText: section.heading, newText: section.heading }], tool, "/src/other.ts") };
}

function wordy({ facts, conversation }: SeenNotesRequest, request: SeenRequest): Turn {
  const random = createRandom(hashText("wordy", conversation.length));
  const sections = sectionsShown(facts.shown);
  const shortest = sections.toSorted((one, other) => one.body.length - other.body.length)[0];
  if (shortest === undefined) return { blocks: [] };
  let text = "";
  while (text.length < Math.min(WORDY_CHARS, request.maxTokens * WORDY_SHARE)) {
    text += `- ${capitalised(phrase(random))}, and then ${phrase(random)} (${random.hex(6)}).\n`;
  }
  const wish: Wish = { section: shortest, mode: "append", text: text.trimEnd() };
  return answerByDoor([wish], request, facts);
}
