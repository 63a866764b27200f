export { notesAsSummary } from "../as-summary.ts";
export { updateNotes } from "../built-in/update-notes.ts";
export { type ExtractionOutcome, extractNotes, sumUsage } from "../extract-notes.ts";
export { type NotesDecline, type NotesKeep, notesSource, planFromNotes } from "../plan-from-notes.ts";
export { changedSections, saveNotes } from "../update.ts";
