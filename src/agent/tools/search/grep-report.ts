import type { ToolOutcome } from "../../tool.ts";
import type { Row } from "./excerpt.ts";
import type { SkipReason } from "./file-lines.ts";
import type { GrepWishes } from "./grep-input.ts";

export interface FileHit {
  /** Where it is. */
  readonly file: string;
  /** As it is shown. */
  readonly path: string;
  readonly matches: number;
  readonly rows: readonly Row[];
}

export interface GrepFindings {
  readonly hits: readonly FileHit[];
  readonly searched: number;
  readonly skipped: Readonly<Record<SkipReason, number>>;
  /** Files that may hold credentials, and were therefore not searched. */
  readonly secret: number;
  /** Files in which the pattern took too long. */
  readonly slow: number;
  /** It was given up before all files were searched. */
  readonly isGivenUp: boolean;
  /** There are more files than can be looked through. */
  readonly isCut: boolean;
}

export function grepOutcome(findings: GrepFindings, wishes: GrepWishes, limitChars: number): ToolOutcome {
  const { hits } = findings;
  const entries = entriesOf(hits, wishes);
  const shown = fitting(entries.slice(0, wishes.mostEntries), limitChars);
  const isMore = shown.length < entries.length;
  const notes = [
    entries.length === 0 ? `No matches in ${count(findings.searched, "file")}.` : "",
    isMore ? moreWords(wishes, shown.length, hits) : "",
    ...trouble(findings),
  ].filter((note) => note !== "");
  // The pattern was of no use: the model must know it before it goes on as if nothing were there.
  const isError = findings.slow > 0 && hits.length === 0;
  const summary =
    isMore && wishes.mode === "content" ? `the first ${shown.length} lines` : summaryOf(hits, wishes);
  return { content: [...shown, ...notes].join("\n"), isError, summary };
}

function entriesOf(hits: readonly FileHit[], wishes: GrepWishes): readonly string[] {
  switch (wishes.mode) {
    case "files_with_matches":
      return hits.map(({ path }) => path);
    case "count":
      return hits.map(({ path, matches }) => `${path}:${matches}`);
    case "content":
      return hits.flatMap((hit) => contentOf(hit, wishes)).filter((line, at) => at > 0 || line !== APART);
  }
}

/** Between lines that do not follow each other. */
const APART = "--";

function contentOf({ path, rows }: FileHit, { before, after, hasNumbers }: GrepWishes): readonly string[] {
  const hasContext = before + after > 0;
  return rows.flatMap((row, at) => {
    const sign = row.isMatch ? ":" : "-";
    const line = `${path}${sign}${hasNumbers ? `${row.number}${sign}` : ""}${row.text}`;
    const isApart = row.number !== (rows[at - 1]?.number ?? row.number - 1) + 1 || at === 0;
    return hasContext && isApart ? [APART, line] : [line];
  });
}

/** As many as have room. */
function fitting(entries: readonly string[], limitChars: number): readonly string[] {
  let room = limitChars;
  const end = entries.findIndex((entry) => {
    room -= entry.length + 1;
    return room < 0;
  });
  return end < 0 ? entries : entries.slice(0, end);
}

function moreWords({ mode }: GrepWishes, shown: number, hits: readonly FileHit[]): string {
  return mode === "content"
    ? `[There is more than these ${shown} lines: search for something rarer, or in fewer files.]`
    : `[${hits.length} files match; these are the first ${shown}.]`;
}

function trouble({ skipped, secret, slow, isGivenUp, isCut, searched }: GrepFindings): readonly string[] {
  const left = [
    skipped.binary > 0 ? `${count(skipped.binary, "binary file")}` : "",
    skipped["too-large"] > 0 ? `${count(skipped["too-large"], "very large file")}` : "",
    skipped.unreadable > 0 ? `${count(skipped.unreadable, "unreadable file")}` : "",
  ].filter((part) => part !== "");
  return [
    left.length > 0 ? `[Not searched: ${left.join(", ")}.]` : "",
    secret > 0
      ? `[Not searched: ${count(secret, "file")} that may hold credentials. Name such a file in path to ask the user for it.]`
      : "",
    slow > 0
      ? `[The pattern takes too long: ${count(slow, "file")} could not be searched to the end. Simplify it.]`
      : "",
    isGivenUp ? `[The search was given up after ${count(searched, "file")}.]` : "",
    isCut ? "[There are more files than can be looked through: name a folder in path.]" : "",
  ];
}

function summaryOf(hits: readonly FileHit[], { mode }: GrepWishes): string {
  if (hits.length === 0) return "no matches";
  if (mode === "files_with_matches") return count(hits.length, "file");
  const matches = hits.reduce((sum, hit) => sum + hit.matches, 0);
  return `${count(matches, "line")} in ${count(hits.length, "file")}`;
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? "" : "s"}`;
