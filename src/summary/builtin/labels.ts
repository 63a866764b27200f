/**
 * Labels above groups of items in the built-in summary. The next summary recognizes exactly these lines and skips
 * them. A bold line that another author wrote is a part of the summary.
 */
export const LABELS = {
  currentRequest: "**Current request, verbatim:**",
  intent: "**What the user wants, as the earlier summary has it:**",
  longerRequest: "**The last longer request before it, verbatim:**",
  pastRequests: "**Requests before it, oldest first, and what came of each:**",
  setting: "**Setting:**",
  changedFiles: "**Changed, most recent first:**",
  readFiles: "**Only looked at:**",
  earlierFiles: "**From before:**",
  earlierErrors: "**From before the last summary, as it was then:**",
  failures: "**Failures, oldest first:**",
  corrections: "**The user stepped in:**",
  earlierSolutions: "**Before the last summary:**",
  answers: "**Decided by the user, when asked:**",
  plans: "**Plans the assistant wrote:**",
  findings: "**Reported by subagents and background tasks:**",
  remarks: "**Causes, decisions and findings the assistant stated:**",
  todos: "**To-do list:**",
  waiting: "**Still open when the conversation stopped:**",
  earlierTasks: "**Open at the last summary (may have been done since; see 1 and 8):**",
  steps: "**Latest steps, oldest first:**",
  lastEdits: "**Last edits:**",
  lastWords: "**What the assistant said last, verbatim:**",
  /** Newer messages follow: what was next at the end of this part may have been done in them. */
  whereItStood: "**Where things stood at the end of this part; newer messages follow:**",
} as const;

const OWN_LABELS: ReadonlySet<string> = new Set(Object.values(LABELS));

export const isOwnLabel = (line: string): boolean => OWN_LABELS.has(line);
