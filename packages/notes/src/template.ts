import { LonghaulError } from "@longhaul/core/errors";
import {
  isHeadingLine,
  isItalicLine,
  linesOf,
  type NotesHeading,
  type NotesTemplate,
  nameKey,
} from "./notes-format.ts";

/** Default sections of the notes. */
export const NOTES_TEMPLATE = `# Session Title
_One line of five to ten words that distinguishes this session from all others: the subject of the work, and what is done to it._

# Current State
_What is in progress now, what is done but not yet checked, what is left to do, and the next step. Rewrite this section each time, so that nothing outdated stays here._

# Task Specification
_What the user wants, as exactly as the user said it: the goal, the limits, the user's decisions, and when the work counts as done. A later request replaces an earlier one that it contradicts._

# Files and Functions
_The important files, by path. For each file, the functions or parts that matter and why. Which files were changed, and how._

# Workflow
_Commands that are needed repeatedly (build, test, run, release): the exact command lines, their order, the folder to run them in, and how to read output that is not obvious._

# Errors & Corrections
_Each error, its cause, and its fix. What the user corrected. What was tried without success and why it failed, so that nobody tries it again._

# Codebase and System Documentation
_How the system is built: its main parts, the purpose of each, how they work together, and rules that no single file shows._

# Learnings
_What worked well, what did not, and what to avoid from now on. Do not repeat other sections._

# Key Results
_Results that the user asked for, word for word: an answer, a table, numbers, a document. Leave it empty if the changed files are the result._

# Worklog
_The steps that were done, one short line for each, newest last._
`;

/**
 * Parses a user's template. Throws if it contains anything but headings and italic lines, because other text
 * would be lost.
 */
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
    } else if (sections.length === 0) throw invalid(line, "there is text above the first heading");
    else throw invalid(line, "a section has more than a heading and one italic line");
  }
  if (open !== undefined) throw withoutGuide();
  if (sections.length === 0) throw invalid(1, "there is no section");
  return { sections };
}

function invalid(line: number, what: string): LonghaulError {
  return new LonghaulError("notes-template-invalid", `Invalid notes template, line ${line}: ${what}.`, {
    remedy:
      "Write two lines for each section: a heading such as `# Current State`, and below it one italic line, `_…_`, that describes its content.",
    facts: { line },
  });
}
