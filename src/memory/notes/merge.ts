import type { Notes, NotesSection } from "./notes.ts";

/**
 * Two changes to the same notes as one: what a person wrote into the file meanwhile, and what was noted at the same
 * time. Where both changed a section, the person's words stand and ours are left for the next time.
 */
export function mergeNotes(base: Notes, ours: Notes, theirs: Notes): Notes {
  const bodyIn = ({ sections }: Notes, { heading }: NotesSection): string =>
    sections.find((section) => section.heading === heading)?.body ?? "";
  let isAllOfOurs = true;
  const sections = theirs.sections.map((section) => {
    const [before, wished] = [bodyIn(base, section), bodyIn(ours, section)];
    if (wished === before || wished === section.body) return section;
    if (section.body === before) return { ...section, body: wished };
    isAllOfOurs = false;
    return section;
  });
  // Ours go on from where the notes were. Theirs may be others by now, emptied or begun anew, and hold less than that.
  const isContinued = theirs.coveredUuid === base.coveredUuid;
  const coveredUuid = isAllOfOurs && isContinued ? ours.coveredUuid : (theirs.coveredUuid ?? "");
  return { ...theirs, sections, coveredUuid };
}
