import type { Attachment } from "../conversation/entry.ts";
import { field, firstString, stringField } from "../conversation/untrusted.ts";
import type { FileAnswer } from "./host-state.ts";
import { restorableMemoryPaths } from "./memory-files.ts";
import { pathsFromNewest, visiblePaths } from "./read-state.ts";
import {
  type Answer,
  type Fit,
  type Gathering,
  headThatFits,
  LEAST_HEAD_TOKENS,
  mayFit,
  NOTHING,
  type Restored,
  type RestoredItem,
  type RestoreInput,
  restoredItem,
  type SkippedItem,
  valueOrReason,
} from "./restored.ts";

/** The agent rarely works on more files at once; each costs its content in every later call. */
const RESTORED_FILES = 5;
const RESTORED_FILE_TOKENS = 5_000;
const RESTORED_FILES_TOKENS = 50_000;
/** How many missing files are passed over before giving up: a session from another machine has only those. */
const PATHS_TRIED = 20;

type ReadFile = Extract<FileAnswer, { state: "read" }>;

interface Candidate {
  readonly path: string;
  readonly file: ReadFile | { readonly state: "unavailable"; readonly reason: string };
}

/**
 * The most recently read files that the kept messages do not show, with their current content. The newest
 * get their share first and stand last, so that the next compaction sees them in the order of their use.
 */
export async function gatherFiles(gathering: Gathering): Promise<Fit> {
  const { input, state, ask } = gathering;
  const { files } = state;
  if (files === undefined || files === null) return () => NOTHING;
  const candidates = await Promise.all(
    pathsToTry(gathering).map(
      async (path): Promise<Candidate> => ({ path, file: readAnswer(await ask(files, "read", path)) }),
    ),
  );
  return (budgetTokens) => fitFiles(candidates, budgetTokens, input);
}

function pathsToTry(gathering: Gathering): readonly string[] {
  const { entries, pairs } = gathering;
  const { kept, clearedToolUseIds, fileTools } = gathering.input;
  const visible = visiblePaths(kept, { clearedToolUseIds, tools: fileTools });
  // Memory files may have any name: they can be imported by others.
  const memory = new Set(restorableMemoryPaths(gathering));
  const paths = new Set<string>();
  for (const path of pathsFromNewest(entries, pairs, fileTools)) {
    if (paths.size === PATHS_TRIED) break;
    if (!visible.has(path) && !memory.has(path) && !hasItsOwnWayIn(path)) paths.add(path);
  }
  return [...paths];
}

/** Plans and memory files are put back by their own rules, whole and always. */
function hasItsOwnWayIn(path: string): boolean {
  return (
    /(^|[\\/])(CLAUDE(\.local)?|AGENTS|MEMORY)\.md$/i.test(path) ||
    /[\\/]\.claude[\\/](plans|rules)[\\/]/.test(path)
  );
}

function readAnswer(answer: Answer): Candidate["file"] {
  const told = valueOrReason(answer);
  if ("reason" in told) return { state: "unavailable", ...told };
  const text = stringField(told.value, "text");
  const displayPath = firstString(told.value, "displayPath");
  if (text === undefined || displayPath === undefined) return { state: "unavailable", reason: "invalid" };
  return { state: "read", text, displayPath, isHead: field(told.value, "isHead") === true };
}

function fitFiles(candidates: readonly Candidate[], budgetTokens: number, input: RestoreInput): Restored {
  const items: RestoredItem[] = [];
  const skipped: SkippedItem[] = [];
  /** A file may have been named in two ways. */
  const seen = new Set<string>();
  let left = Math.min(budgetTokens, RESTORED_FILES_TOKENS);
  for (const { path, file } of candidates) {
    if (items.length === RESTORED_FILES) break;
    if (file.state === "read") {
      if (seen.has(file.displayPath)) continue;
      seen.add(file.displayPath);
    }
    const { item, reason } = fitFile(path, file, Math.min(left, RESTORED_FILE_TOKENS), input);
    if (reason !== undefined) skipped.push({ kind: "files", name: path, reason });
    if (item !== undefined) {
      items.push(item);
      left -= item.tokens;
    }
  }
  return { items: items.reverse(), skipped };
}

interface FittedFile {
  /** The content, or a pointer in its place. */
  readonly item?: RestoredItem;
  /** Why the content was not put back. */
  readonly reason?: string;
}

function fitFile(
  path: string,
  file: Candidate["file"],
  budgetTokens: number,
  input: RestoreInput,
): FittedFile {
  if (file.state === "read") {
    const item = fitContent(path, file, budgetTokens, input);
    return item
      ? { item }
      : { ...pointerTo(path, file.displayPath, budgetTokens, input), reason: "over-budget" };
  }
  const { reason } = file;
  return reason === "too-large" ? { ...pointerTo(path, path, budgetTokens, input), reason } : { reason };
}

function pointerTo(
  path: string,
  displayPath: string,
  budgetTokens: number,
  { countTokens }: RestoreInput,
): FittedFile {
  const attachment = { type: "compact_file_reference", filename: path, displayPath };
  const item = restoredItem("files", path, attachment, countTokens, true);
  return item.tokens <= budgetTokens ? { item } : {};
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
  return countTokens(head) < LEAST_HEAD_TOKENS ? undefined : withContent(head);
}

/** As Claude Code attaches a file that was read. How long it is in all is left out where only its head was read. */
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

/** A last line that has been ended is not followed by another one. */
function linesIn(text: string): number {
  let lines = text === "" || text.endsWith("\n") ? 0 : 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines++;
  return lines;
}
