export { type EditTool, findEditTool } from "../model-edits.ts";
export { NOT_EVERYTHING } from "../notes-answer.ts";
export {
  emptyNotes,
  formatNotes,
  isHeadingLine,
  isItalicLine,
  isOnlyTemplate,
  linesOf,
  measureNotes,
  NOTES_LIMITS,
  type Notes,
  type NotesFile,
  type NotesHeading,
  type NotesLimits,
  type NotesSection,
  type NotesSize,
  type NotesTemplate,
  nameKey,
  notedUpTo,
  overLimits,
  parseNotes,
  sectionName,
} from "../notes-format.ts";
export { NOTHING_TO_NOTE, type NotesRequestFacts, readNotesRequest } from "../notes-prompt.ts";
export { NOTES_TEMPLATE, parseTemplate } from "../template.ts";
