import { headOf } from "../../conversation/text.ts";
import { clip, dedented, fenced, headAndTail, inlineCode, oneLine, quoted } from "../clip.ts";
import {
  fencedLines,
  isNotesContinuation,
  type SectionName,
  splitSections,
  unwrapSummary,
  withoutQuotedFacts,
} from "../summary-message.ts";
import type { ErrorRecord, Resolution } from "./command-runs.ts";
import { type HumanMessage, messageKey } from "./exchanges.ts";
import { type FileRecord, fileName, isSamePath, shortPath } from "./touched-code.ts";

/** An earlier summary read back, and the items that it consists of. */

/** The summary that this conversation began with, taken apart so that it can be brought up to date. */
export interface EarlierSummary {
  readonly items: ReadonlyMap<SectionName, readonly string[]>;
  /** How many pieces of each section had no room in it. */
  readonly leftOut: ReadonlyMap<SectionName, number>;
  /** They are the session's notes. */
  readonly isNotes?: boolean;
}

/** An item that says only that there is none, as a model writes it or as an empty section of ours does. */
const NOTHING =
  /^[-*•\s]*\(?(?:(?:none|nothing|n\/a)(?: (?:so far|yet|at (?:the moment|this time|present)|currently|on record))?|none: wait for the user|no (?:request|errors|work) on record|no files were touched|newer messages follow)[.)\s]*$/i;
/** Sections about the future: that nothing is open there says nothing about the work, however long the sentence. */
const ABOUT_THE_FUTURE: ReadonlySet<SectionName> = new Set(["Pending Tasks", "Optional Next Step"]);
const NOTHING_OPEN =
  /^[-*•\s]*\(?(?:none\b|n\/a\b|no (?:pending|open|explicit|further|remaining|outstanding)\b|nothing (?:is |was )?(?:pending|open|explicit|further|else|more|left|remain|outstanding|to do|at )|nothing[.)]?$)/i;
const OWN_CONCEPTS = /^- (?:Languages|Packages|Commands in use|Names that matter): /;
const SHORT_ANSWER_CHARS = 12;
const KEPT_STEPS = 5;

/** Ours or a model's: anything with the nine headings, or notes. Without headings the whole is the intent. */
export function parseEarlierSummary(summary: string): EarlierSummary {
  const text = withoutQuotedFacts(summary);
  if (isNotesContinuation(text)) {
    return { items: itemsOfNotes(unwrapSummary(text)), leftOut: new Map(), isNotes: true };
  }
  const body = withoutAnalysis(unwrapSummary(text));
  const sections = splitSections(body);
  const items = new Map<SectionName, readonly string[]>();
  if (sections.length === 0 && body.trim() !== "") items.set("Primary Request and Intent", [body.trim()]);
  for (const section of sections) addItems(items, section.name, filledItems(section.body, section.name));
  return { items, leftOut: new Map(sections.map(({ name, body }) => [name, leftOutIn(body)])) };
}

type ItemsByName = Map<SectionName, readonly string[]>;

function addItems(items: ItemsByName, name: SectionName, more: readonly string[]): void {
  items.set(name, [...(items.get(name) ?? []), ...more]);
}

function leftOutIn(body: string): number {
  const remark = body.trimEnd().split("\n").at(-1) ?? "";
  return Number(LEFT_OUT_LINE.exec(remark)?.[1] ?? 0);
}

function filledItems(body: string, name?: SectionName): readonly string[] {
  const isOpen = name !== undefined && ABOUT_THE_FUTURE.has(name);
  return splitItems(body).filter((item) => !NOTHING.test(item) && !(isOpen && NOTHING_OPEN.test(item)));
}

/** Joins summaries of several parts, oldest first. */
export function joinEarlier(one: EarlierSummary | undefined, next: EarlierSummary): EarlierSummary {
  if (one === undefined) return next;
  const items = new Map(one.items);
  for (const [name, list] of next.items) addItems(items, name, list);
  const leftOut = new Map(one.leftOut);
  for (const [name, count] of next.leftOut) leftOut.set(name, (leftOut.get(name) ?? 0) + count);
  return { items, leftOut };
}

export function earlierItems(earlier: EarlierSummary | undefined, name: SectionName): readonly string[] {
  return earlier?.items.get(name) ?? [];
}

/** A long message that an earlier summary of ours gives in full under its first heading: always its first item. */
export function requestInFull(earlier: EarlierSummary | undefined): string {
  return parseMessageItem(earlierItems(earlier, "Primary Request and Intent")[0] ?? "");
}

/** A person's messages as earlier summaries list them. */
export function listedMessages(earlier: EarlierSummary | undefined): readonly string[] {
  return earlierItems(earlier, "All User Messages").map((item) =>
    item === SEE_CURRENT_REQUEST ? requestInFull(earlier) : parseMessageItem(item),
  );
}

/** Messages that earlier summaries list and nobody has written since, each once. */
export function earlierMessages(
  earlier: EarlierSummary | undefined,
  newer: readonly HumanMessage[] = [],
): readonly string[] {
  const seen = new Set(newer.map(({ text }) => messageKey(text)));
  return listedMessages(earlier).filter((text) => {
    const key = messageKey(text);
    // The same long text twice is one message that two summaries list; a second "yes" is a second message.
    const isRepeat = key.length > SHORT_ANSWER_CHARS && seen.has(key);
    return text !== "" && !isRepeat && Boolean(seen.add(key));
  });
}

/** The agent's last words before the earlier summary, if that is one of ours. */
export function earlierLastWords(earlier: EarlierSummary | undefined): string | undefined {
  const quotation = earlierItems(earlier, "Current Work").findLast((item) => item.startsWith(">"));
  return quotation?.replace(/^> ?/gm, "");
}

/** The work of then in brief: the last steps and the agent's words, or all that a model wrote about it. */
export function earlierWorkInBrief(earlier: EarlierSummary | undefined): string {
  const items = earlierItems(earlier, "Current Work");
  const words = earlierLastWords(earlier);
  const steps = items
    .filter((item) => item.startsWith("- ") && !item.includes("```"))
    .map((item) => item.slice(2));
  const told = words === undefined ? items.join(" ") : `${steps.slice(-KEPT_STEPS).join("; ")} — ${words}`;
  return oneLine(told.replace(/```\w*/g, " ").replace(/\|(?:\s*:?-+:?\s*\|)+/g, "|"));
}

/** Remarks of a model or a person about the technology, without the lists that a summary of ours makes anew. */
export function earlierConcepts(earlier: EarlierSummary | undefined): readonly string[] {
  return earlierItems(earlier, "Key Technical Concepts").filter((item) => !OWN_CONCEPTS.test(item));
}

/**
 * Claude Code leaves a model's scratchpad in front of the summary under a heading of its own. Without a scratchpad, the
 * heading "Summary:" below the first section is a part of the summary.
 */
function withoutAnalysis(text: string): string {
  const summary = /(?:^|\n)Summary:\s*\n/.exec(text);
  if (summary === null) return text;
  const hasAnalysis = /^\s*Analysis:/.test(text);
  if (!hasAnalysis && splitSections(text.slice(0, summary.index)).length > 0) return text;
  return text.slice(summary.index + summary[0].length);
}

/** Bullets and paragraphs on the outermost level, each with all that hangs below it; labels are left out. */
export function splitItems(body: string, isPassedOver: (line: string) => boolean = isOwnLine): string[] {
  const items: string[][] = [];
  let fence: string | undefined;
  let afterBlank = true;
  for (const line of dedented(body.split("\n"))) {
    if (fence === undefined && isPassedOver(line)) {
      afterBlank = true;
      continue;
    }
    const marker = /^\s*(`{3,}|~{3,})/.exec(line)?.[1];
    const canStart = fence === undefined && marker === undefined;
    if (items.length === 0 || (canStart && startsItem(line, afterBlank))) items.push([line]);
    else items.at(-1)?.push(line);
    if (marker !== undefined) fence = nextFence(fence, marker, line);
    afterBlank = line.trim() === "";
  }
  return items.map((lines) => lines.join("\n").trim()).filter((item) => item !== "");
}

function startsItem(line: string, afterBlank: boolean): boolean {
  return /^(?:[-*•]|\d{1,3}[.)])\s/.test(line) || (afterBlank && /^\S/.test(line));
}

function nextFence(open: string | undefined, marker: string, line: string): string | undefined {
  if (open === undefined) return marker;
  return marker.startsWith(open) && line.trim() === marker ? undefined : open;
}

/**
 * Places of the notes' sections in a summary; "" is for those of a user's own template. Sections that share a
 * section stands in the order in which it can be missed least: concepts give way from the end, the rest from the front.
 */
const PLACES: readonly (readonly [name: string, place: SectionName])[] = [
  ["session title", "Primary Request and Intent"],
  ["task specification", "Primary Request and Intent"],
  ["current state", "Current Work"],
  ["files and functions", "Files and Code Sections"],
  ["errors & corrections", "Errors and Fixes"],
  ["workflow", "Key Technical Concepts"],
  ["", "Key Technical Concepts"],
  ["codebase and system documentation", "Key Technical Concepts"],
  ["worklog", "Problem Solving"],
  ["learnings", "Problem Solving"],
  ["key results", "Problem Solving"],
];

const NAMES: ReadonlySet<string> = new Set(PLACES.map(([name]) => name));
/** A person's own words, as we note them. */
const MESSAGE = /^- (?:\(after interrupting the assistant\) )?(?:"|\(\d+ lines\)\n)/;

/** Sorts the items of notes into the sections of a summary. */
function itemsOfNotes(text: string): ItemsByName {
  const { preface, bodies } = cutAtHeadings(text);
  const items: ItemsByName = new Map();
  const add = (place: SectionName, more: readonly string[]): void => {
    if (more.length > 0) addItems(items, place, more);
  };
  // The place of the whole notes, and a person's words above them.
  add("Primary Request and Intent", filledItems(preface));
  for (const [name, place] of PLACES) {
    const found = (bodies.get(name) ?? []).flatMap((body) => filledItems(body));
    const messages = found.filter((item) => MESSAGE.test(item));
    if (place !== "Primary Request and Intent") add(place, found);
    else {
      add("All User Messages", messages);
      // The newest is the request that was current.
      add(place, [...messages.slice(-1), ...found.filter((item) => !MESSAGE.test(item))]);
    }
  }
  return items;
}

interface CutNotes {
  readonly preface: string;
  /** By the names of {@link PLACES}. */
  readonly bodies: ReadonlyMap<string, readonly string[]>;
}

function cutAtHeadings(text: string): CutNotes {
  const lines = text.split("\n");
  const isCode = fencedLines(lines);
  const preface: string[] = [];
  const bodies = new Map<string, string[][]>();
  let open = preface;
  for (const [index, line] of lines.entries()) {
    const title = isCode(index) ? undefined : /^#[ \t]+(\S.*)$/.exec(line)?.[1]?.trim();
    if (title === undefined) {
      open.push(line);
      continue;
    }
    const name = title.toLowerCase();
    // A name of the user's own tells what its items are about.
    open = NAMES.has(name) ? [] : [`${title}:`, ""];
    const key = NAMES.has(name) ? name : "";
    bodies.set(key, [...(bodies.get(key) ?? []), open]);
  }
  const joined = [...bodies].map(([name, parts]) => [name, parts.map((part) => part.join("\n"))] as const);
  return { preface: preface.join("\n"), bodies: new Map(joined) };
}

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
/** Stands for a long message that is given in full under the first heading. */
export const SEE_CURRENT_REQUEST = "- (the current request: see 1)";
const LEFT_OUT_LINE = /^\((\d+) more [a-z ]+ left out here; see the transcript\)$/;

/** The last line of a section in which something had no room. */
export const leftOutLine = (count: number, what: string): string =>
  `(${count} more ${what} left out here; see the transcript)`;

const isOwnLine = (line: string): boolean => OWN_LABELS.has(line) || LEFT_OUT_LINE.test(line);

/** Messages, files and errors as list items: written here, and read back from an earlier summary or from notes. */

export const AFTER_INTERRUPTION = "(after interrupting the assistant) ";
const SHORTENED_CHARS: readonly number[] = [2_400, 1_000, 400, 160];

/** Verbatim first, then by head and tail. */
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

/** One line stands in quotes; more stand untouched in a fence, so that they can be found again byte by byte. */
function messageItem(text: string, prefix = ""): string {
  const trimmed = text.trim();
  if (!trimmed.includes("\n") && !trimmed.includes("\r"))
    return `- ${prefix}${/^["“]/.test(trimmed) ? trimmed : quoted(trimmed)}`;
  return `- ${prefix}(${trimmed.split("\n").length} lines)\n${fenced(trimmed, "text")}`;
}

/** The message inside a list item, whether we wrote the list or a model did. */
export function parseMessageItem(item: string): string {
  const body = item
    .replace(/^(?:[-*•]|\d{1,3}[.)])\s+/, "")
    .replace(AFTER_INTERRUPTION, "")
    .replace(/^\(\d+ lines\)\n/, "")
    .replace(/^\*\*[^*\n]{1,40}\*\*:?\s+(?=["“])/, "");
  const inFence = /^(`{3,})text\n([\s\S]*)\n\1$/.exec(body)?.[2];
  if (inFence !== undefined) return inFence;
  const line = body.trim();
  const inQuotes = /^["“]([\s\S]*)["”]$/.exec(line)?.[1];
  return inQuotes ?? line;
}

/** The work on a file, in words. */
export function doneTo(file: FileRecord): string {
  const parts = [
    file.removed ? "removed" : "",
    file.created ? "created" : "",
    file.edits > 0 ? `edited ${file.edits}×` : "",
    file.reads > 0 ? `read ${file.reads}×` : "",
    file.changedOutside ? "also changed outside the conversation" : "",
  ];
  return parts.filter((part) => part !== "").join(", ");
}

const DONE = "(?:removed|created|edited \\d+×|read \\d+×|also changed outside the conversation)";
const ANY_DONE = new RegExp(`${DONE}(?:, )?`, "g");
const ONLY_DONE = new RegExp(`^ — (?:${DONE}(?:, |$))+$`);

/** True if the rest of an item's first line is nothing but {@link doneTo}. */
export const saysOnlyDone = (text: string): boolean => ONLY_DONE.test(text);

/** {@link doneTo} read back. */
export function readDone(
  text: string,
): Pick<FileRecord, "edits" | "reads" | "created" | "removed" | "changedOutside"> {
  return {
    edits: Number(/edited (\d+)×/.exec(text)?.[1] ?? 0),
    reads: Number(/read (\d+)×/.exec(text)?.[1] ?? 0),
    created: text.includes("created"),
    removed: text.includes("removed"),
    changedOutside: text.includes("also changed outside"),
  };
}

/** Facts about a file in an earlier summary. */
export interface EarlierFile {
  readonly edits: number;
  readonly reads: number;
  readonly created: boolean;
  readonly note: string | undefined;
}

const MAX_NOTE_CHARS = 260;
const MAX_NOTES_CHARS = 520;

/** Names that an item of any author may mean by its file: the one in code marks, and the first that looks like a path. */
export function namedIn(item: string): readonly [inCode: string | undefined, path: string | undefined] {
  const firstLine = item.split("\n")[0] ?? "";
  return [/`([^`]+)`/.exec(firstLine)?.[1], /[\w./\\-]+\.\w{1,5}\b/.exec(firstLine)?.[0]];
}

export function namesFile(item: string, path: string, cwd: string | undefined): boolean {
  const [inCode, looksLikePath] = namedIn(item);
  const named = inCode ?? looksLikePath;
  return named !== undefined && (named === shortPath(path, cwd) || isSamePath(named, path));
}

/** One file may have several items in the summary of a model. */
export function readEarlierFiles(items: readonly string[]): EarlierFile {
  const files = items.map(readEarlierFile);
  const notes = files.flatMap(({ note }) => note ?? []);
  return {
    edits: files.reduce((sum, { edits }) => sum + edits, 0),
    reads: files.reduce((sum, { reads }) => sum + reads, 0),
    created: files.some(({ created }) => created),
    note: notes.length === 0 ? undefined : clip(notes.join(" · "), MAX_NOTES_CHARS),
  };
}

export function readEarlierFile(item: string): EarlierFile {
  const [header = "", ...rest] = proseLines(item);
  const isOurs = /^- `[^`]+` — /.test(header);
  const done = header.replace(/^.*?`[^`]+`\**\s*(?:—|-|:|\()?\s*/, "").replace(/\)$/, "");
  const told = [isOurs ? done.replace(ANY_DONE, "") : done, ...rest.map(withoutLabel)];
  const note = oneLine(told.filter((part) => part.trim() !== "").join(" · "));
  const { edits, reads, created } = readDone(isOurs ? done : "");
  const shown = clip(note, isOurs ? MAX_NOTES_CHARS : MAX_NOTE_CHARS);
  return { edits, reads, created, note: note === "" ? undefined : shown };
}

/** Without code, and without the names that the file defines. */
function proseLines(item: string): string[] {
  const prose: string[] = [];
  let inCode = false;
  for (const line of item.split("\n")) {
    if (/^\s*(?:`{3,}|~{3,})/.test(line)) inCode = !inCode;
    else if (!inCode && !/^\s*Names: /.test(line)) prose.push(line);
  }
  return prose;
}

function withoutLabel(line: string): string {
  return line.replace(/^\s*(?:[-*•]\s+)?(?:(?:Why|Before): )?/, "");
}

/** A failure with what became of it, in full and in brief. */
export function errorForms(error: ErrorRecord): string[] {
  const times = error.occurrences > 1 ? ` (${error.occurrences}×)` : "";
  const lines = error.text.replace(/`/g, "'").split("\n");
  const outcome = resolutionText(error.resolution, error.weight);
  return [
    `- ${inlineCode(clip(error.source, 110))}${times}: ${lines.join(" / ")}${outcome}`,
    `- ${inlineCode(clip(error.source, 60))}${times}: ${clip(lines[0] ?? "", 120)}${outcome}`,
  ];
}

/** The end of a failure, with an arrow; "" if nothing is known. */
export function resolutionText(resolution: Resolution | undefined, weight: ErrorRecord["weight"]): string {
  if (resolution === undefined) return weight === 3 ? " → not seen to pass since" : "";
  const files = [...new Set(resolution.editedFiles.map(fileName))];
  const by = files.length > 0 ? ` after editing ${files.join(", ")}` : "";
  return resolution.how === "passed"
    ? ` → fixed${by}`
    : ` → gone in the next run${by}, which failed otherwise`;
}
