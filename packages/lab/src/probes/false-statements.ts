import { indexText, type PassageIndex, shareOf } from "./passage-index.ts";
import type { Passage } from "./read-context.ts";
import { isKnownFile, isKnownHash, isKnownMeasure, isKnownNumber } from "./source-literals.ts";
import type { Exam, FalseStatement, SourceLiterals, Trap, WordGroup } from "./types.ts";
import { claimsFailure, lastVerdict, type Verdict } from "./verdicts.ts";
import { contentStems, excerptOf, tokensOf } from "./words.ts";

const SHOWN_CHARS = 300;

/** Finds statements of a summary that the session proves false, and paths and figures that it invented. */
export function findFalseStatements(exam: Exam, index: PassageIndex): FalseStatement[] {
  const found = exam.traps.flatMap((trap) => firstOf(trap, index));
  found.push(...inventedQuotes(exam.source, index));
  const seen = new Set<string>();
  for (const passage of index.passages) {
    for (const statement of inventionsIn(passage, exam.source)) {
      // A literal that is repeated is one invention.
      if (seen.has(statement.why)) continue;
      seen.add(statement.why);
      found.push(statement);
    }
  }
  return found;
}

/** A command such as "/compact" is a message to the program. */
const QUOTE = /^[^\w"“]{0,6}["“]([^"“”/][^"“”]{1,2000})/;
const MIN_QUOTE_WORDS = 3;
const QUOTE_SHARE = 0.6;

/** Quotes among the messages of the user that the user never wrote. */
function inventedQuotes({ userText }: SourceLiterals, { passages }: PassageIndex): FalseStatement[] {
  const quotes = passages.flatMap((passage) => {
    if (!passage.sectionStances.includes("quote")) return [];
    const stems = contentStems(tokensOf(QUOTE.exec(passage.text)?.[1] ?? ""));
    return stems.length < MIN_QUOTE_WORDS ? [] : [{ passage, stems }];
  });
  if (quotes.length === 0) return [];
  const said = indexText(userText);
  return quotes
    .filter(({ stems }) => !isSaid(said, { words: stems.map((stem) => [stem, 1]), share: QUOTE_SHARE }))
    .map(({ passage }) => ({
      kind: "invented-quote",
      passage: excerptOf(passage.text, SHOWN_CHARS),
      why: "the user wrote no such message",
    }));
}

const isSaid = (said: PassageIndex, group: WordGroup): boolean =>
  said.unitsWith([group]).some(({ start, end }) => {
    const stems = new Set(said.passages.slice(start, end + 1).flatMap((passage) => passage.stems));
    return shareOf(group, stems) >= group.share;
  });

/** A summary that repeats a false statement makes it once. */
function firstOf(trap: Trap, index: PassageIndex): FalseStatement[] {
  const at = index.passages.findIndex((passage, place) => states(trap, passage, place, index));
  const passage = index.passages[at];
  if (passage === undefined) return [];
  const why = `${REASONS[trap.kind]}: ${trap.evidence}`;
  return [{ kind: trap.kind, passage: excerptOf(passage.text, SHOWN_CHARS), why, trapId: trap.id }];
}

const REASONS: Readonly<Record<Trap["kind"], string>> = {
  "cancelled-as-active": "the user took it back",
  "passed-as-failed": "it was last seen to pass",
  "failed-as-passed": "it was last seen to fail",
  "done-as-pending": "it was finished",
};

function states(trap: Trap, passage: Passage, place: number, index: PassageIndex): boolean {
  if (passage.isCode || passage.isFalsified) return false;
  if (trap.verdict !== undefined) return claimsVerdict(trap, trap.verdict, passage, index.lineOf(place));
  if (passage.form.split(" ").some((word) => HEDGES.has(word))) return false;
  if (passage.stems.length > (trap.maxStems ?? Number.POSITIVE_INFINITY)) return false;
  const stems = new Set(passage.stems);
  if (!trap.groups.every((group) => shareOf(group, stems) >= group.share)) return false;
  const form = ` ${passage.form} `;
  const has = (literal: string): boolean => form.includes(` ${literal} `);
  if (!trap.needles.every((forms) => forms.some(has)) || trap.unless.some(has)) return false;
  if (!trap.stances.some((stance) => passage.stances.has(stance))) return false;
  const around = index.lineStances(place);
  return !trap.notStances.some((stance) => around.has(stance));
}

/** A passage with one of these words weighs or confirms work. It does not list it as open. */
const HEDGES = new Set("whether after confirm possibly maybe idea ideas".split(" "));

/** The opposite of a verdict that was seen is false if a line gives it as the last one. */
function claimsVerdict(
  { needles, notStances }: Trap,
  verdict: Verdict,
  passage: Passage,
  line: readonly Passage[],
): boolean {
  const forms = needles.flat();
  if (line.some(({ stances }) => notStances.some((stance) => stances.has(stance)))) return false;
  if (verdict === "failed")
    return lastVerdict(line, forms, []) === "passed" && lastVerdict([passage], forms, []) === "passed";
  return claimsFailure(passage, forms) && lastVerdict(line, forms, []) !== "passed";
}

/** Words end at spaces, quotes and brackets. Dots, slashes and colons are parts of a path. */
const PIECE = /[^\s`"'()<>[\],;|=]+/g;
const LINE_NUMBER = /(?::\d+(?:[-:]\d+)?)$/;
const EXTENSION =
  /\.(?:ts|tsx|js|jsx|mjs|cjs|py|go|rs|md|mdx|json|jsonl|ya?ml|toml|css|scss|html|exs?|heex|sql|sh|txt|ipynb|lock|svg|png|xml|cs|java|rb|php|c|h|cpp)$/i;
/** Patterns and placeholders name no file. */
const PATTERN = /[{}*$%?…]|\.\.\.|:\/\/|\/\/|^[A-Z][a-z]+\.js$|x\.x/;
const MIN_PATH_CHARS = 5;
/** Summaries name their own transcript and the length of a quote, which are no part of the session. */
const OWN_FRAME = /\btranscript\b|^\W*\(\d+ lines\)\W*$/i;

function inventionsIn(passage: Passage, source: SourceLiterals): FalseStatement[] {
  if (passage.isCode || OWN_FRAME.test(passage.text)) return [];
  const shown = excerptOf(passage.text, SHOWN_CHARS);
  // "No moon.ts was created" invents no path.
  const paths = (passage.isDenied ? [] : pathsIn(passage.text))
    .filter((path) => !isKnownFile(source, path))
    .map(
      (path) => ({ kind: "invented-path", passage: shown, why: `no file "${path}" in the session` }) as const,
    );
  const figures = figuresIn(passage.text)
    .filter((figure) => !isKnownFigure(source, figure))
    .map(
      ({ figure }) =>
        ({ kind: "invented-figure", passage: shown, why: `no figure "${figure}" in the session` }) as const,
    );
  return [...paths, ...figures];
}

function pathsIn(text: string): string[] {
  const paths: string[] = [];
  for (const [piece] of text.matchAll(PIECE)) {
    const path = piece
      .replace(/^[*_~@]{1,3}/, "")
      .replace(/[.:*_~]{1,4}$/, "")
      .replace(LINE_NUMBER, "");
    if (path.length >= MIN_PATH_CHARS && EXTENSION.test(path) && !PATTERN.test(path)) paths.push(path);
  }
  return paths;
}

/** Figures that a writer copies and does not compute. Counts of files or tests are computed. */
const FIGURES: readonly RegExp[] = [
  /\bv?(\d+\.\d+\.\d+)\b/g,
  /(\d+(?:\.\d+)?)\s?%/g,
  /\bports? (\d{2,5})\b/gi,
  /(?:localhost|127\.0\.0\.1|0\.0\.0\.0):(\d{2,5})\b/g,
  /(?:^|\s|\()#(\d{2,6})\b/g,
  // A part of a uuid is the id of an entry.
  /(?<![\w-])((?=[0-9a-f]{0,39}\d)(?=[0-9a-f]{0,39}[a-f])[0-9a-f]{7,40})(?![\w-])/g,
  /\$(\d+(?:\.\d+)?)/g,
  // Small counts are computed, large ones are copied.
  /\b(\d{3,}) (?:to \d+ )?(?:tests|files|lines|commits)\b/gi,
  /\b(\d+(?:[.,]\d+)*)[ -]?(ms|milliseconds?|secs?|seconds?|minutes?|hours?|days?|kb|mb|gb|kib|mib|bytes|tokens|retries|px)\b/gi,
  // Single digits are computed here too.
  /\b(\d{2,}(?:[.,]\d+)*)[ -](requests|attempts|rows|users)\b/gi,
];
/** Rounded figures are honest. */
const ROUNDED =
  /(?:~|≈|about|around|approx\w*|roughly|over|under|nearly|almost|more than|less than|[<>]=?)\s?$/i;
const ROUNDED_REACH = 16;

const EMPHASIS = /\*{1,3}|(?<!\w)_{1,3}|_{1,3}(?!\w)/g;

interface Figure {
  readonly figure: string;
  /** Absent if the form of the figure has no unit. */
  readonly unit: string | undefined;
}

const isKnownFigure = (source: SourceLiterals, { figure, unit }: Figure): boolean =>
  unit === undefined
    ? isKnownNumber(source, figure) || isKnownHash(source, figure)
    : isKnownMeasure(source, figure, unit);

function figuresIn(text: string): Figure[] {
  const plain = text.replace(EMPHASIS, "");
  return FIGURES.flatMap((form) =>
    [...plain.matchAll(form)].flatMap((match) => {
      const before = plain.slice(Math.max(0, match.index - ROUNDED_REACH), match.index);
      return ROUNDED.test(before) ? [] : [{ figure: (match[1] ?? "").toLowerCase(), unit: match[2] }];
    }),
  );
}
