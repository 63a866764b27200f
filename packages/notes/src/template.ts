import { LonghaulError } from "@longhaul/core/errors";
import {
  isHeadingLine,
  isItalicLine,
  linesOf,
  type NotesHeading,
  type NotesTemplate,
  nameKey,
} from "./notes-format.ts";

/** The sections of notes, unless the user has a template of their own. */
export const NOTES_TEMPLATE = `# Session Title
_One line of five to ten words that tells this session from every other: the thing worked on, and what is done to it._

# Current State
_What is being worked on right now, what is done but not yet checked, what is left to do, and the very next step. Rewritten each time: nothing outdated stays here._

# Task Specification
_What the user wants, as exactly as they put it: the goal, the limits they set, decisions they made, and when the work counts as done. A later wish replaces the earlier one that it contradicts._

# Files and Functions
_The files that matter, by path, each with the functions or parts in it that matter and why; which of them were changed, and how._

# Workflow
_Commands that are needed again and again (to build, test, run, release): exactly as they are typed, in their order, from which folder, and how to read their output where that is not plain._

# Errors & Corrections
_Each error that came up, its cause and what solved it; what the user corrected; what was tried in vain and why it failed, so that nobody tries it again._

# Codebase and System Documentation
_How the system is built: its main parts, what each is for, how they work together, and rules of it that cannot be seen in one file alone._

# Learnings
_What turned out to work well here, what did not, and what to avoid from now on. Nothing that another section says already._

# Key Results
_What the user asked to be told or given, complete and word for word: an answer, a table, figures, a document. Empty where the result is the changed files themselves._

# Worklog
_What was done, one short line for each step, the newest at the end._
`;

/** The user's own template. Whatever it has beyond headings and italic lines could not be kept, so it is an error. */
export function parseTemplate(text: string): NotesTemplate {
  const sections: NotesHeading[] = [];
  const lineOfName = new Map<string, number>();
  let open: { readonly heading: string; readonly line: number } | undefined;
  const withoutGuide = (): LonghaulError =>
    invalid(open?.line ?? 1, `${open?.heading} has no italic line below it`);
  for (const [index, raw] of linesOf(text).entries()) {
    const line = index + 1;
    const words = raw.trimEnd();
    if (words === "") continue;
    if (isHeadingLine(words)) {
      if (open !== undefined) throw withoutGuide();
      const earlier = lineOfName.get(nameKey(words));
      if (earlier !== undefined) throw invalid(line, `${words} is the same heading as in line ${earlier}`);
      lineOfName.set(nameKey(words), line);
      open = { heading: words, line };
    } else if (open !== undefined) {
      if (!isItalicLine(words)) throw withoutGuide();
      sections.push({ heading: open.heading, guide: words.trim() });
      open = undefined;
    } else if (sections.length === 0) throw invalid(line, "something stands above the first heading");
    else throw invalid(line, "a section has more than a heading and one italic line");
  }
  if (open !== undefined) throw withoutGuide();
  if (sections.length === 0) throw invalid(1, "there is no section");
  return { sections };
}

function invalid(line: number, what: string): LonghaulError {
  return new LonghaulError("notes-template-invalid", `The notes template, line ${line}: ${what}.`, {
    remedy:
      "Give each section two lines: a heading such as `# Current State`, and below it one line in italics, `_…_`, that says what belongs there.",
    facts: { line },
  });
}
