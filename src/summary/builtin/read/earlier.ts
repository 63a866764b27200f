import { isNotesContinuation, unwrapSummary } from "../../continuation.ts";
import { withoutQuotedFacts } from "../../facts/section.ts";
import { type SectionName, splitSections } from "../../sections.ts";
import { isOwnLabel } from "../labels.ts";
import { itemsOfNotes } from "./earlier-notes.ts";

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
const LEFT_OUT_LINE = /^\((\d+) more [a-z ]+ left out here; see the transcript\)$/;

/** The last line of a section in which something had no room. */
export const leftOutLine = (count: number, what: string): string =>
  `(${count} more ${what} left out here; see the transcript)`;

/** Ours or a model's: anything with the nine headings, or notes. Without headings the whole is the intent. */
export function parseEarlierSummary(summary: string): EarlierSummary {
  const text = withoutQuotedFacts(summary);
  if (isNotesContinuation(text)) {
    const items = itemsOfNotes(unwrapSummary(text), (body) => filledItems(body));
    return { items, leftOut: new Map(), isNotes: true };
  }
  const body = withoutAnalysis(unwrapSummary(text));
  const sections = splitSections(body);
  const items = new Map<SectionName, readonly string[]>();
  if (sections.length === 0 && body.trim() !== "") {
    items.set("Primary Request and Intent", [body.trim()]);
  }
  for (const section of sections) {
    items.set(section.name, [...(items.get(section.name) ?? []), ...filledItems(section.body, section.name)]);
  }
  return { items, leftOut: new Map(sections.map(({ name, body }) => [name, leftOutIn(body)])) };
}

function filledItems(body: string, name?: SectionName): readonly string[] {
  const isOpen = name !== undefined && ABOUT_THE_FUTURE.has(name);
  return splitItems(body).filter((item) => !NOTHING.test(item) && !(isOpen && NOTHING_OPEN.test(item)));
}

/** What was summarised in several parts, oldest first. */
export function joinEarlier(one: EarlierSummary | undefined, next: EarlierSummary): EarlierSummary {
  if (one === undefined) return next;
  const items = new Map(one.items);
  for (const [name, list] of next.items) items.set(name, [...(items.get(name) ?? []), ...list]);
  const leftOut = new Map(one.leftOut);
  for (const [name, count] of next.leftOut) leftOut.set(name, (leftOut.get(name) ?? 0) + count);
  return { items, leftOut };
}

function leftOutIn(body: string): number {
  const remark = body.trimEnd().split("\n").at(-1) ?? "";
  return Number(LEFT_OUT_LINE.exec(remark)?.[1] ?? 0);
}

export function earlierItems(earlier: EarlierSummary | undefined, name: SectionName): readonly string[] {
  return earlier?.items.get(name) ?? [];
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

const isLabelOrRemark = (line: string): boolean => isOwnLabel(line) || LEFT_OUT_LINE.test(line);

/** Bullets and paragraphs on the outermost level, each with all that hangs below it; labels are left out. */
export function splitItems(
  body: string,
  isPassedOver: (line: string) => boolean = isLabelOrRemark,
): string[] {
  const items: string[][] = [];
  let fence: string | undefined;
  let afterBlank = true;
  for (const line of dedent(body).split("\n")) {
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

function dedent(text: string): string {
  const lines = text.split("\n");
  const indentOf = (line: string): number => line.length - line.trimStart().length;
  const least = lines.reduce(
    (low, line) => (line.trim() === "" ? low : Math.min(low, indentOf(line))),
    Infinity,
  );
  if (least === 0 || least === Infinity) return text;
  return lines.map((line) => line.slice(Math.min(least, indentOf(line)))).join("\n");
}
