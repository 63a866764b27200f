import type { Dirent } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import {
  inputTokens,
  isCompactBoundary,
  numberField,
  reportedUsage,
  rewindRecordOf,
  stringField,
} from "@longhaul/core/internal/messages";
import { type Entry, readLedger } from "@longhaul/core/messages";
import { entryFromJson } from "./entry-reader.ts";
import { cachingTail, lastLineWithAny, type ReadAt, readerOf, withOpenFile } from "./file-bytes.ts";
import { projectsFolder, type SessionAgent, type UserPlaces } from "./locations.ts";
import { requestIn, spokenIn } from "./prompts.ts";

export interface SessionFile {
  readonly id: string;
  readonly path: string;
  readonly agent: SessionAgent;
  readonly bytes: number;
  readonly modifiedAt: Date;
}

export interface SessionListing extends SessionFile, SessionGlance {}

export interface ListOptions extends UserPlaces {
  /** Number of newest sessions to list. Default: all. */
  readonly limit?: number;
}

/**
 * Maximum number of files open at the same time. It is enough to keep the disk busy, and far below the
 * system's limits.
 */
const FILES_AT_ONCE = 16;

/** Lists the sessions of Claude Code and our own, newest first. */
export async function listSessions(options: ListOptions): Promise<readonly SessionListing[]> {
  const files = await sessionFiles(options);
  return inParallel(files.slice(0, options.limit ?? files.length), async (file) => ({
    ...file,
    ...(await peekSession(file.path, file.bytes)),
  }));
}

/** Lists the session files without opening any. */
export async function sessionFiles(places: UserPlaces): Promise<readonly SessionFile[]> {
  const agents: readonly SessionAgent[] = ["claude-code", "longhaul"];
  const found = await Promise.all(agents.map((agent) => filesOf(agent, projectsFolder(agent, places))));
  const byPath = found.flat().sort((a, b) => (a.path < b.path ? -1 : 1));
  return byPath.sort((a, b) => b.modifiedAt.getTime() - a.modifiedAt.getTime());
}

async function filesOf(agent: SessionAgent, folder: string): Promise<readonly SessionFile[]> {
  const projects = (await contentsOf(folder)).filter((item) => item.isDirectory() || item.isSymbolicLink());
  const names = await inParallel(projects, async (project) => {
    const items = await contentsOf(join(folder, project.name));
    // A subagent's file is part of another session.
    const sessions = items.filter(({ name }) => /^(?!agent-|\.).*\.jsonl$/s.test(name));
    return sessions.map((item) => join(folder, project.name, item.name));
  });
  const files = await inParallel(names.flat(), async (path): Promise<SessionFile | undefined> => {
    const facts = await stat(path).catch(() => undefined);
    if (facts === undefined || !facts.isFile() || facts.size === 0) return undefined;
    return { id: basename(path, ".jsonl"), path, agent, bytes: facts.size, modifiedAt: facts.mtime };
  });
  return files.filter((file) => file !== undefined);
}

async function contentsOf(folder: string): Promise<readonly Dirent[]> {
  return readdir(folder, { withFileTypes: true }).catch(() => []);
}

async function inParallel<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) {
      const at = next++;
      results[at] = await work(items[at] as T);
    }
  };
  await Promise.all(Array.from({ length: Math.min(FILES_AT_ONCE, items.length) }, worker));
  return results;
}

/** Facts about a session from the two ends of its file. */
interface SessionGlance {
  readonly cwd: string | undefined;
  readonly title: string | undefined;
  /** First prompt near the start of the file. Omitted if there is a title. */
  readonly firstPrompt: string | undefined;
  /**
   * Context size at the last response or boundary. Undefined if no response or boundary near the end reports
   * it.
   */
  readonly contextTokens: number | undefined;
}

/**
 * Returns the title of a session, or its first prompt. Both are untrusted text. Shorten and escape them
 * before printing.
 */
export const sessionLabel = ({ title, firstPrompt }: Pick<SessionGlance, "title" | "firstPrompt">): string =>
  title ?? firstPrompt ?? "(no prompt)";

const FIRST_GLANCE_BYTES = 64 * 1024;
/** Maximum bytes to read at each end. A large result or image may be at the end. */
const LONGEST_GLANCE_BYTES = 1024 * 1024;
/**
 * Maximum bytes to search. Progress of subagents, or the copies of an undo, may fill megabytes. Beyond this
 * limit, the context size is not worth the wait.
 */
const LONGEST_SEARCH_BYTES = 32 * 1024 * 1024;

const NOTHING: SessionGlance = {
  cwd: undefined,
  title: undefined,
  firstPrompt: undefined,
  contextTokens: undefined,
};

/**
 * Reads facts about a session. Searches the raw bytes at both ends of the file for marks, and parses only
 * lines with such marks. This is fast enough for lists of thousands of sessions.
 */
export function peekSession(path: string, bytes: number): Promise<SessionGlance> {
  return withQuietReader(path, NOTHING, async (readAt) => {
    let tail: Buffer = Buffer.alloc(0);
    let context: ContextMark | undefined;
    for (let length = FIRST_GLANCE_BYTES; context === undefined; length *= 4) {
      const start = Math.max(0, bytes - length);
      tail = await linesBetween(readAt, start, bytes);
      context = lastLineThat(tail, CONTEXT_MARKS, contextMarkOf);
      if (start === 0 || length >= LONGEST_GLANCE_BYTES) break;
    }
    if (tail.length < bytes) context ??= await searchContext(cachingTail(readAt, bytes), bytes);
    const cwd = lastLineThat(tail, [CWD_MARK], cwdOf);
    const title = lastLineThat(tail, TITLE_MARKS, titleOf);
    const isAllSeen = (cwd !== undefined && title !== undefined) || bytes <= FIRST_GLANCE_BYTES;
    const head = isAllSeen ? tail : await linesBetween(readAt, 0, FIRST_GLANCE_BYTES);
    const shownTitle = title ?? lastLineThat(head, BRANCH_TITLE_MARKS, titleOf);
    return {
      cwd: cwd ?? lastLineThat(head, [CWD_MARK], cwdOf),
      title: shownTitle,
      firstPrompt: shownTitle === undefined ? await searchFirstPrompt(readAt, bytes) : undefined,
      contextTokens: context?.tokens,
    };
  });
}

/**
 * Finds the first prompt. Prefers a request to a command such as `/clear`. The line of a request may contain
 * a large image.
 */
async function searchFirstPrompt(readAt: ReadAt, bytes: number): Promise<string | undefined> {
  for (let length = FIRST_GLANCE_BYTES; ; length *= 4) {
    const head = await linesBetween(readAt, 0, Math.min(length, bytes));
    const request = firstLineThat(head, USER_MARK, requestIn);
    if (request !== undefined) return request;
    if (length >= Math.min(bytes, LONGEST_GLANCE_BYTES))
      return (
        firstLineThat(head, USER_MARK, spokenIn) ?? firstLineThat(head, BOUNDARY_MARK, summarizedRequest)
      );
  }
}

/**
 * Returns the oldest request that a compaction summarized. A session that `--out` created may contain no
 * other request.
 */
const summarizedRequest = (entry: Entry): string | undefined =>
  readLedger(entry)?.facts.findLast(({ kind }) => kind === "directive")?.text;

/** Reads a file for a list of sessions. Returns `nothing` if it is missing, unreadable or damaged. */
export function withQuietReader<T>(
  path: string,
  nothing: T,
  use: (readAt: ReadAt) => Promise<T>,
): Promise<T> {
  return withOpenFile(path, (handle) => use(readerOf(handle))).catch(() => nothing);
}

/**
 * Finds the context size. Starts at the end again, because a very long line may begin above the part that was
 * read.
 */
async function searchContext(readAt: ReadAt, bytes: number): Promise<ContextMark | undefined> {
  const from = Math.max(0, bytes - LONGEST_SEARCH_BYTES);
  for (let end = bytes; ; ) {
    const start = (await lastLineWithAny(readAt, CONTEXT_MARKS, end, from))?.start;
    if (start === undefined) return undefined;
    const lines = Buffer.allocUnsafe(end - start);
    const read = lines.subarray(0, await readAt(lines, start));
    const mark = lastLineThat(read, CONTEXT_MARKS, contextMarkOf);
    if (mark !== undefined) return mark;
    end = start;
  }
}

/** Reads only whole lines. If a line starts before the range, skips the rest of that line. */
export async function linesBetween(readAt: ReadAt, from: number, to: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(to - from);
  const read = buffer.subarray(0, await readAt(buffer, from));
  return from === 0 ? read : read.subarray(read.indexOf(NEWLINE) + 1);
}

/**
 * Parses the lines that contain one of the marks, starting with the last line. Stops when `answer` returns a
 * value for a line.
 */
export function lastLineThat<T>(
  lines: Buffer,
  marks: readonly Buffer[],
  answer: (entry: Entry) => T | undefined,
): T | undefined {
  for (let end = lines.length; end > 0; ) {
    const above = lines.subarray(0, end);
    const found = Math.max(...marks.map((mark) => above.lastIndexOf(mark)));
    if (found < 0) return undefined;
    const line = lineAt(above, found);
    const answered = line.entry && answer(line.entry);
    if (answered !== undefined) return answered;
    end = line.start;
  }
  return undefined;
}

/**
 * Parses the lines that contain one of the marks, starting with the first line. Stops when `answer` returns a
 * value for a line.
 */
export function firstLineThat<T>(
  lines: Buffer,
  mark: Buffer,
  answer: (entry: Entry) => T | undefined,
): T | undefined {
  for (let found = lines.indexOf(mark); found >= 0; ) {
    const line = lineAt(lines, found);
    const answered = line.entry && answer(line.entry);
    if (answered !== undefined) return answered;
    found = lines.indexOf(mark, line.end);
  }
  return undefined;
}

/** Returns the line around a position, and its entry if it contains one. */
function lineAt(
  lines: Buffer,
  place: number,
): { readonly start: number; readonly end: number; readonly entry: Entry | undefined } {
  const start = lines.lastIndexOf(NEWLINE, place) + 1;
  const newline = lines.indexOf(NEWLINE, place);
  const end = newline < 0 ? lines.length : newline;
  try {
    return { start, end, entry: entryFromJson(JSON.parse(lines.toString("utf8", start, end))) };
  } catch {
    return { start, end, entry: undefined };
  }
}

const NEWLINE = 0x0a;

/**
 * Returns names of fields and types as they appear in JSON. In this form, they are cheap to find in raw
 * bytes.
 */
const marksOf = (...names: readonly string[]): readonly Buffer[] =>
  names.map((name) => Buffer.from(JSON.stringify(name)));

const CONTEXT_MARKS = marksOf("usage", "compact_boundary", "longhaul_undo", "longhaul_rewind");
const USER_MARK = Buffer.from('"user"');
const BOUNDARY_MARK = Buffer.from('"compact_boundary"');
export const CWD_MARK: Buffer = Buffer.from('"cwd"');
const TITLE_MARKS = marksOf("custom-title", "ai-title");
/** Marks of titles. Older versions write the title of a branch at the top of the file. */
const BRANCH_TITLE_MARKS = [...TITLE_MARKS, ...marksOf("summary")];

export const cwdOf = (entry: Entry): string | undefined => textIn(entry, ["cwd"]);

const TITLE_FIELDS: ReadonlyMap<string, readonly string[]> = new Map([
  ["custom-title", ["customTitle"]],
  ["ai-title", ["aiTitle", "title"]],
  ["summary", ["summary"]],
]);

const titleOf = (entry: Entry): string | undefined => textIn(entry, TITLE_FIELDS.get(entry.type) ?? []);

const textIn = (entry: Entry, names: readonly string[]): string | undefined =>
  names.map((name) => stringField(entry, name)).find((text) => text !== undefined && text.trim() !== "");

interface ContextMark {
  readonly tokens: number | undefined;
}

/**
 * Reads the context size from an entry. A compaction, a rewind or an undo invalidates the last usage before
 * it. So each of them counts as a mark even without a figure. The copies that an undo writes report no usage.
 */
function contextMarkOf(entry: Entry): ContextMark | undefined {
  const back = rewindRecordOf(entry);
  if (back !== undefined) return { tokens: numberField(back, "tokens") };
  if (isCompactBoundary(entry)) {
    const { postTokens } = entry.compactMetadata;
    return { tokens: typeof postTokens === "number" ? postTokens : undefined };
  }
  const usage = entry.isSidechain === true ? undefined : reportedUsage(entry);
  return usage === undefined ? undefined : { tokens: inputTokens(usage) + usage.output_tokens };
}
