import { LonghaulError } from "@longhaul/core/errors";
import { ESTIMATORS } from "@longhaul/core/measure";
import type { RecallHit, RecallPage, RecallPiece, RecallQuery, RecallReading } from "@longhaul/sessions";
import { findSession, openRecall } from "@longhaul/sessions";
import { HITS_PER_PAGE } from "@longhaul/sessions/internal";
import { type Composition, readingProgress } from "../composition.ts";
import type { Terminal } from "../terminal.ts";
import { formatCount, formatTime } from "../view/numbers.ts";
import { fitText, foldText, oneLine, shownText, textWidth } from "../view/text-width.ts";

export interface RecallCommandOptions
  extends Pick<RecallQuery, "ignoreCase" | "file" | "tool" | "page" | "limit" | "all"> {
  readonly exact?: boolean;
  readonly pattern?: boolean;
  readonly id?: string;
  readonly json?: boolean;
}

/** A screen is not a context: what is read by its id comes in large pages. */
const READING_TOKENS = 20_000;
/** For a screen: some lines around what was found. */
const TOKENS_PER_HIT = 150;

/** Searches what a session no longer has in its context. The session is never touched. */
export async function recall(
  session: string,
  words: readonly string[],
  options: RecallCommandOptions,
  { terminal, places }: Composition,
): Promise<void> {
  const path = await findSession(session, places);
  terminal.print(await recalled(path, words.join(" "), options, terminal, readingProgress(terminal)));
}

/** What a search finds, or what an id stands for: as a person reads it, or as JSON. */
export async function recalled(
  path: string,
  query: string,
  options: RecallCommandOptions,
  terminal: Terminal,
  onProgress?: (done: number, total: number) => void,
): Promise<string> {
  const { id, json } = options;
  // Of what is read whole the length is shown: as everywhere else.
  const opened = openRecall(path, {
    countTokens: id === undefined ? undefined : ESTIMATORS.o200k,
    onProgress,
  });
  if (id !== undefined) {
    const reading = await opened.read(id, { page: options.page, budgetTokens: READING_TOKENS });
    if (reading.pieces.length === 0) throw notRead(id, reading);
    const report = { session: { path }, id, ...reading };
    return json ? JSON.stringify(report, null, 2) : readingView(report, terminal);
  }
  const asked = recallQuery(query, options);
  const report = { session: { path }, query: asked, ...(await opened.search(asked)) };
  return json ? JSON.stringify(report, null, 2) : recallView(report, terminal);
}

function recallQuery(query: string, options: RecallCommandOptions): RecallQuery {
  const { exact, pattern, ignoreCase, file, tool, all, page, limit = HITS_PER_PAGE } = options;
  const text = query === "" ? {} : exact ? { exact: query } : pattern ? { pattern: query } : { words: query };
  return { ...text, ignoreCase, file, tool, all, page, limit, budgetTokens: limit * TOKENS_PER_HIT };
}

function notRead(id: string, { candidates, page }: RecallReading): LonghaulError {
  const [first, ...others] = candidates;
  if (first !== undefined && others.length > 0) {
    return new LonghaulError("message-not-found", `Several ids begin like ${id}: ${candidates.join(", ")}.`, {
      remedy: "Give more of the one that is meant.",
      facts: { id, candidates: candidates.length },
    });
  }
  const what = page > 1 ? `There is no page ${page} of ${id}` : `Nothing in the session has the id ${id}`;
  return new LonghaulError("message-not-found", `${what}.`, {
    remedy: "`longhaul recall SESSION WORDS` finds entries by their words, and says their ids.",
    facts: { id, page },
  });
}

/** The shape that `recall --json` prints. Stable: other programs read it; see docs/json.md. */
export interface RecallReport extends RecallPage {
  readonly session: { readonly path: string };
  readonly query: RecallQuery;
}

const LINES_PER_HIT = 4;
const INDENT = "  ";

export function recallView(report: RecallReport, terminal: Terminal): string {
  const { colours, width } = terminal;
  const { hits, query, page, hasMore } = report;
  const title = `${colours.bold("Recall")} ${colours.dim(fitText(report.session.path, width - 7, "front"))}`;
  if (hits.length === 0)
    return [title, ...nothingFound(report).map((line) => foldText(line, width))].join("\n");
  const notes = [
    `${countOf(report)} ${whatFor(query)}${page > 1 ? `, page ${page}` : ""}`,
    ...(report.notSearched > 0
      ? [`Not searched, because the pattern is too slow on them: ${formatCount(report.notSearched)}`]
      : []),
  ];
  const more = hasMore ? `; --page ${page + 1} shows more` : "";
  const hint = `All of this is from the past: things may have changed since. --id ID reads one whole${more}.`;
  return [
    [title, ...notes.map((note) => foldText(note, width))].join("\n"),
    ...hits.map((hit) => hitLines(hit, terminal).join("\n")),
    colours.dim(foldText(hint, width)),
  ].join("\n\n");
}

const countOf = ({ total, hits, page, query: { limit = 0 } }: RecallReport): string =>
  total === undefined
    ? `More than ${formatCount((page - 1) * limit + hits.length)} found`
    : `${formatCount(total)} found`;

function whatFor({ words, exact, pattern, file, tool, all }: RecallQuery): string {
  const parts = [
    ...(words === undefined ? [] : [`for ${oneLine(words)}`]),
    ...(exact === undefined ? [] : [`with exactly "${oneLine(exact)}"`]),
    ...(pattern === undefined ? [] : [`with /${oneLine(pattern)}/`]),
    ...(file === undefined ? [] : [`about the file ${oneLine(file)}`]),
    ...(tool === undefined ? [] : [`of the tool ${oneLine(tool)}`]),
    ...(all === true ? ["in the whole session"] : []),
  ];
  return parts.join(", ");
}

function nothingFound({ query, page, notSearched }: RecallReport): readonly string[] {
  const { exact, pattern, file, tool, all } = query;
  const isLater = page > 1;
  return [
    isLater ? `There is no page ${page} ${whatFor(query)}.` : `Nothing found ${whatFor(query)}.`,
    ...(notSearched > 0 ? ["The pattern is too slow on some entries, which were not searched."] : []),
    ...(exact !== undefined ? ["Without --exact the words are looked for one by one."] : []),
    ...(pattern !== undefined ? ["--ignore-case takes capitals and small letters for the same."] : []),
    ...(file !== undefined || tool !== undefined
      ? ["A file is known by the calls that name it, a tool by its name as the agent writes it."]
      : []),
    ...(all === true || isLater ? [] : ["--all also searches what is still in the context."]),
  ];
}

function hitLines(hit: RecallHit, terminal: Terminal): readonly string[] {
  const { colours, width } = terminal;
  return [
    headOf(hit, terminal),
    ...snippet(hit, width - INDENT.length, colours).map((line) => INDENT + line),
    `${INDENT}${colours.dim("id")} ${colours.cyan(oneLine(hit.id ?? "none"))}`,
  ];
}

/** When, who, and which file. */
function headOf(piece: RecallPiece, { colours, width }: Terminal): string {
  const when = formatTime(piece.timestamp);
  const remarks = [
    ...(piece.isError ? [colours.red("failed")] : []),
    ...(piece.isInContext ? [colours.yellow("in the context")] : []),
  ];
  const start = [colours.dim(when), colours.bold(oneLine(piece.who)), ...remarks].join("  ");
  const room = width - textWidth(start) - 2;
  return piece.file === undefined || room < 12 ? start : `${start}  ${fitText(piece.file, room, "front")}`;
}

interface Line {
  readonly text: string;
  readonly matches: readonly (readonly [number, number])[];
}

/** The lines that were found; the first ones where none was. */
function snippet(hit: RecallHit, width: number, colours: Terminal["colours"]): readonly string[] {
  const lines = linesOf(hit).filter(({ text }) => text.trim() !== "");
  const found = lines.filter(({ matches }) => matches.length > 0);
  const shown = (found.length > 0 ? found : lines).slice(0, LINES_PER_HIT);
  return shown.map((line) => marked(line, width, colours.yellow));
}

function linesOf({ text, matches }: RecallHit): readonly Line[] {
  const lines: Line[] = [];
  let start = 0;
  for (const line of text.split("\n")) {
    const end = start + line.length;
    const inside = matches
      .filter(([from, to]) => from < end && to > start)
      .map(([from, to]) => [Math.max(0, from - start), Math.min(line.length, to - start)] as const);
    lines.push({ text: line, matches: inside });
    start = end + 1;
  }
  return lines;
}

/** A long line is shown around the first of what was found. */
function marked({ text, matches }: Line, width: number, mark: (text: string) => string): string {
  const first = matches[0]?.[0] ?? 0;
  const from = first < width * 0.7 ? 0 : first - Math.floor(width / 3);
  let line = from > 0 ? "…" : "";
  let at = from;
  for (const [start, end] of [...matches, [text.length, text.length] as const]) {
    if (end <= at && start < text.length) continue;
    const before = fitted(text.slice(at, start), width - textWidth(line));
    line += before.text;
    if (before.isCut) break;
    const found = fitted(text.slice(Math.max(at, start), end), width - textWidth(line));
    if (found.text !== "") line += mark(found.text);
    if (found.isCut) break;
    at = Math.max(at, end);
  }
  return line.trimStart();
}

function fitted(text: string, width: number): { readonly text: string; readonly isCut: boolean } {
  const clean = shownText(text).replace(/\s+/g, " ");
  if (textWidth(clean) <= width) return { text: clean, isCut: false };
  // The space between what was found and what comes after it.
  const space = clean.startsWith(" ") ? " " : "";
  return { text: width < 3 ? "" : `${space}${fitText(clean, width - space.length)}`, isCut: true };
}

export interface ReadingReport extends RecallReading {
  readonly session: { readonly path: string };
  readonly id: string;
}

/** Everything, as it was written. Long lines are the terminal's to break: this is for reading and for pipes. */
export function readingView(report: ReadingReport, terminal: Terminal): string {
  const { colours, width } = terminal;
  const { page, hasMore, tokens } = report;
  const facts = `${formatCount(tokens)} tokens${page > 1 || hasMore ? `, page ${page}` : ""}`;
  const title = `${colours.bold("Recall")} ${fitText(report.id, width - 20)} ${colours.dim(facts)}`;
  const pieces = report.pieces.map((piece) => `${headOf(piece, terminal)}\n${shownText(piece.text)}`);
  const more = hasMore ? [colours.dim(`--page ${page + 1} goes on.`)] : [];
  return [title, ...pieces, ...more].join("\n\n");
}
