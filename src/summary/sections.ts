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

export interface SummarySection {
  readonly name: SectionName;
  readonly body: string;
}

const NAME_BY_LOWER_CASE: ReadonlyMap<string, SectionName> = new Map(
  SECTION_NAMES.map((name) => [name.toLowerCase(), name]),
);

/** A heading that carries text on its own line needs a colon between; a longer line is prose. */
const HEADING_PREFIX = /^[\s#*_]*(?:\d{1,2}[.)][\s*_]*)?/;
const MAX_HEADING_NAME_LENGTH = 40;

export function sectionHeading(name: SectionName): string {
  return `## ${SECTION_NAMES.indexOf(name) + 1}. ${name}`;
}

/** Names of the sections that stand as headings in this text, in the order of the nine. */
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
  const sections: { name: SectionName; lines: string[] }[] = [];
  lines.forEach((line, index) => {
    const heading = isCode(index) ? undefined : parseHeading(line);
    const current = sections.at(-1);
    if (heading) sections.push({ name: heading.name, lines: heading.rest ? [heading.rest] : [] });
    else current?.lines.push(line);
  });
  return sections.map((section) => ({ name: section.name, body: section.lines.join("\n") }));
}

function parseHeading(line: string): { name: SectionName; rest: string } | undefined {
  const prefix = HEADING_PREFIX.exec(line)?.[0] ?? "";
  const afterPrefix = line.slice(prefix.length);
  const colon = afterPrefix.slice(0, MAX_HEADING_NAME_LENGTH).indexOf(":");
  const label = colon === -1 ? afterPrefix : afterPrefix.slice(0, colon);
  const name = NAME_BY_LOWER_CASE.get(label.replace(/[\s*_]+$/, "").toLowerCase());
  if (name === undefined) return undefined;
  const rest = colon === -1 ? "" : afterPrefix.slice(colon + 1).replace(/^[\s*_]+/, "");
  return { name, rest };
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
