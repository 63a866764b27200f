export { notesLimitsFor } from "../notes-keeper.ts";
