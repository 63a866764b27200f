import { headOf } from "../../../messages/text.ts";
import { clip, fenced, headAndTail, inlineCode, isCut, oneLine, quoted } from "../clip.ts";
import { FORMER_LABELS } from "../former-wording.ts";
import type { ErrorRecord, Resolution } from "./error-ledger.ts";
import { saysStillRunning } from "./passing-state.ts";
import { type FileRecord, fileName, isSamePath, shortPath } from "./touched-code.ts";

/**
 * Writes requests, files and errors as list items, and reads them back from an earlier summary or from notes.
 */

/**
 * Labels above groups of items in the built-in summary. The next summary recognizes exactly these lines and
 * skips them. A bold line that another author wrote is a part of the summary.
 */
export const LABELS = {
  currentRequest: "**Current request, verbatim:**",
  intent: "**The user's intent, from the earlier summary:**",
  longerRequest: "**The latest long request before the current one, verbatim:**",
  pastRequests: "**Earlier requests → the assistant's last words about each [seen proofs], oldest first:**",
  setting: "**Setting:**",
  changedFiles: "**Changed, latest known change first:**",
  readFiles: "**Only read by the assistant itself:**",
  earlierFiles: "**Files from the earlier summary:**",
  earlierErrors: "**Errors before the last summary (an arrow shows the latest known state):**",
  failures: "**Failures, oldest first:**",
  corrections: "**Corrections and interruptions by the user:**",
  earlierSolutions: "**Before the last summary:**",
  answers: "**Questions and the user's answers:**",
  plans: "**Plans the assistant wrote:**",
  findings: "**Reported by subagents and background tasks:**",
  reasons:
    "**Causes, decisions and corrections of the assistant (or the user, if marked) at that time, oldest first. Later work can have replaced them:**",
  todos: "**To-do list:**",
  remaining: "**Work that the assistant's reports named as remaining (it may be done by now):**",
  waiting: "**Open at this point (newer messages may have finished it):**",
  failedChecks: "**Failed and not seen to pass since (they may no longer matter):**",
  earlierTasks: "**Open at the last summary (may be done by now: see sections 1 and 8):**",
  steps: "**Latest steps, oldest first:**",
  lastEdits: "**Last edits:**",
  lastWords: "**The assistant's last words, verbatim:**",
  earlierLastWords: "**The assistant's last words before the last summary, verbatim:**",
  /**
   * Label for a part of the conversation that newer messages follow. In those messages, the agent may already
   * have done the next step of this part.
   */
  stateAtEnd: "**State at the end of this part (newer messages follow):**",
} as const;

const OWN_LABELS: ReadonlySet<string> = new Set([...Object.values(LABELS), ...FORMER_LABELS]);
/** Line in the list of messages. It replaces a long message that the first section quotes in full. */
export const SEE_CURRENT_REQUEST = "- (the current request: see section 1)";
export const LEFT_OUT_LINE: RegExp = /^\((\d+) more [a-z ]+ left out(?: here;|:) see the transcript\)$/;

/** Writes the last line of a section that left something out. */
export const leftOutLine = (count: number, what: string): string =>
  `(${count} more ${what} left out: see the transcript)`;

export const isOwnLine = (line: string): boolean => OWN_LABELS.has(line) || LEFT_OUT_LINE.test(line);

export const AFTER_INTERRUPTION = "(after interrupting the assistant) ";
const AFTER_INTERRUPTION_PATTERN = "\\(after interrupting the assistant\\) ";
const SHORTENED_CHARS: readonly number[] = [2_400, 1_000, 400, 160];

/** Returns the forms of a message: verbatim first, then head and tail. */
export function messageForms(text: string, prefix = ""): string[] {
  const shorter = SHORTENED_CHARS.filter((chars) => chars < text.length);
  return [
    messageItem(text, prefix),
    ...shorter.map((chars) =>
      chars > 400
        ? messageItem(headAndTail(text, chars), prefix)
        : messageItem(clip(oneLine(headOf(text, 4 * chars)), chars), prefix),
    ),
  ];
}

/**
 * Writes a message so that it can be found exactly. A single line is written in quotes, and several lines are
 * written unchanged in a fence.
 */
function messageItem(text: string, prefix = ""): string {
  const trimmed = text.trim();
  if (!trimmed.includes("\n") && !trimmed.includes("\r"))
    return `- ${prefix}${/^["“]/.test(trimmed) ? trimmed : quoted(trimmed)}`;
  const lines = isCut(trimmed) ? "several" : trimmed.split("\n").length;
  return `- ${prefix}(${lines} lines)\n${fenced(trimmed, "text")}`;
}

/** Start of a message with several lines. The number of lines is only known if nothing was left out. */
const LINES = "\\((?:\\d+|several) lines\\)\\n";
const LINES_START = new RegExp(`^${LINES}`);
const OWN_MESSAGE = new RegExp(`^- (?:${AFTER_INTERRUPTION_PATTERN})?(?:["“]|${LINES})`);

/** Returns true if the item is a message as {@link messageForms} writes it. */
export const isMessageItem = (item: string): boolean => OWN_MESSAGE.test(item);

/** Returns the message inside a list item, written by longhaul or by a model. */
export function parseMessageItem(item: string): string {
  const body = item
    .replace(/^(?:[-*•]|\d{1,3}[.)])\s+/, "")
    .replace(AFTER_INTERRUPTION, "")
    .replace(LINES_START, "")
    .replace(/^\*\*[^*\n]{1,40}\*\*:?\s+(?=["“])/, "");
  const inFence = /^(`{3,})text\n([\s\S]*)\n\1$/.exec(body)?.[2];
  if (inFence !== undefined) return inFence;
  const line = body.trim();
  const inQuotes = /^["“]([\s\S]*)["”]$/.exec(line)?.[1];
  return inQuotes ?? line;
}

/** Describes the work on a file. */
export function doneTo(file: FileRecord): string {
  const parts = [
    file.removed ? "removed" : "",
    file.movedFrom === undefined ? "" : `moved from ${inlineCode(file.movedFrom)}`,
    file.created ? "created" : "",
    editedText(file),
    file.isRead ? "read" : "",
    file.changedOutside ? "also changed by a person or a command" : "",
  ];
  return parts.filter((part) => part !== "").join(", ");
}

/** Counts the edits only if each of them is known. */
function editedText({ edits, byShell }: Pick<FileRecord, "edits" | "byShell">): string {
  if (byShell) return edits > 0 ? `edited, also ${BY_SHELL}` : `changed ${BY_SHELL}`;
  return edits > 0 ? `edited ${edits}×` : "";
}

const BY_SHELL = "by shell commands";
/** Earlier versions counted reads, and said "outside the conversation". */
const DONE = `(?:removed|moved from \`[^\`]*\`|created|edited(?: \\d+×|, also ${BY_SHELL})|changed ${BY_SHELL}|read(?: \\d+×)?|also changed (?:outside the conversation|by a person or a command))`;
const DONE_START = new RegExp(`^(?: — )?(?:${DONE}(?:, |$))+`);
const ONLY_DONE = new RegExp(`^ — (?:${DONE}(?:, |$))+$`);

/** Returns true if the rest of an item's first line is only a text of {@link doneTo}. */
export const isOnlyDone = (text: string): boolean => ONLY_DONE.test(text);

/** Reads the text of {@link doneTo} back. */
export function readDone(
  text: string,
): Pick<FileRecord, "edits" | "byShell" | "isRead" | "created" | "removed" | "movedFrom" | "changedOutside"> {
  const [start = ""] = DONE_START.exec(text) ?? [];
  const movedFrom = /moved from `([^`]*)`/.exec(start)?.[1];
  const done = start.replace(/`[^`]*`/g, "");
  return {
    edits: Number(/edited (\d+)×/.exec(done)?.[1] ?? (done.includes("edited") ? 1 : 0)),
    byShell: done.includes(BY_SHELL),
    isRead: /\bread\b/.test(done),
    created: done.includes("created"),
    removed: done.includes("removed"),
    ...(movedFrom === undefined ? {} : { movedFrom }),
    changedOutside: done.includes("also changed"),
  };
}

/** Facts about a file in an earlier summary. */
export interface EarlierFile {
  readonly edits: number;
  readonly byShell: boolean;
  readonly isRead: boolean;
  readonly created: boolean;
  readonly removed: boolean;
  readonly changedOutside: boolean;
  readonly movedFrom?: string | undefined;
  readonly note: string | undefined;
}

const MAX_NOTE_CHARS = 260;
const MAX_NOTES_CHARS = 520;

/**
 * Returns possible file names in an item. `inCode` is the text in code marks, and `path` is the first text
 * that looks like a path.
 */
export function namedIn(item: string): readonly [inCode: string | undefined, path: string | undefined] {
  const firstLine = item.split("\n")[0] ?? "";
  return [/`([^`]+)`/.exec(firstLine)?.[1], /[\w./\\-]+\.\w{1,5}\b/.exec(firstLine)?.[0]];
}

export function namesFile(item: string, path: string, cwd: string | undefined): boolean {
  const [inCode, looksLikePath] = namedIn(item);
  const named = inCode ?? looksLikePath;
  return named !== undefined && (named === shortPath(path, cwd) || isSamePath(named, path));
}

/**
 * Joins the items about one file. A model's summary may have several items about the same file. Notes in
 * `known` are left out.
 */
export function readEarlierFiles(items: readonly string[], known: readonly string[] = []): EarlierFile {
  const files = items.map(readEarlierFile);
  const notes = new Set(files.flatMap(({ note }) => note?.split(NOTE_JOINT) ?? []));
  for (const note of known) notes.delete(note);
  const movedFrom = files.find((file) => file.movedFrom !== undefined)?.movedFrom;
  return {
    edits: files.reduce((sum, { edits }) => sum + edits, 0),
    byShell: files.some(({ byShell }) => byShell),
    isRead: files.some(({ isRead }) => isRead),
    created: files.some(({ created }) => created),
    removed: files.some(({ removed }) => removed),
    changedOutside: files.some(({ changedOutside }) => changedOutside),
    ...(movedFrom === undefined ? {} : { movedFrom }),
    note: notes.size === 0 ? undefined : clip([...notes].join(NOTE_JOINT), MAX_NOTES_CHARS),
  };
}

const NOTE_JOINT = " · ";

export function readEarlierFile(item: string): EarlierFile {
  const [header = "", ...rest] = withoutCode(item).filter((line) => !/^\s*Names: /.test(line));
  const isOurs = /^- `[^`]+` — /.test(header);
  const done = header.replace(/^.*?`[^`]+`\**\s*(?:—|-|:|\()?\s*/, "").replace(/\)$/, "");
  const noteParts = [isOurs ? done.replace(DONE_START, "") : done, ...rest.map(withoutLabel)];
  const parts = isOurs
    ? noteParts.flatMap((part) => part.split(NOTE_JOINT)).filter((part) => !saysStillRunning(part))
    : noteParts;
  const note = oneLine(parts.filter((part) => part.trim() !== "").join(NOTE_JOINT));
  const did = readDone(isOurs ? done : "");
  const shown = clip(note, isOurs ? MAX_NOTES_CHARS : MAX_NOTE_CHARS);
  return {
    ...did,
    note: note === "" ? undefined : shown,
  };
}

const ONLY_READ = "- Only read: ";

/** Names of files that were only read. `more`: number of files that are not named. */
export interface ReadFiles {
  readonly names: readonly string[];
  readonly more: number;
}

/** Returns true for the item that lists files that were only read. */
export const isOnlyRead = (item: string): boolean => item.startsWith(ONLY_READ);

/** Writes the list of files that were only read, at most `length` of them. */
export function onlyReadItem({ names, more }: ReadFiles, length: number): string {
  const left = Math.max(0, names.length - length) + more;
  return `${ONLY_READ}${names.slice(0, length).map(inlineCode).join(", ")}${left > 0 ? `, and ${left} more` : ""}`;
}

/** Reads the lists of {@link onlyReadItem} back. */
export function readOnlyRead(items: readonly string[]): ReadFiles {
  const names = new Set<string>();
  let more = 0;
  for (const item of items.filter(isOnlyRead)) {
    for (const [, name = ""] of item.matchAll(/`([^`]+)`/g)) names.add(name);
    more += Number(/, and (\d+) more$/.exec(item)?.[1] ?? 0);
  }
  return { names: [...names], more };
}

/** Returns the lines without code blocks. */
export function withoutCode(item: string): string[] {
  const prose: string[] = [];
  let inCode = false;
  for (const line of item.split("\n")) {
    if (/^\s*(?:`{3,}|~{3,})/.test(line)) inCode = !inCode;
    else if (!inCode) prose.push(line);
  }
  return prose;
}

function withoutLabel(line: string): string {
  return line.replace(/^\s*(?:[-*•]\s+)?(?:(?:Why|Before): )?/, "");
}

/** Writes an error with its resolution, in full and in brief. */
export function errorForms(error: ErrorRecord): string[] {
  const times = error.occurrences > 1 ? ` (${error.occurrences}×)` : "";
  const lines = error.text.replace(/`/g, "'").split("\n");
  const outcome = resolutionText(error.resolution, error.weight);
  return [
    `- ${inlineCode(clip(error.source, 110))}${times}: ${lines.join(" / ")}${outcome}`,
    `- ${inlineCode(clip(error.source, 60))}${times}: ${clip(lines[0] ?? "", 120)}${outcome}`,
  ];
}

/** Item about a request on which the agent was working when the conversation stopped. */
export const IN_PROGRESS = "- In progress: the user's latest request (see section 1)";

/** Ending of an error that was not seen to pass. */
export const NOT_SEEN_TO_PASS = " → not seen to pass since";

/** Ending of an error that was not seen to pass, although the hooks of a later commit passed. */
const COMMIT_SINCE: string = `${NOT_SEEN_TO_PASS} (a later commit with its hooks succeeded)`;

/** Ending of a commit that failed in its hooks. */
export const BYPASSED = " → committed later without the hooks";
/** Ending of a commit that failed in hooks which a later commit passed. */
export const AFTER_BYPASS: string = `${BYPASSED}; a later commit with them succeeded`;

/** Ending of a command that succeeded later. */
export const laterSuccess = (what: "commit" | "push" | "attempt"): string => ` → a later ${what} succeeded`;

/** Writes the resolution of an error with an arrow, or "" if it is unknown. */
export function resolutionText(resolution: Resolution | undefined, weight: ErrorRecord["weight"]): string {
  if (resolution === undefined) return weight === 3 ? NOT_SEEN_TO_PASS : "";
  const { how } = resolution;
  if (how === "commit" || how === "push" || how === "attempt") return laterSuccess(how);
  if (how === "bypassed") return BYPASSED;
  if (how === "after-bypass") return AFTER_BYPASS;
  if (how === "commit-since") return COMMIT_SINCE;
  const files = [...new Set(resolution.editedFiles.map(fileName))];
  const by = files.length > 0 ? ` after editing ${files.join(", ")}` : "";
  return how === "passed"
    ? ` → fixed${by}`
    : ` → did not occur in the next run${by}, which failed with another error`;
}
