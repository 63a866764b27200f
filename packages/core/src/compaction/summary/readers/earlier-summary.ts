import { clip, dedented, oneLine, quoted } from "../clip.ts";
import { FORMER_SEE_CURRENT_REQUEST } from "../former-wording.ts";
import {
  fencedLines,
  isNotesContinuation,
  type SectionName,
  splitSections,
  unwrapSummary,
  withoutQuotedFacts,
} from "../summary-message.ts";
import { type HumanMessage, messageKey } from "./exchanges.ts";
import {
  isMessageItem,
  isOwnLine,
  LEFT_OUT_LINE,
  parseMessageItem,
  SEE_CURRENT_REQUEST,
} from "./list-items.ts";

/** Reads an earlier summary or notes back into items by section. */

/** Summary at the start of the conversation, split so that it can be updated. */
export interface EarlierSummary {
  readonly items: ReadonlyMap<SectionName, readonly string[]>;
  /** The key is a section, and the value is the number of its pieces that did not fit. */
  readonly leftOut: ReadonlyMap<SectionName, number>;
  /** True if the session's notes are among the items. */
  readonly isNotes?: boolean;
  /** Summaries that were joined with the notes, without the notes themselves. */
  readonly besidesNotes?: EarlierSummary | undefined;
}

/**
 * Matches an item that says only that there is nothing to list. A model or an empty built-in section writes
 * such items.
 */
const NOTHING =
  /^[-*•\s]*\(?(?:(?:none|nothing|n\/a)(?: (?:so far|yet|at (?:the moment|this time|present)|currently|on record))?|none: wait for the user|no (?:request|files|errors|failed tests, checks, builds or commits|work) on record|no files were touched|newer messages follow)[.)\s]*$/i;
/**
 * Sections about the future. In these sections, a statement that nothing is open is never an item, even if it
 * is long.
 */
const ABOUT_THE_FUTURE: ReadonlySet<SectionName> = new Set(["Pending Tasks", "Optional Next Step"]);
const NOTHING_OPEN =
  /^[-*•\s]*\(?(?:none\b|n\/a\b|no (?:pending|open|explicit|further|remaining|outstanding)\b|nothing (?:is |was )?(?:pending|open|explicit|further|else|more|left|remain|outstanding|to do|at )|nothing[.)]?$)/i;
const OWN_CONCEPTS = /^- (?:Languages|Packages|Commands in use|Names that matter): /;
const SHORT_ANSWER_CHARS = 12;
const KEPT_STEPS = 5;
/** A step as a built-in summary writes it. */
const OWN_STEP = /^(?:(?:edited|wrote|read|ran) `|said: ["(]|\(\d+ earlier steps\))/;
/** Step that shows when the agent said the words below the steps. Later steps follow it. */
export const QUOTED_BELOW = "said: (quoted below)";
const MAX_WORDS_CHARS = 160;

/**
 * Parses notes or a summary, which longhaul or a model wrote. If a summary has no section headings, its whole
 * text counts as the request.
 */
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

/** Joins summaries of several parts, oldest first. `areApart`: no message is in two parts. */
export function joinEarlier(
  one: EarlierSummary | undefined,
  next: EarlierSummary,
  areApart = false,
): EarlierSummary {
  if (one === undefined) return next;
  const items = new Map(one.items);
  for (const [name, list] of next.items) {
    const isRepeatable = name === "All User Messages" && !areApart;
    addItems(items, name, isRepeatable ? withoutRepeated(list, earlierItems(one, name)) : list);
  }
  const leftOut = new Map(one.leftOut);
  for (const [name, count] of next.leftOut) leftOut.set(name, (leftOut.get(name) ?? 0) + count);
  if (!one.isNotes && !next.isNotes) return { items, leftOut };
  const [before, after] = [one, next].map((part) => (part.isNotes ? part.besidesNotes : part));
  return { items, leftOut, isNotes: true, besidesNotes: after ? joinEarlier(before, after) : before };
}

/**
 * Removes messages that the other list has too, each as often as that list has it. A short answer is no
 * repetition, because a second "yes" is a second message.
 */
function withoutRepeated(items: readonly string[], others: readonly string[]): readonly string[] {
  const listed = others.map((item) => messageKey(parseMessageItem(item)));
  return items.filter((item) => {
    const key = messageKey(parseMessageItem(item));
    const at = key.length > SHORT_ANSWER_CHARS ? listed.indexOf(key) : -1;
    if (at !== -1) listed.splice(at, 1);
    return at === -1;
  });
}

export function earlierItems(earlier: EarlierSummary | undefined, name: SectionName): readonly string[] {
  return earlier?.items.get(name) ?? [];
}

/**
 * Returns the long message that a built-in summary quotes in full as the first item under its first heading.
 */
export function requestInFull(earlier: EarlierSummary | undefined): string {
  return parseMessageItem(earlierItems(earlier, "Primary Request and Intent")[0] ?? "");
}

/** Returns the user messages that earlier summaries list. */
export function listedMessages(earlier: EarlierSummary | undefined): readonly string[] {
  return earlierItems(earlier, "All User Messages").map((item) =>
    item === SEE_CURRENT_REQUEST || item === FORMER_SEE_CURRENT_REQUEST
      ? requestInFull(earlier)
      : parseMessageItem(item),
  );
}

/**
 * Returns messages that earlier summaries list and that do not follow them again. `covered`: positions of newer
 * messages that the summaries list too.
 */
export function earlierMessages(
  earlier: EarlierSummary | undefined,
  newer: readonly HumanMessage[] = [],
  covered: ReadonlySet<number> = new Set(),
): readonly string[] {
  const listed = listedMessages(earlier).filter((text) => text !== "");
  const repeated = newer.filter(({ at }) => covered.has(at)).map(({ text }) => messageKey(text));
  if (repeated.length === 0) return listed.slice(0, listed.length - overlap(listed, newer));
  // The newer messages are the last ones of the list.
  for (const key of repeated) {
    const at = listed.findLastIndex((text) => messageKey(text) === key);
    if (at !== -1) listed.splice(at, 1);
  }
  return listed;
}

/**
 * Returns the number of messages at the end of the list with which the newer messages begin. One short message
 * can be a second message with the same words.
 */
function overlap(listed: readonly string[], newer: readonly HumanMessage[]): number {
  const keys = listed.map(messageKey);
  for (let count = Math.min(listed.length, newer.length); count > 0; count--) {
    const last = keys.slice(-count);
    const isSame = last.every((key, index) => key === messageKey(newer[index]?.text ?? ""));
    if (isSame && (count > 1 || (last[0] ?? "").length > SHORT_ANSWER_CHARS)) return count;
  }
  return 0;
}

const SETTING =
  /^- Working directory `([^`]+)`(?:[^`]*`([^`]*)`(?: \(noted as `([^`]*)`\))?)?\.?(?: Paths are relative to `([^`]+)`\.)?/;

interface EarlierSetting {
  readonly cwd?: string | undefined;
  /** Folder to which the paths are relative. */
  readonly root?: string | undefined;
  readonly branch?: string | undefined;
  /** Branch that the agent's program noted, if git named another one. */
  readonly notedBranch?: string | undefined;
}

/** Returns the setting in an earlier built-in summary. */
export function earlierSetting(earlier: EarlierSummary | undefined): EarlierSetting {
  const line = earlierItems(earlier, "Primary Request and Intent").findLast((item) => SETTING.test(item));
  const [, cwd, branch, notedBranch, root = cwd] = SETTING.exec(line ?? "") ?? [];
  return { cwd, root, branch, notedBranch };
}

/** Returns the agent's last words before an earlier built-in summary. */
export function earlierLastWords(earlier: EarlierSummary | undefined): string | undefined {
  const quotation = earlierItems(earlier, "Current Work").findLast((item) => item.startsWith(">"));
  return quotation?.replace(/^> ?/gm, "");
}

/** Outcome of a command that failed. Its counts can have brackets of their own. */
const FAILED_OUTCOME =
  / → (?:some runs )?FAILED(?:, (?:others|the last) passed)?(?: \((?:[^()]|\([^()]*\))*\))?/g;

/** Leaves out that commands failed. They may have passed since, and the list of errors has their state. */
export const withoutFailures = (steps: string): string => steps.replace(FAILED_OUTCOME, "");

/**
 * Returns the earlier work in brief. For a built-in summary, these are the last steps and the agent's words.
 * For a model's summary, this is all that the model wrote about the work.
 */
export function earlierWorkInBrief(earlier: EarlierSummary | undefined): string {
  const items = earlierItems(earlier, "Current Work");
  const words = earlierLastWords(earlier);
  const steps = items
    .filter((item) => item.startsWith("- ") && !item.includes("```"))
    .map((item) => item.slice(2));
  const isBuiltIn = words !== undefined || steps.some((step) => OWN_STEP.test(step));
  const isInterrupted = steps.includes(QUOTED_BELOW);
  const kept = steps.slice(-KEPT_STEPS).map((step) => {
    const said = step === QUOTED_BELOW ? (words ?? "") : /^said: "([\s\S]*)"$/.exec(step)?.[1];
    return said === undefined ? step : `said: ${quoted(clip(oneLine(said), MAX_WORDS_CHARS))}`;
  });
  const closing = isInterrupted ? "" : (words ?? "");
  const last = [withoutFailures(kept.join("; ")), closing].filter((part) => part !== "").join(" — ");
  const text = isBuiltIn ? last : items.join(" ");
  return oneLine(text.replace(/```\w*/g, " ").replace(/\|(?:\s*:?-+:?\s*\|)+/g, "|"));
}

/** Returns remarks about the technology, without the lists that a built-in summary writes again. */
export function earlierConcepts(earlier: EarlierSummary | undefined): readonly string[] {
  return earlierItems(earlier, "Key Technical Concepts").filter((item) => !OWN_CONCEPTS.test(item));
}

/**
 * Removes the scratchpad that Claude Code leaves before the summary under a separate heading. If there is no
 * scratchpad, a heading "Summary:" below the first section is part of the summary.
 */
function withoutAnalysis(text: string): string {
  const summary = /(?:^|\n)Summary:\s*\n/.exec(text);
  if (summary === null) return text;
  const hasAnalysis = /^\s*Analysis:/.test(text);
  if (!hasAnalysis && splitSections(text.slice(0, summary.index)).length > 0) return text;
  return text.slice(summary.index + summary[0].length);
}

/**
 * Splits a section into top-level bullets and paragraphs, each with everything below it. Labels are left out.
 */
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
 * Each pair has a section of notes and the section of the summary that receives its items. The name ""
 * matches all sections of a user's own template. Several sections of notes can have the same place. They are
 * listed in the order that loses least, because concepts are cut from the end and all other sections from the
 * front.
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
/** Sorts the items of notes into the sections of a summary. */
function itemsOfNotes(text: string): ItemsByName {
  const { preface, bodies } = cutAtHeadings(text);
  const items: ItemsByName = new Map();
  const add = (place: SectionName, more: readonly string[]): void => {
    if (more.length > 0) addItems(items, place, more);
  };
  // The preface is the text above the first heading. It has the path of the complete notes, and words of the
  // user.
  add("Primary Request and Intent", filledItems(preface));
  for (const [name, place] of PLACES) {
    const found = (bodies.get(name) ?? []).flatMap((body) => filledItems(body));
    const messages = found.filter((item) => isMessageItem(item));
    if (place !== "Primary Request and Intent") add(place, found);
    else {
      add("All User Messages", messages);
      // The newest message is the current request.
      add(place, [...messages.slice(-1), ...found.filter((item) => !isMessageItem(item))]);
    }
  }
  return items;
}

interface CutNotes {
  readonly preface: string;
  /**
   * Texts of the notes. The key is a section name in {@link PLACES}, and the value is the texts of that
   * section.
   */
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
    // A custom section name shows the subject of its items.
    open = NAMES.has(name) ? [] : [`${title}:`, ""];
    const key = NAMES.has(name) ? name : "";
    bodies.set(key, [...(bodies.get(key) ?? []), open]);
  }
  const joined = [...bodies].map(([name, parts]) => [name, parts.map((part) => part.join("\n"))] as const);
  return { preface: preface.join("\n"), bodies: new Map(joined) };
}
