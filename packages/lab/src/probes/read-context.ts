import { falsifiesRest, type Polarity, polarityOf } from "./polarity.ts";
import { headingOf, labelStances, lineStances } from "./stances.ts";
import type { Stance } from "./types.ts";
import { contentStems, FENCE, isNegation, normalForm, sentencesOf, tokensOf } from "./words.ts";

/** One sentence or item of a context, with the role that its heading and its words give to it. */
export interface Passage extends Polarity {
  /** The text as written, without line breaks. */
  readonly text: string;
  /** Titles of the headings above, outermost first, in normal form. */
  readonly headings: readonly string[];
  readonly stances: ReadonlySet<Stance>;
  /** Stances of the heading above. */
  readonly sectionStances: readonly Stance[];
  /** Normal form of the text. */
  readonly form: string;
  readonly stems: readonly string[];
  readonly isNegated: boolean;
  /** True inside a fenced block of code. */
  readonly isCode: boolean;
  /** Number of the section. Passages of one section are read together. */
  readonly section: number;
  /** Number of the line. A line with several sentences has several passages. */
  readonly line: number;
}

interface SectionHeading {
  readonly title: string;
  readonly level: number;
  /** Stances of the section, its own or those of the heading above it. */
  readonly stances: readonly Stance[];
}

interface Section {
  readonly headings: readonly SectionHeading[];
  readonly stances: readonly Stance[];
}

const NO_SECTION: Section = { headings: [], stances: [] };
/** Languages of fenced blocks that contain prose. */
const PROSE_LANGUAGES = new Set(["text", "txt", "md", "markdown"]);

/**
 * Reads a summary of any author. Indentation, empty lines and emphasis do not change the result.
 *
 * @param text Markdown or plain text.
 */
export function readContext(text: string): Passage[] {
  const passages: Passage[] = [];
  let [section, sectionNumber, isFenced, isCode] = [NO_SECTION, 0, false, false];
  for (const [line, raw] of text.replaceAll("\r", "").split("\n").entries()) {
    const fence = FENCE.exec(raw);
    if (fence !== null) {
      isFenced = !isFenced;
      isCode = isFenced && !PROSE_LANGUAGES.has(fence[1] ?? "");
      continue;
    }
    const heading = isFenced ? undefined : headingOf(raw);
    if (heading !== undefined) {
      section = sectionUnder(section, heading);
      sectionNumber++;
      if (heading.level === 0 || heading.stances !== undefined) continue;
    }
    const label = isCode ? [] : labelStances(raw);
    let isFalsified = false;
    for (const sentence of sentencesOf(raw)) {
      const passage = readPassage(sentence, { section, sectionNumber, isCode, line, label, isFalsified });
      if (passage !== undefined) passages.push(passage);
      isFalsified ||= falsifiesRest(sentence);
    }
  }
  return passages;
}

/** An unknown heading has the stances of the heading above it, and not those of the section before it. */
function sectionUnder(
  section: Section,
  { title, level, stances }: { title: string; level: number; stances: readonly Stance[] | undefined },
): Section {
  const above = level === 0 ? [] : section.headings.filter((heading) => heading.level < level);
  const own = stances ?? above.at(-1)?.stances ?? [];
  return { headings: [...above, { title, level, stances: own }], stances: own };
}

interface PassagePlace {
  readonly section: Section;
  readonly sectionNumber: number;
  readonly isCode: boolean;
  readonly line: number;
  readonly label: readonly Stance[];
  /** True if an earlier sentence of the line calls this one false. */
  readonly isFalsified: boolean;
}

const SPACES = /\s+/g;

function readPassage(raw: string, place: PassagePlace): Passage | undefined {
  const text = raw.replace(SPACES, " ");
  const tokens = tokensOf(text);
  if (tokens.length === 0) return undefined;
  const stances = lineStances(text, tokens);
  for (const stance of place.label) stances.add(stance);
  // The word of a line is nearer than its heading: a done item of a list of pending work is done.
  const isSettled = stances.has("done") || stances.has("cancelled");
  for (const stance of place.section.stances) {
    if (!(isSettled && OPEN_STANCES.has(stance))) stances.add(stance);
  }
  const polarity = polarityOf(text);
  return {
    text,
    headings: place.section.headings.map(({ title }) => title),
    stances,
    sectionStances: place.section.stances,
    form: normalForm(text),
    stems: contentStems(tokens),
    isNegated: tokens.some(isNegation),
    isDenied: polarity.isDenied,
    isFalsified: place.isFalsified || polarity.isFalsified,
    isCode: place.isCode,
    section: place.sectionNumber,
    line: place.line,
  };
}

const OPEN_STANCES: ReadonlySet<Stance> = new Set<Stance>(["pending", "next"]);
