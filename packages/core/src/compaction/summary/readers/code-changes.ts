import { gitWords } from "./git-commits.ts";
import type { ShellCommand } from "./runners/shell-commands.ts";
import { fileName } from "./shell/paths.ts";
import { readShellFiles } from "./shell-files.ts";
import { isScratch, languageOf } from "./touched-code.ts";

/** Reads which changes of files a successful command line makes or names. */

/** Returns true if the line changes code, or starts a program that usually does. */
export const changesCode = (commands: readonly ShellCommand[], line: string, output: string): boolean =>
  commands.some((command) => isWritingGit(command, output) || isFormatter(command)) || writesCode(line);

/** Words without which no command of a line writes a file. */
const CAN_WRITE = />|\b(?:tee|sed|perl|mv|rm|patch)\b/;

const writesCode = (line: string): boolean =>
  CAN_WRITE.test(line) &&
  readShellFiles(line).uses.some(({ path }) => languageOf(path) !== undefined && !isScratch(path));

/** Output of git if nothing changed. */
const NOTHING_NEW =
  /^(?:Already up[ -]to[ -]date|Current branch \S+ is up to date|Already on |No local changes)/m;

/** Returns true for a git command that changes files of the working tree. */
function isWritingGit(command: ShellCommand, output: string): boolean {
  const [program, verb = "", ...rest] = gitWords(command) ?? [];
  if (program !== "git" || NOTHING_NEW.test(output)) return false;
  const has = (...options: readonly string[]): boolean => rest.some((word) => options.includes(word));
  switch (verb) {
    case "am":
    case "apply":
    case "cherry-pick":
    case "merge":
    case "pull":
    case "rebase":
    case "revert":
      return !has("--check", "--stat");
    case "checkout":
    case "switch":
      // A new branch starts with the current files, unless a start is named.
      return (
        rest.filter((word) => !word.startsWith("-")).length >
        (has("-b", "-B", "-c", "-C", "--create") ? 1 : 0)
      );
    case "restore":
      return !has("--staged", "-S") || has("--worktree", "-W");
    case "reset":
      return has("--hard", "--keep", "--merge");
    case "stash":
      return /^(?:|-.*|push|save|pop|apply)$/.test(rest[0] ?? "");
    default:
      return false;
  }
}

/** Option with which a checker or formatter writes its changes into the files. */
const WRITES = /^--(?:write|fix(?:-all)?|apply(?:-unsafe)?|auto-?correct(?:-all)?|in-?place)(?:=|$)/;
/** Option with which a formatter only reports. */
const ONLY_REPORTS = /^(?:--(?:check|check-formatted|diff|dry-run|list|verify-no-changes)|-[ld])(?:=|$)/;
const WITH_SHORT_OPTION: Readonly<Record<string, RegExp>> = {
  gofmt: /^-\w*w/,
  gofumpt: /^-\w*w/,
  goimports: /^-\w*w/,
  prettier: /^-w$/,
  perl: /^-\w*i/,
};
const FORMATS = /^(?:black|isort|(?:cargo|go|zig|terraform|deno) fmt|(?:mix|ruff|dart|dotnet|swift) format)$/;
const TASK_RUNNERS = /^(?:npm|pnpm|yarn|bun|mise|make|just|task)$/;
const FORMAT_TASK = /^(?:fmt|format|fix|(?:lint|format|fmt)[:-]fix)$/;

/** Returns true for a program that formats or repairs code. */
function isFormatter({ words }: ShellCommand): boolean {
  const [program = "", ...rest] = words.slice(
    words.findIndex((word) => !/^(?:npx|bunx|pnpx|\w+=.*)$/.test(word)),
  );
  if (rest.some((word) => ONLY_REPORTS.test(word))) return false;
  if (rest.some((word) => WRITES.test(word))) return true;
  const name = fileName(program);
  const short = WITH_SHORT_OPTION[name];
  if (short !== undefined) return rest.some((word) => short.test(word));
  if (TASK_RUNNERS.test(name)) return rest.slice(0, 2).some((word) => FORMAT_TASK.test(word));
  return FORMATS.test(name) || FORMATS.test(`${name} ${rest[0] ?? ""}`);
}

/** Lines about changed files in `git status`, in its short form, in a list of sizes, and after a commit. */
const NAMED =
  /^(?:[ MADRC][MADRC] |[MADRC] {1,2}|\t?(?:modified|new file): +| (?=\S+ +\| +\d)|A?\t| create mode \d+ )"?([\w./@+-]+\.\w{1,8})"?(?:$| +\| +\d)/gm;
/** Maximum number of files to read from an output. */
const MAX_NAMED = 200;

/** Returns the files that the line stages, or that its output names as changed since the last commit. */
export function namedChanges(commands: readonly ShellCommand[], output: string): readonly string[] {
  const names: string[] = [];
  let isListed = false;
  for (const command of commands) {
    const [program, verb, ...rest] = gitWords(command) ?? [];
    if (program !== "git") continue;
    if (verb === "add") names.push(...rest.filter((word) => /^[\w./@+-]+\.\w{1,8}$/.test(word)));
    // With a name, a comparison is about other commits.
    const isOwn = verb === "diff" && rest.every((word) => /^--?(?:stat|cached|staged|shortstat)/.test(word));
    isListed ||= verb === "status" || verb === "commit" || isOwn;
  }
  if (isListed) for (const [, name = ""] of output.matchAll(NAMED)) names.push(name);
  return names.slice(0, MAX_NAMED);
}
