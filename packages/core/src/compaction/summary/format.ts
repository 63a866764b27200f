import { fencedLines, presentSections, SECTION_NAMES, splitSections } from "./summary-message.ts";

/** Heading that replaces the summary tags. */
export const SUMMARY_HEADING = "Summary:";

/**
 * If an answer has an unclosed analysis and no summary tag, this many headings prove that it contains a
 * summary. The model forgot the tags, not the summary.
 */
const HEADINGS_THAT_PROVE_A_SUMMARY = 5;

type TagName = "analysis" | "summary";

interface Tag {
  readonly name: TagName;
  readonly closing: boolean;
  readonly start: number;
  readonly end: number;
}

/** Returns the summary in a model's raw answer, or undefined if the answer is only scratchpad. */
export function formatSummary(raw: string): string | undefined {
  const tags = structuralTags(raw);
  const opening = afterBrokenAnalysis(raw, tags, summaryOpening(tags));
  const kept = opening ? aroundSummary(raw, tags, opening) : withoutAnalysis(raw, tags);
  const text = withoutStrayTags(singleBlankLines(kept));
  return text === "" || text === SUMMARY_HEADING ? undefined : text;
}

/**
 * Returns the tags that structure the answer. Tags in code do not count. If an analysis opens and no summary
 * tag is found, tags at the start of any line count. The reason is that an unclosed fence in the scratchpad
 * can hide the real tags.
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

/** Returns the first summary tag that is not mentioned inside the analysis. */
function summaryOpening(tags: readonly Tag[]): Tag | undefined {
  const openings = tags.filter(isSummaryStart);
  return openings.find((opening) => !isInsideClosedAnalysis(opening, tags)) ?? openings.at(-1);
}

/**
 * Returns true if the tag is inside a closed analysis. Quotations in the summary do not open a closed
 * analysis again.
 */
function isInsideClosedAnalysis(opening: Tag, tags: readonly Tag[]): boolean {
  const analysis = tags.filter((tag) => tag.name === "analysis");
  const before = analysis.findLast((tag) => tag.end <= opening.start);
  const closeAfter = analysis.find((tag) => tag.closing && tag.start >= opening.end);
  if (before === undefined || before.closing || !closeAfter) return false;
  return tags.some((tag) => isSummaryStart(tag) && tag.start >= closeAfter.end);
}

/**
 * Returns the real summary tag after a broken analysis. If a model quotes tool output in its analysis, the
 * quotation may close the analysis and open a false summary. In that case the analysis closes a second time
 * before the real summary. The real tag is returned if its text has the sections and the quotation has none.
 * Otherwise the first tag is returned, so that both texts are kept.
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
 * Returns the summary with the text around it. Text before an analysis stays. Text after a summary that was
 * closed too early stays as well, because that text has sections. Text after a complete summary is dropped.
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

/**
 * Returns the end of a complete summary. A closing tag at the start of a line ends it. All nine sections must
 * come before this tag, and none may come after it.
 */
function endOfWholeSummary(raw: string, tags: readonly Tag[], opening: Tag): number | undefined {
  const closings = tags.filter((tag) => tag.name === "summary" && tag.closing && startsLine(raw, tag.start));
  let low = 0;
  let high = closings.length;
  // Binary search is possible: if all sections come before a position, they also come before every later
  // position.
  while (low < high) {
    const middle = (low + high) >> 1;
    const inside = raw.slice(opening.end, closings[middle]?.start);
    if (presentSections(inside).length === SECTION_NAMES.length) high = middle;
    else low = middle + 1;
  }
  const end = closings[low];
  return end === undefined || presentSections(raw.slice(end.end)).length > 0 ? undefined : end.start;
}

/** Returns true if the sections in a text make it a summary, whatever is around them. */
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
 * Removes a closed analysis inside the summary, together with its text. The tags may be on separate lines or
 * within one line. If a tag has no partner, only the tag is removed. If two tags are quoted far apart, only
 * the tags are removed, because the text between them is the summary.
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

/**
 * Removes tags that no longer count as code because another part of the text was removed. Such tags mark
 * nothing, so the text between them stays.
 */
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

/** Returns the spans between equal runs of backticks on one line. */
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
