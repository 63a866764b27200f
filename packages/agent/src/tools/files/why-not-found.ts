import { linesAt, placesOf } from "./find-text.ts";
import { closenessTo } from "./similar.ts";

/**
 * Number of compared characters. Only the beginning of longer files is compared, because the model waits for
 * the answer.
 */
const MAX_COMPARED_CHARS = 1_000_000;
const MAX_COMPARED_LINES = 20_000;
/**
 * Maximum number of line comparisons. If all lines are similar, each line of the file is compared with each
 * line of the text.
 */
const MAX_COMPARISONS = 50_000_000;
/** Minimum similarity. Lines with a lower similarity have little more in common than their language. */
const MIN_CLOSENESS = 0.6;
const MAX_SHOWN_LINES = 12;
const MAX_SHOWN_CHARS = 300;

/** Explains to the model why a text was not found, and what the file contains instead. */
export function whyNotFound(whole: string, wanted: string): string {
  const content = whole.slice(0, MAX_COMPARED_CHARS);
  const lines = content.split(/\r?\n/);
  return (
    withLineNumbers(content, wanted) ??
    otherSpaces(lines, wanted) ??
    otherSigns(content, wanted) ??
    escaped(content, wanted) ??
    nearest(lines, wanted) ??
    (content === whole
      ? "Nothing in the file is similar."
      : "Find it with Grep, and copy it from what Read shows.")
  );
}

const LINE_NUMBER = /^ *\d+\t/;

function withLineNumbers(content: string, wanted: string): string | undefined {
  const lines = wanted.split("\n");
  if (!lines.every((line) => LINE_NUMBER.test(line))) return undefined;
  const bare = lines.map((line) => line.replace(LINE_NUMBER, "")).join("\n");
  if (placesOf(content, bare).length === 0) return undefined;
  return "Its lines start with the numbers that Read shows, which are not in the file. Leave out each number and the tab after it.";
}

/** Compares spaces and tabs, because a model does not see which of them it got wrong. */
function otherSpaces(lines: readonly string[], wanted: string): string | undefined {
  const parts = wanted.split(/\r?\n/).map(squeezed);
  while (parts.at(-1) === "") parts.pop();
  while (parts[0] === "") parts.shift();
  const [first] = parts;
  if (first === undefined || parts.length * lines.length > MAX_COMPARISONS) return undefined;
  const all = lines.map(squeezed);
  for (let at = 0; at + parts.length <= all.length; at += 1) {
    if (parts.every((part, index) => all[at + index] === part))
      return `The file has the same text with different spaces, tabs, or empty lines:\n${shown(lines, at, parts.length, true)}\n(→ is a tab, · is a space at the start or end of a line.)`;
  }
  return undefined;
}

const squeezed = (line: string): string => line.trim().replaceAll(/\s+/g, " ");

/** Characters that look alike and that word processors and models confuse. */
const PLAIN_SIGNS: readonly (readonly [RegExp, string])[] = [
  [/[\u2018\u2019\u201a\u201b\u2032]/g, "'"],
  [/[\u201c\u201d\u201e\u201f\u2033]/g, '"'],
  [/[\u2010-\u2015\u2212]/g, "-"],
  [/[\u00a0\u2000-\u200a\u202f\u205f\u3000]/g, " "],
  [/\u2026/g, "..."],
  [/[\u200b-\u200d\u2060\ufeff]/g, ""],
];

const plain = (text: string): string =>
  PLAIN_SIGNS.reduce((so, [sign, instead]) => so.replaceAll(sign, instead), text.normalize("NFC"));

function otherSigns(content: string, wanted: string): string | undefined {
  const simple = plain(content);
  const [place] = placesOf(simple, plain(wanted));
  if (place === undefined) return undefined;
  const [line = 1] = linesAt(simple, [place]);
  const rows = content.split(/\r?\n/);
  const many = wanted.split("\n").length;
  return `The file has the same text with characters that only look alike (quotes, dashes, spaces, accents). Copy them from the file:\n${shown(rows, line - 1, many, false)}`;
}

function escaped(content: string, wanted: string): string | undefined {
  const bare = wanted.replaceAll("\\n", "\n").replaceAll("\\t", "\t").replaceAll('\\"', '"');
  if (bare === wanted || placesOf(content, bare).length === 0) return undefined;
  return 'It is escaped twice: the file has real line endings, tabs, or quotes where your text has \\n, \\t, or \\".';
}

function nearest(lines: readonly string[], wanted: string): string | undefined {
  const parts = wanted.split(/\r?\n/);
  // The longest line is the best clue to the position.
  const probe = parts.reduce(
    (longest, part) => (part.trim().length > longest.trim().length ? part : longest),
    "",
  );
  if (probe.trim() === "") return undefined;
  const closeness = closenessTo(squeezed(probe));
  let best = { at: -1, score: 0 };
  for (const [at, line] of lines.slice(0, MAX_COMPARED_LINES).entries()) {
    const score = closeness(squeezed(line));
    if (score > best.score) best = { at, score };
  }
  if (best.score < MIN_CLOSENESS) return undefined;
  const from = Math.max(0, best.at - parts.indexOf(probe));
  return `The most similar text is this:\n${shown(lines, from, parts.length, false)}`;
}

function shown(lines: readonly string[], from: number, count: number, showsSpaces: boolean): string {
  const rows = lines.slice(from, from + Math.min(count, MAX_SHOWN_LINES)).map((line, index) => {
    const text = line.length > MAX_SHOWN_CHARS ? `${line.slice(0, MAX_SHOWN_CHARS).toWellFormed()}…` : line;
    return `${String(from + index + 1).padStart(6)}\t${showsSpaces ? withVisibleSpaces(text) : text}`;
  });
  return rows.join("\n");
}

const withVisibleSpaces = (line: string): string =>
  line
    .replaceAll("\t", "→")
    .replace(/^[ →]+/, (spaces) => spaces.replaceAll(" ", "·"))
    .replace(/[ →]+$/, (spaces) => spaces.replaceAll(" ", "·"));
