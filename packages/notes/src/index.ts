export type { NotesOptions } from "./notes-keeper.ts";
export { sessionNotes } from "./notes-module.ts";
