import type { Attachment, Entry } from "../conversation/entry.ts";
import { recentlyReadPaths, visiblePaths } from "./read-state.ts";

/** The agent rarely works on more files at once; each costs its content in every later call. */
const RESTORED_FILES = 5;
const RESTORED_FILE_TOKENS = 5_000;
const RESTORED_FILES_TOKENS = 50_000;
/** How many missing files are passed over before giving up: a session from another machine has only those. */
const PATHS_TRIED = 20;

/** Reads a file as it is NOW. Never throws: a file that cannot be had is an answer like any other. */
export interface ProjectFiles {
  read(path: string): Promise<FileAnswer>;
}

export type FileAnswer =
  | { readonly state: "read"; readonly text: string; readonly displayPath: string }
  | { readonly state: "unavailable"; readonly reason: UnavailableReason };

export type UnavailableReason = "gone" | "unreadable" | "outside-project" | "not-text" | "too-large";

export interface RestoredFile {
  readonly path: string;
  readonly displayPath: string;
  readonly tokens: number;
  readonly isTruncated: boolean;
  readonly attachment: Attachment;
}

export interface SkippedFile {
  readonly path: string;
  readonly reason: UnavailableReason | "over-budget";
}

export interface RestoredFiles {
  readonly restored: readonly RestoredFile[];
  readonly skipped: readonly SkippedFile[];
}

export interface RestoreFilesInput {
  readonly summarised: readonly Entry[];
  readonly kept: readonly Entry[];
  readonly files: ProjectFiles;
  readonly countTokens: (text: string) => number;
  readonly budgetTokens?: number;
}

/** The most recently read files that the kept messages do not show, with their current content. */
export async function restoreFiles(input: RestoreFilesInput): Promise<RestoredFiles> {
  const visible = visiblePaths(input.kept);
  const candidates = recentlyReadPaths([...input.summarised, ...input.kept])
    .filter((path) => !visible.has(path) && !hasItsOwnWayIn(path))
    .slice(0, PATHS_TRIED);
  const answers = await Promise.all(
    candidates.map(async (path) => ({ path, answer: await input.files.read(path) })),
  );

  const restored: RestoredFile[] = [];
  const skipped: SkippedFile[] = [];
  let left = Math.min(input.budgetTokens ?? RESTORED_FILES_TOKENS, RESTORED_FILES_TOKENS);
  for (const { path, answer } of answers) {
    if (restored.length === RESTORED_FILES) break;
    if (answer.state === "unavailable") skipped.push({ path, reason: answer.reason });
    else {
      const file = fitFile(path, answer, Math.min(left, RESTORED_FILE_TOKENS), input.countTokens);
      if (file === undefined) skipped.push({ path, reason: "over-budget" });
      else {
        restored.push(file);
        left -= file.tokens;
      }
    }
  }
  return { restored, skipped };
}

/** Plans and memory files are put back by their own rules, whole and always. */
function hasItsOwnWayIn(path: string): boolean {
  return (
    /(^|[\\/])(CLAUDE(\.local)?|AGENTS|MEMORY)\.md$/i.test(path) ||
    /[\\/]\.claude[\\/](plans|rules)[\\/]/.test(path)
  );
}

function fitFile(
  path: string,
  answer: Extract<FileAnswer, { state: "read" }>,
  budgetTokens: number,
  countTokens: (text: string) => number,
): RestoredFile | undefined {
  const lines = answer.text.split("\n");
  const kept = headWithin(lines, budgetTokens, countTokens);
  if (kept === 0) return undefined;
  const isTruncated = kept < lines.length;
  const content = isTruncated ? lines.slice(0, kept).join("\n") : answer.text;
  const file = { filePath: path, content, numLines: kept, startLine: 1, totalLines: lines.length };
  const attachment: Attachment = {
    type: "file",
    filename: path,
    content: { type: "text", file },
    displayPath: answer.displayPath,
    ...(isTruncated ? { truncated: true } : {}),
  };
  return { path, displayPath: answer.displayPath, tokens: countTokens(content), isTruncated, attachment };
}

/** How many whole lines from the top fit; by halving, since counting is what costs. */
function headWithin(
  lines: readonly string[],
  budgetTokens: number,
  countTokens: (text: string) => number,
): number {
  if (countTokens(lines.join("\n")) <= budgetTokens) return lines.length;
  let fits = 0;
  let tooMany = lines.length;
  while (tooMany - fits > 1) {
    const middle = (fits + tooMany) >> 1;
    if (countTokens(lines.slice(0, middle).join("\n")) <= budgetTokens) fits = middle;
    else tooMany = middle;
  }
  return fits;
}
