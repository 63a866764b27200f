import type { Dirent } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import {
  figureField,
  inputTokens,
  isCompactBoundary,
  reportedUsage,
  stringField,
  turnedBack,
} from "@longhaul/core/internal/messages";
import type { Entry } from "@longhaul/core/messages";
import { entryFromJson } from "./entry-reader.ts";
import { cachingTail, lastLineWithAny, type ReadAt, readerOf, withOpenFile } from "./file-bytes.ts";
import { projectsFolder, type SessionAgent, type UserPlaces } from "./locations.ts";

export interface SessionFile {
  readonly id: string;
  readonly path: string;
  readonly agent: SessionAgent;
  readonly bytes: number;
  readonly modifiedAt: Date;
}

export interface SessionListing extends SessionFile, SessionGlance {}

export interface ListOptions extends UserPlaces {
  /** How many of the newest to list; all of them unless given. */
  readonly limit?: number;
}

/** Open files at a time: enough to keep the disk busy, far below what systems allow. */
const FILES_AT_ONCE = 16;

/** The sessions of Claude Code and our own, newest first. */
export async function listSessions(options: ListOptions): Promise<readonly SessionListing[]> {
  const files = await sessionFiles(options);
  return inParallel(files.slice(0, options.limit ?? files.length), async (file) => ({
    ...file,
    ...(await glanceAtSession(file.path, file.bytes)),
  }));
}

/** The same without opening any file. */
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

/** What can be told of a session from its two ends. */
interface SessionGlance {
  readonly cwd: string | undefined;
  readonly title: string | undefined;
  /** Size of the context at the last response or boundary; undefined when neither near the end tells it. */
  readonly contextTokens: number | undefined;
}

const FIRST_GLANCE_BYTES = 64 * 1024;
/** A large result or image may stand at the end. */
const LONGEST_GLANCE_BYTES = 1024 * 1024;
/** Progress of subagents, or the copies of an undo, may fill megabytes. Beyond this the figure is not worth the wait. */
const LONGEST_SEARCH_BYTES = 32 * 1024 * 1024;

const NOTHING: SessionGlance = { cwd: undefined, title: undefined, contextTokens: undefined };

/** For lists of thousands: looks for marks in the raw bytes at the two ends, and parses only those lines. */
export function glanceAtSession(path: string, bytes: number): Promise<SessionGlance> {
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
    return {
      cwd: cwd ?? lastLineThat(head, [CWD_MARK], cwdOf),
      title: title ?? lastLineThat(head, BRANCH_TITLE_MARKS, titleOf),
      contextTokens: context?.tokens,
    };
  });
}

/** Reads a file of a list, which may be gone, unreadable or damaged: then the answer is `nothing`. */
export function withQuietReader<T>(
  path: string,
  nothing: T,
  use: (readAt: ReadAt) => Promise<T>,
): Promise<T> {
  return withOpenFile(path, (handle) => use(readerOf(handle))).catch(() => nothing);
}

/** Starts at the end again: a very long line may cross the start of the part that was read. */
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

/** Whole lines only: what is left of a line that began above the range is cut off. */
export async function linesBetween(readAt: ReadAt, from: number, to: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(to - from);
  const read = buffer.subarray(0, await readAt(buffer, from));
  return from === 0 ? read : read.subarray(read.indexOf(NEWLINE) + 1);
}

/** Parses from the end the lines that hold one of the marks, until one gives an answer. */
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

/** The same from the start. */
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

/** The line around a place, and its entry if it holds one. */
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

/** Fields and types as they stand in JSON, which are cheap to look for in raw bytes. */
const marksOf = (...names: readonly string[]): readonly Buffer[] =>
  names.map((name) => Buffer.from(JSON.stringify(name)));

const CONTEXT_MARKS = marksOf("usage", "compact_boundary", "longhaul_undo", "longhaul_rewind");
export const CWD_MARK: Buffer = Buffer.from('"cwd"');
const TITLE_MARKS = marksOf("custom-title", "ai-title");
/** Older versions write the title of a branch at the top of the file. */
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
 * A compaction makes the last usage before it meaningless, so it is a mark even if it gives no figure. So does an
 * undo, of which the copies below it report nothing, and a rewind.
 */
function contextMarkOf(entry: Entry): ContextMark | undefined {
  const back = turnedBack(entry);
  if (back !== undefined) return { tokens: figureField(back, "tokens") };
  if (isCompactBoundary(entry)) {
    const { postTokens } = entry.compactMetadata;
    return { tokens: typeof postTokens === "number" ? postTokens : undefined };
  }
  const usage = entry.isSidechain === true ? undefined : reportedUsage(entry);
  return usage === undefined ? undefined : { tokens: inputTokens(usage) + usage.output_tokens };
}
