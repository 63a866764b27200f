import { fencedLines, presentSections, SECTION_NAMES, splitSections } from "./summary-message.ts";

/** Replaces the summary's tags. */
export const SUMMARY_HEADING = "Summary:";

/**
 * With this many of the nine headings in it, an answer whose analysis was never closed and which has
 * no summary tag still holds a summary: the model forgot the tags, not the work.
 */
const HEADINGS_THAT_PROVE_A_SUMMARY = 5;

type TagName = "analysis" | "summary";

interface Tag {
  readonly name: TagName;
  readonly closing: boolean;
  readonly start: number;
  readonly end: number;
}

/** The summary to keep from a model's raw answer, or undefined when nothing but scratchpad came. */
export function formatSummary(raw: string): string | undefined {
  const tags = structuralTags(raw);
  const opening = afterBrokenAnalysis(raw, tags, summaryOpening(tags));
  const kept = opening ? aroundSummary(raw, tags, opening) : withoutAnalysis(raw, tags);
  const text = withoutStrayTags(singleBlankLines(kept));
  return text === "" || text === SUMMARY_HEADING ? undefined : text;
}

/**
 * Only a tag outside code speaks about the answer's structure. An odd fence in the scratchpad can
 * swallow the real tags, so when the answer opens an analysis and no summary is seen, tags at the
 * start of a line count wherever they are.
 */
function structuralTags(raw: string): readonly Tag[] {
  const all = findTags(raw);
  if (all.length === 0) return all;
  const isCode = codeTest(raw);
  const visible = all.filter((tag) => !isCode(tag.start));
  if (!visible.some((tag) => tag.name === "analysis") || summaryOpening(visible)) return visible;
  const atLineStart = all.filter((tag) => visible.includes(tag) || startsLine(raw, tag.start));
  return summaryOpening(atLineStart) ? atLineStart : visible;
}

function findTags(raw: string): readonly Tag[] {
  return [...raw.matchAll(/<(\/?)(analysis|summary)\s*>/gi)].map((match) => ({
    name: match[2]?.toLowerCase() === "analysis" ? "analysis" : "summary",
    closing: match[1] === "/",
    start: match.index,
    end: match.index + match[0].length,
  }));
}

/** The first summary tag that is not a mention inside the analysis. */
function summaryOpening(tags: readonly Tag[]): Tag | undefined {
  const openings = tags.filter(isSummaryStart);
  return openings.find((opening) => !isInsideClosedAnalysis(opening, tags)) ?? openings.at(-1);
}

/** An analysis that was closed before is over: what a summary quotes later does not open it again. */
function isInsideClosedAnalysis(opening: Tag, tags: readonly Tag[]): boolean {
  const analysis = tags.filter((tag) => tag.name === "analysis");
  const before = analysis.findLast((tag) => tag.end <= opening.start);
  const closeAfter = analysis.find((tag) => tag.closing && tag.start >= opening.end);
  if (before === undefined || before.closing || !closeAfter) return false;
  return tags.some((tag) => isSummaryStart(tag) && tag.start >= closeAfter.end);
}

/**
 * A model that quotes in its analysis what a tool printed may close the analysis by the quotation, and open a
 * summary that is none. Then the analysis is closed a second time, without having been opened again, before
 * the real one. That is taken if it has the sections and the quotation has not one: else both are kept.
 */
function afterBrokenAnalysis(raw: string, tags: readonly Tag[], opening: Tag | undefined): Tag | undefined {
  const before = tags.filter((tag) => tag.name === "analysis" && opening && tag.end <= opening.start);
  const inside = opening === undefined || before.length === 0 ? [] : after(tags, opening);
  const nextAnalysis = inside.find((tag) => tag.name === "analysis");
  if (opening === undefined || nextAnalysis?.closing !== true) return opening;
  const real = inside.find((tag) => isSummaryStart(tag) && tag.start >= nextAnalysis.end);
  if (real === undefined) return opening;
  const isEmptyBefore = presentSections(raw.slice(opening.end, real.start)).length === 0;
  return isEmptyBefore && isProven(raw.slice(real.end)) ? real : opening;
}

const isSummaryStart = (tag: Tag): boolean => tag.name === "summary" && !tag.closing;

/**
 * Text before an analysis stays, and so does what follows a summary that was closed too early: sections are
 * there. After one that was whole nothing is expected, and what stands there is not to pass for a part of it.
 */
function aroundSummary(raw: string, tags: readonly Tag[], opening: Tag): string {
  const analysisStart = tags.find((tag) => tag.name === "analysis" && tag.start < opening.start)?.start;
  const before = raw.slice(0, analysisStart ?? opening.start).trim();
  const end = endOfWholeSummary(raw, after(tags, opening), opening) ?? raw.length;
  const inside = after(tags, opening).filter((tag) => tag.end <= end);
  const content = withoutTagsAndAnalysis(raw.slice(0, end), opening.end, inside).trim();
  if (content === "") return before;
  return `${before}\n\n${SUMMARY_HEADING}\n${content}`;
}

/** End of a summary that a line of its own closes, with all nine sections before it and none after it. */
function endOfWholeSummary(raw: string, tags: readonly Tag[], opening: Tag): number | undefined {
  const closings = tags.filter((tag) => tag.name === "summary" && tag.closing && startsLine(raw, tag.start));
  let low = 0;
  let high = closings.length;
  // By halves: what has all sections before it has them at every later place too, and there may be many.
  while (low < high) {
    const middle = (low + high) >> 1;
    const inside = raw.slice(opening.end, closings[middle]?.start);
    if (presentSections(inside).length === SECTION_NAMES.length) high = middle;
    else low = middle + 1;
  }
  const end = closings[low];
  return end === undefined || presentSections(raw.slice(end.end)).length > 0 ? undefined : end.start;
}

/** True if the sections in a text make it a summary, whatever stands around them. */
const isProven = (text: string): boolean => presentSections(text).length >= HEADINGS_THAT_PROVE_A_SUMMARY;

function withoutAnalysis(raw: string, tags: readonly Tag[]): string {
  const firstOpening = tags.find((tag) => tag.name === "analysis" && !tag.closing);
  const lastClosing = tags.findLast((tag) => tag.name === "analysis" && tag.closing);
  if (!firstOpening && lastClosing)
    return withoutTagsAndAnalysis(raw, lastClosing.end, after(tags, lastClosing));
  if (!firstOpening) return withoutTagsAndAnalysis(raw, 0, tags);
  const before = raw.slice(0, firstOpening.start);
  if (lastClosing && lastClosing.start > firstOpening.start) {
    return `${before}\n\n${withoutTagsAndAnalysis(raw, lastClosing.end, after(tags, lastClosing))}`;
  }
  const rest = raw.slice(firstOpening.end);
  if (!isProven(rest)) return before;
  return `${before}\n\n${fromFirstHeading(rest)}`;
}

function after(tags: readonly Tag[], tag: Tag): readonly Tag[] {
  return tags.filter((other) => other.start >= tag.end);
}

/**
 * Inside the summary a closed analysis goes with its text: on lines of its own, or within one. A stray tag goes
 * alone, and so do two that are quoted far from each other: what is between them is the summary.
 */
function withoutTagsAndAnalysis(raw: string, from: number, tags: readonly Tag[]): string {
  const kept: string[] = [];
  let position = from;
  for (const [index, tag] of tags.entries()) {
    if (tag.start < position) continue;
    kept.push(raw.slice(position, tag.start));
    const opensAnalysis = tag.name === "analysis" && !tag.closing;
    const closing = opensAnalysis
      ? tags.slice(index + 1).find((other) => other.name === "analysis" && other.closing)
      : undefined;
    const isBlock =
      closing !== undefined &&
      (startsLine(raw, tag.start) || !raw.slice(tag.end, closing.start).includes("\n"));
    position = (isBlock ? closing : tag).end;
  }
  kept.push(raw.slice(position));
  return kept.join("");
}

function fromFirstHeading(text: string): string {
  return splitSections(text)
    .map((section, index) => `${index + 1}. ${section.title}:\n${section.body}`)
    .join("\n");
}

/** Taking a part out can bare a tag that stood in code before. By then it marks nothing: only the tag goes. */
function withoutStrayTags(text: string): string {
  let bare = text;
  for (let tags = structuralTags(bare); tags.length > 0; tags = structuralTags(bare)) {
    const parts = tags.map((tag, index) => bare.slice(tags[index - 1]?.end ?? 0, tag.start));
    bare = singleBlankLines([...parts, bare.slice(tags.at(-1)?.end)].join(""));
  }
  return bare;
}

function singleBlankLines(text: string): string {
  return text
    .replace(/\r\n/g, "\n")
    .replace(/\n(?:[^\S\n]*\n){2,}/g, "\n\n")
    .trim();
}

function startsLine(raw: string, position: number): boolean {
  const lineStart = raw.lastIndexOf("\n", position - 1) + 1;
  return raw.slice(lineStart, position).trim() === "";
}

function codeTest(raw: string): (position: number) => boolean {
  const ranges: [start: number, end: number][] = [];
  const lines = raw.split("\n");
  const isFenced = fencedLines(lines);
  let position = 0;
  lines.forEach((line, index) => {
    if (isFenced(index)) ranges.push([position, position + line.length]);
    else for (const [from, to] of inlineCode(line)) ranges.push([position + from, position + to]);
    position += line.length + 1;
  });
  return (at) => ranges.some(([start, end]) => at >= start && at < end);
}

/** Spans between equal runs of backticks on one line. */
function inlineCode(line: string): [start: number, end: number][] {
  const spans: [start: number, end: number][] = [];
  const runs = [...line.matchAll(/`+/g)];
  for (let index = 0; index < runs.length; index++) {
    const open = runs[index];
    const closeIndex = runs.findIndex((run, other) => other > index && run[0] === open?.[0]);
    const close = runs[closeIndex];
    if (!open || !close) continue;
    spans.push([open.index, close.index + close[0].length]);
    index = closeIndex;
  }
  return spans;
}
