import { LonghaulError } from "@longhaul/core/errors";
import { ESTIMATORS } from "@longhaul/core/measure";
import type { RecallHit, RecallPage, RecallPiece, RecallQuery, RecallReading } from "@longhaul/sessions";
import { findSession, openRecall } from "@longhaul/sessions";
import { type Composition, readingProgress } from "../composition.ts";
import type { Terminal } from "../terminal.ts";
import { formatCount, formatTime } from "../view/numbers.ts";
import { fitText, foldText, oneLine, shownText, textWidth } from "../view/text-width.ts";

export interface RecallCommandOptions
  extends Pick<RecallQuery, "ignoreCase" | "file" | "tool" | "page" | "limit" | "all"> {
  readonly exact?: boolean;
  readonly pattern?: boolean;
  readonly id?: string;
  readonly allSessions?: boolean;
  readonly allProjects?: boolean;
  readonly json?: boolean;
}

/** The screen has no context limit, so reading by id uses large pages. */
const READING_TOKENS = 20_000;
/** Matches on a page, as many as the tool shows to an agent. Half as many miss one answer in six. */
const HITS_PER_PAGE = 16;
/** Maximum tokens of a match and the lines around it. This is a few lines on a screen. */
const TOKENS_PER_HIT = 150;

/**
 * Searches messages that are no longer in the context of a session. Never changes the session.
 * @param session the session to search. With --all-sessions and --all-projects, the first word of the query.
 */
export async function recall(
  session: string | undefined,
  words: readonly string[],
  options: RecallCommandOptions,
  composition: Composition,
): Promise<void> {
  const { terminal, places } = composition;
  if (options.allSessions || options.allProjects || session === undefined) {
    const { recallAcross } = await import("./recall-across.ts");
    const query = session === undefined ? words : [session, ...words];
    return await recallAcross(query, options.allProjects ? "machine" : "project", options, composition);
  }
  const path = await findSession(session, places);
  terminal.print(await recalled(path, words.join(" "), options, terminal, readingProgress(terminal)));
}

/** Formats the results of a search, or the messages with an id. The format is text or JSON. */
export async function recalled(
  path: string,
  query: string,
  options: RecallCommandOptions,
  terminal: Terminal,
  onProgress?: (done: number, total: number) => void,
): Promise<string> {
  const { id, json } = options;
  // Reading by id shows the lengths of messages, so it counts tokens with the same estimator as the other
  // commands.
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

export function recallQuery(query: string, options: RecallCommandOptions): RecallQuery {
  const { exact, pattern, ignoreCase, file, tool, all, page, limit = HITS_PER_PAGE } = options;
  const text = query === "" ? {} : exact ? { exact: query } : pattern ? { pattern: query } : { words: query };
  return { ...text, ignoreCase, file, tool, all, page, limit, budgetTokens: limit * TOKENS_PER_HIT };
}

function notRead(id: string, { candidates, page }: RecallReading): LonghaulError {
  const [first, ...others] = candidates;
  if (first !== undefined && others.length > 0) {
    return new LonghaulError(
      "id-ambiguous",
      `Ambiguous id: ${candidates.length} entries have an id that starts with ${id}: ${candidates.join(", ")}.`,
      { remedy: "Pass more of the id.", facts: { id, candidates: candidates.length } },
    );
  }
  if (page > 1) {
    return new LonghaulError("page-not-found", `No page found: ${id} has no page ${page}.`, {
      remedy: "Pass a smaller page number.",
      facts: { id, page },
    });
  }
  return new LonghaulError("entry-not-found", `No entry found: no entry of the session has the id ${id}.`, {
    remedy: "Find ids with `longhaul recall SESSION WORDS`.",
    facts: { id, page },
  });
}

/** Output format of `recall --json`. Stable, because other programs read it. See docs/json.md. */
export interface RecallReport extends RecallPage {
  readonly session: { readonly path: string };
  readonly query: RecallQuery;
}

const LINES_PER_HIT = 3;
export const INDENT = "  ";

export function recallView(report: RecallReport, terminal: Terminal): string {
  const { colors, width } = terminal;
  const { hits, query, page, hasMore } = report;
  const title = `${colors.bold("Recall")} ${colors.dim(fitText(report.session.path, width - 7, "front"))}`;
  if (hits.length === 0)
    return [title, ...nothingFound(report).map((line) => foldText(line, width))].join("\n");
  const notes = [
    `${countOf(report)} ${whatFor(query)}${page > 1 ? `, page ${page}` : ""}`,
    ...(report.notSearched > 0
      ? [`${formatCount(report.notSearched)} entries were skipped: the pattern is too slow on them.`]
      : []),
  ];
  const more = hasMore ? ` --page ${page + 1} shows more.` : "";
  const all = query.all === true ? "" : " --all also searches what is still in the context.";
  const hint = `These are old messages. Files may have changed since. --id ID shows one in full.${more}${all}`;
  return [
    [title, ...notes.map((note) => foldText(note, width))].join("\n"),
    ...hits.map((hit) => hitLines(hit, terminal).join("\n")),
    colors.dim(foldText(hint, width)),
  ].join("\n\n");
}

const matches = (count: number): string => `${formatCount(count)} ${count === 1 ? "match" : "matches"}`;

export const countOf = ({
  total,
  hits,
  page,
  query: { limit = 0 },
}: Omit<RecallReport, "session">): string =>
  total === undefined ? `More than ${matches((page - 1) * limit + hits.length)}` : matches(total);

export function whatFor({ words, exact, pattern, file, tool, all }: RecallQuery): string {
  const parts = [
    ...(words === undefined ? [] : [`for ${oneLine(words)}`]),
    ...(exact === undefined ? [] : [`for exactly "${oneLine(exact)}"`]),
    ...(pattern === undefined ? [] : [`for /${oneLine(pattern)}/`]),
    ...(file === undefined ? [] : [`in tool calls on the file ${oneLine(file)}`]),
    ...(tool === undefined ? [] : [`of the tool ${oneLine(tool)}`]),
    ...(all === true ? ["in the whole session"] : []),
  ];
  return parts.join(", ");
}

export function nothingFound({
  query,
  page,
  notSearched,
}: Omit<RecallReport, "session" | "hits">): readonly string[] {
  const { exact, pattern, file, tool, all } = query;
  const isLater = page > 1;
  return [
    isLater ? `There is no page ${page} ${whatFor(query)}.` : `Nothing found ${whatFor(query)}.`,
    ...(notSearched > 0 ? ["Some entries were skipped: the pattern is too slow on them."] : []),
    ...(exact !== undefined ? ["Without --exact, longhaul searches for each word."] : []),
    ...(pattern !== undefined ? ["--ignore-case treats upper and lower case as equal."] : []),
    ...(file !== undefined || tool !== undefined
      ? ["--file searches the paths of tool calls. --tool needs the exact name of the tool."]
      : []),
    ...(all === true || isLater ? [] : ["--all also searches messages that are still in the context."]),
  ];
}

export function hitLines(hit: RecallHit, terminal: Terminal): readonly string[] {
  const { colors, width } = terminal;
  return [
    headOf(hit, terminal),
    ...snippet(hit, width - INDENT.length, colors).map((line) => INDENT + line),
    `${INDENT}${colors.dim("id")} ${colors.cyan(oneLine(hit.id ?? "none"))}`,
  ];
}

/** Shows the time, author and file. */
function headOf(piece: RecallPiece, { colors, width }: Terminal): string {
  const when = formatTime(piece.timestamp);
  const remarks = [
    ...(piece.isError ? [colors.red("failed")] : []),
    ...(piece.isInContext ? [colors.yellow("in the context")] : []),
  ];
  const start = [colors.dim(when), colors.bold(oneLine(piece.who)), ...remarks].join("  ");
  const room = width - textWidth(start) - 2;
  return piece.file === undefined || room < 12 ? start : `${start}  ${fitText(piece.file, room, "front")}`;
}

interface Line {
  readonly text: string;
  readonly matches: readonly (readonly [number, number])[];
}

/** Returns the matching lines, or the first lines if no line matches. */
function snippet(hit: RecallHit, width: number, colors: Terminal["colors"]): readonly string[] {
  const lines = linesOf(hit).filter(({ text }) => text.trim() !== "");
  const found = lines.filter(({ matches }) => matches.length > 0);
  const shown = (found.length > 0 ? found : lines).slice(0, LINES_PER_HIT);
  return shown.map((line) => marked(line, width, colors.yellow));
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

/** Cuts a long line around its first match. */
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
  // Keeps the space between a match and the text after it.
  const space = clean.startsWith(" ") ? " " : "";
  return { text: width < 3 ? "" : `${space}${fitText(clean, width - space.length)}`, isCut: true };
}

export interface ReadingReport extends RecallReading {
  readonly session: { readonly path: string };
  readonly id: string;
}

/** Prints everything unchanged. The terminal wraps long lines. This is for reading and for pipes. */
export function readingView(report: ReadingReport, terminal: Terminal): string {
  const { colors, width } = terminal;
  const { page, hasMore, tokens } = report;
  const facts = `${formatCount(tokens)} tokens${page > 1 || hasMore ? `, page ${page}` : ""}`;
  const title = `${colors.bold("Recall")} ${fitText(report.id, width - 20)} ${colors.dim(facts)}`;
  const pieces = report.pieces.map((piece) => `${headOf(piece, terminal)}\n${shownText(piece.text)}`);
  const more = hasMore ? [colors.dim(`--page ${page + 1} shows the next page.`)] : [];
  return [title, ...pieces, ...more].join("\n\n");
}
