/**
 * Italic lines that earlier versions wrote below the headings of a notes file. They are not notes, so the
 * parser drops them.
 */
export const FORMER_GUIDES: readonly string[] = [
  "_One line of five to ten words that tells this session from every other: the thing worked on, and what is done to it._",
  "_What is being worked on right now, what is done but not yet checked, what is left to do, and the very next step. Rewritten each time: nothing outdated stays here._",
  "_What the user wants, as exactly as they put it: the goal, the limits they set, decisions they made, and when the work counts as done. A later wish replaces the earlier one that it contradicts._",
  "_The files that matter, by path, each with the functions or parts in it that matter and why; which of them were changed, and how._",
  "_Commands that are needed again and again (to build, test, run, release): exactly as they are typed, in their order, from which folder, and how to read their output where that is not plain._",
  "_Each error that came up, its cause and what solved it; what the user corrected; what was tried in vain and why it failed, so that nobody tries it again._",
  "_How the system is built: its main parts, what each is for, how they work together, and rules of it that cannot be seen in one file alone._",
  "_What turned out to work well here, what did not, and what to avoid from now on. Nothing that another section says already._",
  "_What the user asked to be told or given, complete and word for word: an answer, a table, figures, a document. Empty where the result is the changed files themselves._",
  "_What was done, one short line for each step, the newest at the end._",
];
