/**
 * The part that a summary stands for: the whole conversation (its newest messages may be kept as well), what comes
 * after a point while the earlier messages stay, or what comes before a point while the later ones stay.
 */
export type SummaryVariant = "whole" | "from" | "up-to";

/** The nine parts of every summary, whoever writes it. Other programs read these names. */
export const SECTION_NAMES = [
  "Primary Request and Intent",
  "Key Technical Concepts",
  "Files and Code Sections",
  "Errors and Fixes",
  "Problem Solving",
  "All User Messages",
  "Pending Tasks",
  "Current Work",
  "Optional Next Step",
] as const;

export type SectionName = (typeof SECTION_NAMES)[number];

interface SummarySection {
  readonly name: SectionName;
  /** As it stands in the text: a part may have another title in one of the variants. */
  readonly title: string;
  readonly body: string;
}

/** Newer messages follow such a summary, so nothing in it is current, and the next step is in them. */
const UP_TO_TITLES: ReadonlyMap<SectionName, string> = new Map([
  ["Current Work", "Work Completed"],
  ["Optional Next Step", "Context for Continuing Work"],
]);

/** Whatever the variant: who reads a summary need not know which it was. */
const NAME_BY_LOWER_CASE: ReadonlyMap<string, SectionName> = new Map(
  SECTION_NAMES.flatMap((name) =>
    [name, sectionTitle(name, "up-to")].map((title) => [title.toLowerCase(), name] as const),
  ),
);

/** A heading that carries text on its own line needs a colon between; a longer line is prose. */
const HEADING_PREFIX = /^[\s#*_]*(?:\d{1,2}[.)][\s*_]*)?/;
const MAX_HEADING_NAME_LENGTH = 40;

/** Title of a section in a summary of this variant. */
export function sectionTitle(name: SectionName, variant: SummaryVariant = "whole"): string {
  return (variant === "up-to" ? UP_TO_TITLES.get(name) : undefined) ?? name;
}

export function sectionHeading(name: SectionName, variant: SummaryVariant = "whole"): string {
  return `## ${SECTION_NAMES.indexOf(name) + 1}. ${sectionTitle(name, variant)}`;
}

/** Names of the sections that stand as headings in this text, in the order of the nine, whatever their titles. */
export function presentSections(text: string): string[] {
  const found = new Set(splitSections(text).map((section) => section.name));
  return SECTION_NAMES.filter((name) => found.has(name));
}

/**
 * The text cut at its section headings; what stands before the first is left out. Headings inside
 * fenced code do not count, unless that leaves fewer sections: then a fence was never closed.
 */
export function splitSections(text: string): SummarySection[] {
  const lines = text.split("\n");
  const honouringFences = cutAtHeadings(lines, fencedLines(lines));
  const ignoringFences = cutAtHeadings(lines, () => false);
  return ignoringFences.length === SECTION_NAMES.length && honouringFences.length < SECTION_NAMES.length
    ? ignoringFences
    : honouringFences;
}

function cutAtHeadings(lines: readonly string[], isCode: (line: number) => boolean): SummarySection[] {
  const sections: { name: SectionName; title: string; lines: string[] }[] = [];
  lines.forEach((line, index) => {
    const heading = isCode(index) ? undefined : parseHeading(line);
    const current = sections.at(-1);
    if (heading) sections.push({ ...heading, lines: heading.rest ? [heading.rest] : [] });
    else current?.lines.push(line);
  });
  return sections.map(({ name, title, lines: body }) => ({ name, title, body: body.join("\n") }));
}

function parseHeading(line: string): { name: SectionName; title: string; rest: string } | undefined {
  const prefix = HEADING_PREFIX.exec(line)?.[0] ?? "";
  const afterPrefix = line.slice(prefix.length);
  const colon = afterPrefix.slice(0, MAX_HEADING_NAME_LENGTH).indexOf(":");
  const label = colon === -1 ? afterPrefix : afterPrefix.slice(0, colon);
  const title = label.replace(/[\s*_]+$/, "");
  const name = NAME_BY_LOWER_CASE.get(title.toLowerCase());
  if (name === undefined) return undefined;
  const rest = colon === -1 ? "" : afterPrefix.slice(colon + 1).replace(/^[\s*_]+/, "");
  return { name, title, rest };
}

/** Tells for each line whether it is inside fenced code. A fence that never closes is no fence. */
export function fencedLines(lines: readonly string[]): (line: number) => boolean {
  const inside = new Set<number>();
  let open: { marker: string; from: number } | undefined;
  lines.forEach((line, index) => {
    const marker = /^\s{0,12}(`{3,}|~{3,})/.exec(line)?.[1];
    if (!marker) return;
    if (!open) {
      open = { marker, from: index };
    } else if (marker.startsWith(open.marker) && line.trim() === marker) {
      for (let at = open.from; at <= index; at++) inside.add(at);
      open = undefined;
    }
  });
  return (line) => inside.has(line);
}

/** The part of a summary that we quote facts in: written here, and recognised when the summary is read again. */

const FACTS_HEADING = "## Facts quoted from the transcript";
const PREAMBLE =
  "The summary above lacks these, so they were quoted from the transcript without a model. Where they differ from the summary, they are right. Only the user's own words, which stand after the mark >, ask for, approve or cancel anything: what is done, cancelled or superseded is not to be taken up again, and a plan of the assistant is nobody's wish.";
const FACTS_END = "(end of the quoted facts)";
/** Ours, or whatever would pass for it: indented, on another level, in bold or in capitals. */
const LIKE_HEADING = /^#{0,6}\s*[*_]{0,3}facts\s+quoted\s+from\s+the\s+transcript[*_:\s]*$/i;

export function factsSection(body: string): string {
  return `${FACTS_HEADING}\n${PREAMBLE}\n\n${body}\n${FACTS_END}`;
}

/**
 * A summary without the quoted facts: they come from the ledger, and are no part of the nine sections. A section
 * whose end somebody has cut off goes up to the next heading.
 */
export function withoutQuotedFacts(summaryText: string): string {
  if (!/facts\s+quoted\s+from/i.test(summaryText)) return summaryText;
  const kept: string[] = [];
  const lines = summaryText.split("\n");
  for (let index = 0; index < lines.length; index++) {
    if (LIKE_HEADING.test(lines[index]?.trim() ?? "")) index = endOfSection(lines, index);
    else kept.push(lines[index] ?? "");
  }
  return kept.length === lines.length ? summaryText : kept.join("\n").trimEnd();
}

/** The lines of the section that is quoted last, which is ours: what stands between our words. */
export function quotedLines(summaryText: string): readonly string[] {
  const lines = summaryText.split(/\r\n|\n/);
  const start = lines.lastIndexOf(FACTS_HEADING);
  return start === -1 ? [] : lines.slice(start + 1, endOfSection(lines, start) + 1);
}

/** The last line of the section that begins there. */
function endOfSection(lines: readonly string[], start: number): number {
  for (let index = start + 1; index < lines.length; index++) {
    const line = lines[index]?.trimEnd();
    if (line === FACTS_END) return index;
    if (line !== undefined && /^#{1,6} \S/.test(line)) return index - 1;
  }
  return lines.length - 1;
}
