import { headThatFits, MIN_HEAD_TOKENS, mayFit } from "../../measure/tokens/fitting-head.ts";
import type { Attachment, Entry } from "../../messages/entry.ts";
import { field, firstString, stringField, stringListField } from "../../messages/untrusted.ts";
import { type Answer, valueOrReason } from "./ask-host.ts";
import type { FileAnswer, MemoryFile } from "./host-state.ts";
import { memoryPathOf, pathsFromNewest, visiblePaths } from "./read-state.ts";
import {
  type Fit,
  firstOfEach,
  fitEach,
  type Gathering,
  NOTHING,
  type Restored,
  type RestoredItem,
  type RestoreInput,
  restoredItem,
  type SkippedItem,
} from "./restored.ts";

/** Restores files and memory files with their current content. */

/**
 * Maximum number of restored files. The agent rarely works on more files at once, and each file costs tokens
 * in every later call.
 */
const RESTORED_FILES = 5;
const RESTORED_FILE_TOKENS = 5_000;
const RESTORED_FILES_TOKENS = 50_000;
/**
 * Number of missing files to skip before giving up. In a session from another machine, all files are missing.
 */
const PATHS_TRIED = 20;

type ReadFile = Omit<Extract<FileAnswer, { state: "read" }>, "state">;

interface Unavailable {
  readonly reason: string;
}

interface Candidate {
  readonly path: string;
  readonly file: ReadFile | Unavailable;
}

/**
 * Restores the current content of the most recently read files. Skips files that the kept messages show. The
 * newest files get tokens first, but they come last in the result. From this order, the next compaction sees
 * the order of use.
 */
export async function gatherFiles(gathering: Gathering): Promise<Fit> {
  const { input, state, ask } = gathering;
  const { files } = state;
  if (files === undefined || files === null) return () => NOTHING;
  const candidates = await Promise.all(
    pathsToTry(gathering).map(
      async (path): Promise<Candidate> => ({ path, file: readFile(await ask(files, "read", path)) }),
    ),
  );
  return (budgetTokens) => fitFiles(candidates, budgetTokens, input);
}

function pathsToTry(gathering: Gathering): readonly string[] {
  const { entries, pairs, input } = gathering;
  const visible = visibleIn(input);
  // Memory files may have any name, because other memory files can import them.
  const memory = new Set(restorableMemoryPaths(gathering));
  const paths = new Set<string>();
  for (const path of pathsFromNewest(entries, pairs, input.fileTools)) {
    if (paths.size === PATHS_TRIED) break;
    if (!visible.has(path) && !memory.has(path) && !isRestoredSeparately(path)) paths.add(path);
  }
  return [...paths];
}

/** Returns the files that the kept messages show. */
const visibleIn = ({ kept, clearedToolUseIds, fileTools }: RestoreInput): ReadonlySet<string> =>
  visiblePaths(kept, { clearedToolUseIds, tools: fileTools });

/** Returns true for plans and memory files, which are restored separately. */
function isRestoredSeparately(path: string): boolean {
  return (
    /(^|[\\/])(CLAUDE(\.local)?|AGENTS|MEMORY)\.md$/i.test(path) ||
    /[\\/]\.claude[\\/](plans|rules)[\\/]/.test(path)
  );
}

/** Reads the answer of a host, which may be invalid. */
function readFile(answer: Answer): ReadFile | Unavailable {
  const told = valueOrReason(answer);
  if ("reason" in told) return told;
  const text = stringField(told.value, "text");
  const displayPath = firstString(told.value, "displayPath");
  if (text === undefined || displayPath === undefined) return { reason: "invalid" };
  return { text, displayPath, isHead: field(told.value, "isHead") === true };
}

function fitFiles(candidates: readonly Candidate[], budgetTokens: number, input: RestoreInput): Restored {
  const items: RestoredItem[] = [];
  const skipped: SkippedItem[] = [];
  /** Paths already used, because a file may have two names. */
  const seen = new Set<string>();
  let left = Math.min(budgetTokens, RESTORED_FILES_TOKENS);
  for (const { path, file } of candidates) {
    if (items.length === RESTORED_FILES) break;
    if (!("reason" in file)) {
      if (seen.has(file.displayPath)) continue;
      seen.add(file.displayPath);
    }
    const worthTokens = input.fileWorth?.(items.length) ?? Number.POSITIVE_INFINITY;
    const limits = { budgetTokens: Math.min(left, RESTORED_FILE_TOKENS), worthTokens };
    const { item, reason } = fitFile(path, file, limits, input);
    if (reason !== undefined) skipped.push({ kind: "files", name: path, reason });
    if (item !== undefined) {
      items.push(item);
      left -= item.tokens;
    }
  }
  return { items: items.reverse(), skipped };
}

interface FittedFile {
  /** Restored content, or a reference to the file instead. */
  readonly item?: RestoredItem;
  /** Reason why the content was not restored. */
  readonly reason?: string;
}

interface FileLimits {
  readonly budgetTokens: number;
  /** Size up to which it pays to restore the file. */
  readonly worthTokens: number;
}

function fitFile(
  path: string,
  file: Candidate["file"],
  { budgetTokens, worthTokens }: FileLimits,
  input: RestoreInput,
): FittedFile {
  const pointer = (displayPath: string, reason: string): FittedFile => {
    const attachment = { type: "compact_file_reference", filename: path, displayPath };
    const item = restoredItem("files", path, attachment, input.countTokens, true);
    return item.tokens <= budgetTokens ? { item, reason } : { reason };
  };
  if ("reason" in file) return file.reason === "too-large" ? pointer(path, file.reason) : file;
  if (!mayFit(file.text, worthTokens)) return pointer(file.displayPath, "does-not-pay");
  const item = fitContent(path, file, budgetTokens, input);
  if (item === undefined) return pointer(file.displayPath, "over-budget");
  return item.tokens > worthTokens ? pointer(file.displayPath, "does-not-pay") : { item };
}

function fitContent(
  path: string,
  file: ReadFile,
  budgetTokens: number,
  { countTokens }: RestoreInput,
): RestoredItem | undefined {
  const withContent = (content: string): RestoredItem => {
    const attachment = fileAttachment(path, file, content);
    return restoredItem("files", path, attachment, countTokens, attachment.truncated === true);
  };
  if (mayFit(file.text, budgetTokens)) {
    const whole = withContent(file.text);
    if (whole.tokens <= budgetTokens) return whole;
  }
  const head = headThatFits(file.text, budgetTokens, (text) => withContent(text).tokens <= budgetTokens);
  return countTokens(head) < MIN_HEAD_TOKENS ? undefined : withContent(head);
}

/**
 * Creates the attachment in the form that Claude Code uses for a read file. The total length is omitted if
 * only the head was read.
 */
function fileAttachment(path: string, { text, displayPath, isHead }: ReadFile, content: string): Attachment {
  const isTruncated = isHead === true || content.length < text.length;
  const totalLines = isHead ? {} : { totalLines: linesIn(text) };
  const file = { filePath: path, content, numLines: linesIn(content), startLine: 1, ...totalLines };
  return {
    type: "file",
    filename: path,
    content: { type: "text", file },
    displayPath,
    ...(isTruncated ? { truncated: true } : {}),
  };
}

/** Counts lines. A line break at the end starts no new line. */
function linesIn(text: string): number {
  let lines = text === "" || text.endsWith("\n") ? 0 : 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines++;
  return lines;
}

/**
 * Token limit for memory files. Instructions come before other content but must not use the whole budget. If
 * a memory file applies only to certain files, it is attached again with those files anyway.
 */
const RESTORED_MEMORY_TOKENS = 25_000;
/** Maximum number of memory files to request. The most recently attached files concern the current work. */
const MEMORY_PATHS_TRIED = 50;

/**
 * Creates the attachment in the form that Claude Code uses. The raw text on disk is omitted, because the
 * session would otherwise contain the same text twice.
 */
export function memoryAttachment(file: MemoryFile): Attachment {
  const { path, displayPath, content, isUsers, differsFromDisk, patterns = [] } = file;
  return {
    type: "nested_memory",
    path,
    content: {
      path,
      type: isUsers ? "User" : "Project",
      content,
      ...(patterns.length > 0 ? { globs: patterns } : {}),
      ...(differsFromDisk ? { contentDiffersFromDisk: true } : {}),
    },
    displayPath,
  };
}

/**
 * Returns the memory files attached in these entries. Each file is listed once, in the order of the newest
 * attachments, the newest last.
 */
export function attachedMemoryPaths(entries: readonly Entry[]): readonly string[] {
  const paths = new Set<string>();
  for (const entry of entries) {
    const path = memoryPathOf(entry);
    if (path === undefined) continue;
    paths.delete(path);
    paths.add(path);
  }
  return [...paths];
}

/**
 * Returns memory files to restore. If the host cannot read memory files, returns none, and memory files count
 * as ordinary files.
 */
function restorableMemoryPaths({ state, entries }: Gathering): readonly string[] {
  return state.memoryFiles === undefined || state.memoryFiles === null ? [] : attachedMemoryPaths(entries);
}

/**
 * Restores the current content of attached memory files. Skips files that the kept messages show. A file that
 * does not fit whole is left out. It is attached again when the agent uses a file that it governs.
 */
export async function gatherMemoryFiles(gathering: Gathering): Promise<Fit> {
  const { input, state, ask } = gathering;
  const attached = restorableMemoryPaths(gathering);
  if (attached.length === 0) return () => NOTHING;
  const visible = visibleIn(input);
  const paths = attached
    .filter((path) => !visible.has(path))
    .slice(-MEMORY_PATHS_TRIED)
    .reverse();
  const answers = await Promise.all(
    paths.map(async (path) => ({ path, file: readMemory(await ask(state, "memoryFiles", path)) })),
  );
  const skipped: SkippedItem[] = [];
  const files: MemoryFile[] = [];
  for (const { path, file } of answers) {
    if ("reason" in file) skipped.push({ kind: "memory-files", name: path, reason: file.reason });
    else if (file.content.trim() !== "") files.push(file);
  }
  const forms = firstOfEach(files, ({ path }) => path).map((file) => [
    () => restoredItem("memory-files", file.path, memoryAttachment(file), input.countTokens, file.isHead),
  ]);
  return (budgetTokens) => {
    const restored = fitEach(forms, Math.min(budgetTokens, RESTORED_MEMORY_TOKENS), skipped);
    return { ...restored, items: [...restored.items].reverse() };
  };
}

function readMemory(answer: Answer): MemoryFile | Unavailable {
  const told = valueOrReason(answer);
  if ("reason" in told) return told;
  const { value } = told;
  const path = firstString(value, "path");
  const content = stringField(value, "content");
  if (path === undefined || content === undefined) return { reason: "invalid" };
  return {
    path,
    displayPath: firstString(value, "displayPath") ?? path,
    content,
    isUsers: field(value, "isUsers") === true,
    isHead: field(value, "isHead") === true,
    differsFromDisk: field(value, "differsFromDisk") === true,
    patterns: stringListField(value, "patterns"),
  };
}
