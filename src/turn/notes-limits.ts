import type { NotesLimits } from "../notes/notes-format.ts";
import { NOTES_LIMITS } from "../notes/notes-format.ts";
import type { Thresholds } from "../window/thresholds.ts";
import { inProportion } from "../window/thresholds.ts";

/** In proportion to the window, like everything that is to be in it. */
export function notesLimitsFor(window: Pick<Thresholds, "size">): NotesLimits {
  const { sectionTokens, totalTokens } = NOTES_LIMITS;
  return {
    sectionTokens: inProportion(window, sectionTokens),
    totalTokens: inProportion(window, totalTokens),
  };
}
