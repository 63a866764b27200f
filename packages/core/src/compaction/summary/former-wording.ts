/**
 * Texts that earlier versions of longhaul wrote into session files. The current version still recognizes
 * these texts.
 */

export const FORMER_OPENING_NOTES =
  "This conversation goes on from an earlier one that no longer fitted into the context window. The notes below, taken while the session went on, stand for its earlier part.";

export const FORMER_OPENINGS: readonly string[] = [
  "This conversation goes on from an earlier one that no longer fitted into the context window. The summary below stands for its earlier part.",
  FORMER_OPENING_NOTES,
  "The messages above stand as they were. What followed them was taken out to make room, and the summary below stands for it.",
];

/** Starts of the paragraphs that earlier versions wrote after a summary. */
export const FORMER_AFTERWORDS: readonly string[] = [
  "Where an exact detail matters (a code snippet, an error text, something you wrote), read it in the full transcript: ",
  "Everything that was said and done before can be searched, and read word for word: call the tool ",
  "The most recent messages follow verbatim after this one.",
  "The most recent messages follow after this one.",
  "The conversation ends with results of your last tool calls that you have not read yet.",
  "Go on with the work from where it stopped, as if there had been no break: no questions to the user, no recap, no word about this summary.",
  "You are working autonomously. This is not a first start: the work loop is under way, so take it up again and do not greet or set up anew.",
];

/** Labels that earlier versions wrote above groups of items in the built-in summary. */
export const FORMER_LABELS: readonly string[] = [
  "**What the user wants, as the earlier summary has it:**",
  "**Latest request (from the earlier summary):**",
  "**The last longer request before it, verbatim:**",
  "**Requests before it, oldest first, and what came of each:**",
  "**Earlier requests and their outcomes, oldest first:**",
  "**Only looked at:**",
  "**Changed, most recent first:**",
  "**Files read but not changed:**",
  "**From before:**",
  "**From before the last summary, as it was then:**",
  "**The user stepped in:**",
  "**Corrections by the user:**",
  "**Errors before the last summary, with their state at that time:**",
  "**Errors before the last summary, with their latest known state:**",
  "**Decided by the user, when asked:**",
  "**Causes, decisions and findings the assistant stated:**",
  "**Causes, decisions and corrected beliefs (of the assistant unless marked as the user's), oldest first:**",
  "**Other findings the assistant stated:**",
  "**Remaining work in the assistant's own words (its plan, not approved by the user):**",
  "**Open at the last summary:**",
  "**Open at the last summary (may have been done since; see 1 and 8):**",
  "**Open at the last summary (may be done by now: see 1 and 8):**",
  "**Steps since the current request, oldest first:**",
  "**Still open when the conversation stopped:**",
  "**What the assistant said last, verbatim:**",
  "**Where things stood at the end of this part; newer messages follow:**",
  "**State of the work at the end of this part (newer messages follow):**",
];

/** Line in the list of messages. It replaced a long message that the first section quotes in full. */
export const FORMER_SEE_CURRENT_REQUEST = "- (the current request: see 1)";
