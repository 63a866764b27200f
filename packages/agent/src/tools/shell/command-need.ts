import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { headOf } from "@longhaul/core/messages";
import { isSecretFile } from "@longhaul/sessions";
import type { PermissionNeed } from "../../permission.ts";
import { type GuardedFile, guardedFile } from "../../permissions/guarded-files.ts";
import type { Workplace } from "../../workplace.ts";
import { isSecret, isThere } from "../files/file-place.ts";
import {
  changesNoFile,
  commandKey,
  commandsIn,
  exactKey,
  isOnlyLooking,
  READERS,
  runsNoProjectCode,
} from "./command-text.ts";
import { isGitReader, repositoryAt } from "./safe-git.ts";

export interface CommandToAllow {
  readonly command: string;
  /** Command in one line, for people. */
  readonly line: string;
  readonly isBackground: boolean;
}

/** Maximum length of a question's title. The question's detail contains the whole command. */
const TITLE_CHARS = 200;
/**
 * Maximum length of a command. Linux refuses longer commands, and searching a megabyte for names would take
 * seconds.
 */
const LONGEST_COMMAND_CHARS = 131_072;

type Place = Pick<Workplace, "cwd" | "paths">;

/**
 * Builds the question about a command. The answer "always" covers as much as the command's text and paths
 * allow.
 */
export async function commandNeed(place: Place, toAllow: CommandToAllow): Promise<PermissionNeed> {
  const { command, line, isBackground } = toAllow;
  const run = isBackground ? "Run in the background" : "Run";
  const title = `${run} ${shown(line)}`;
  const reach = await reachOf(place, command);
  const { kind = "shell", because, key, scope, decidesCommands } = reach;
  const runsCode = !isGitReader(command) && !runsNoProjectCode(command);
  return {
    kind,
    title: because === undefined ? title : `${title}, ${because}`,
    detail: command,
    key,
    ...(scope === undefined
      ? {}
      : { scope: runsCode ? `${scope}, even if the project's code changes` : scope }),
    ...(runsCode ? { runsCode } : {}),
    ...(decidesCommands ? { decidesCommands } : {}),
  };
}

interface Reach {
  readonly kind?: PermissionNeed["kind"];
  readonly because?: string;
  readonly key: string;
  readonly scope?: string;
  readonly decidesCommands?: boolean;
}

async function reachOf(place: Place, command: string): Promise<Reach> {
  const { key, scope } = exactKey(command);
  if (command.length > LONGEST_COMMAND_CHARS) return { key };
  const { words, ...byText } = commandKey(command);
  const secret = await secretIn(place, command);
  if (secret !== undefined)
    return {
      kind: "secret-file",
      because: `which names ${shown(secret)}, which may contain credentials`,
      key,
    };
  const guarded = changesNoFile(command) ? undefined : guardedIn(command);
  if (guarded !== undefined) {
    const { name, why, decidesCommands } = guarded;
    return { kind: "guarded-file", because: `which names ${shown(name)}, ${why}`, key, decidesCommands };
  }
  if (words === undefined) return (await reachOfGit(place, command)) ?? byText;
  const outside = await firstOutside(place, words);
  if (outside !== undefined)
    return { ...outside, key, ...(outside.kind === "outside-path" ? { scope } : {}) };
  if (await takesMore(place, words)) return { key, scope };
  return (await reachOfGit(place, command)) ?? byText;
}

/**
 * Checks if a command reads more than the files that it names. If `diff` gets a folder, it reads everything
 * in that folder, including credentials and linked files. `git add` accepts folders and patterns, and a later
 * command could show what it added. So `git add` is safe only with names of existing files.
 */
async function takesMore({ paths }: Place, words: readonly string[]): Promise<boolean> {
  const isAdd = words[0] === "git" && words[1] === "add";
  if (!isAdd && words[0] !== "diff") return false;
  const given = words.slice(isAdd ? 2 : 1).filter((word) => !word.startsWith("-"));
  const files = await Promise.all(given.map((word) => paths.resolve(word)));
  const found = await Promise.all(files.map(({ realPath }) => stat(realPath).catch(() => undefined)));
  return isAdd
    ? given.length === 0 || !found.every((each) => each?.isFile())
    : found.some((each) => each?.isDirectory());
}

/** Returns how far a read-only git command reaches. Settings of the repository can extend this reach. */
async function reachOfGit({ cwd, paths }: Place, command: string): Promise<Reach | undefined> {
  if (!isGitReader(command) && !(isOnlyLooking(command) && /\bgit\b/.test(command))) return undefined;
  const { key, scope } = exactKey(command);
  const { reasons, folders } = await repositoryAt(cwd, isGitReader(command) ? "alone" : "combined");
  if (reasons.length > 0)
    return {
      because: `in a repository where git may run other programs or read other files (${shown(reasons.join(", "))})`,
      key,
    };
  // Outside of a repository, `git diff` compares any two files or folders.
  if (folders.length === 0) return { key, scope };
  const resolved = await Promise.all(folders.map((folder) => paths.resolve(folder)));
  const outside = resolved.find(({ isInside }) => !isInside);
  if (outside === undefined) return undefined;
  const because = `in a repository at ${shown(outside.realPath)}, outside the working folder`;
  return { kind: "outside-path", because, key, scope };
}

/** Finds the first word that leads outside the readable folders, or to credentials. */
async function firstOutside(
  { paths }: Place,
  words: readonly string[],
): Promise<Pick<Reach, "kind" | "because"> | undefined> {
  const canOnlyRead = READERS.has(words[0] ?? "") || words[0] === "git";
  for (const word of words.slice(1).flatMap(pathsIn)) {
    if (/[^/]\/+\.\.(?:\/|$)/.test(word))
      return {
        kind: "outside-path",
        because: `which uses .. in ${shown(word)}, where a link may lead outside the working folder`,
      };
    const file = await paths.resolve(word);
    if (file.problem !== undefined)
      return { kind: "outside-path", because: `which names ${shown(word)}, and ${file.problem}` };
    if ((canOnlyRead || !isPathLike(word)) && !(await isThere(file.realPath))) continue;
    if (isSecret(file))
      return { kind: "secret-file", because: `which names ${shown(word)}, which may contain credentials` };
    if (!file.isInside)
      return {
        kind: "outside-path",
        because: `which names ${shown(file.realPath)}, outside the working folder`,
      };
  }
  return undefined;
}

/** Finds all parts of a word that a program may treat as a path: `--file=/x`, `-f/x`, `HEAD:/x`, `a,b`. */
function pathsIn(word: string): readonly string[] {
  const parts = word.split(/[=:,]/).flatMap((part) => (part.startsWith("-") ? [part.slice(2)] : [part]));
  return [...new Set([word, ...parts])].filter((part) => part !== "");
}

/**
 * Finds all words that a program may treat as a path, however they are joined, including values of variables.
 */
const namesIn = (command: string): readonly string[] =>
  command
    .replace(/\\\n|["'\\]/g, "")
    .replace(/\$\{?[\w$?#-]+\}?/g, "x")
    .split(/[\s;|&<>(){}`$=:,!@%^*?[\]]+/)
    .filter((name) => name !== "");

/**
 * Checks for a name that looks like a path. The word "credentials" alone means nothing, but
 * `.aws/credentials` does.
 */
const isPathLike = (name: string): boolean => /[./~]/.test(name);

/**
 * Finds words of the command that name credentials. A name without a folder, such as `x.key`, is code more
 * often than a file. So it counts only if the file exists.
 */
async function secretIn({ paths }: Place, command: string): Promise<string | undefined> {
  const names = namesIn(withoutMessage(command));
  for (const name of new Set([...names, ...names.flatMap(valuesIn)])) {
    if (!isSecretName(name)) continue;
    const isSure = /[/~]/.test(name) || name.startsWith(".");
    if (isSure || (await isThere((await paths.resolve(name)).realPath))) return name;
  }
  return undefined;
}

/**
 * Returns the values in a word. Several options can be bundled, and a value can be attached to its option, as
 * in `curl -sT.env`.
 */
const valuesIn = (name: string): readonly string[] =>
  /^-[^-]/.test(name) ? [2, 3, 4, 5].map((from) => name.slice(from)).filter((value) => value !== "") : [];

/** Removes the commit message. It is not a path, whatever it mentions. */
const withoutMessage = (command: string): string =>
  /^\s*git\s+commit\b[^;&|\n]*$/.test(command)
    ? command.replace(/(\s-[a-z]*m\s+)(?:'[^']*'|"[^"$`\\]*")/g, "$1")
    : command;

/** Checks for a secret file, or a folder that contains only secrets. */
const isSecretName = (name: string): boolean =>
  isPathLike(name) && (isSecretFile(name) || isSecretFile(`${name}/any`));

/** Programs that write to their file arguments. */
const WRITERS =
  /^(?:cp|mv|ln|tee|rm|rmdir|touch|truncate|install|patch|dd|rsync|chmod|chown|unzip|tar|mkdir|ed|ex|sponge|wget|curl|perl|g?sed|rename|shred|unlink)$/;
/** Git subcommands that change files of the working tree. */
const GIT_WRITERS = /^(?:checkout|restore|mv|rm|apply|am|reset|switch|clean|worktree|config|submodule)$/;

/**
 * Finds a guarded file that the command may write to. Its name is after `>`, or it is an argument of a
 * program that writes.
 */
function guardedIn(command: string): (GuardedFile & { readonly name: string }) | undefined {
  for (const part of commandsIn(command)) {
    const behind = [...part.matchAll(/>+\s*(\S+)/g)].flatMap(([, target = ""]) => namesIn(target));
    for (const name of [...behind, ...writtenBy(part)]) {
      const found = guardedFile(name, /^[/~]/.test(name) ? undefined : name);
      if (found !== undefined) return { ...found, name };
    }
  }
  return undefined;
}

/**
 * Finds the arguments of a program that writes. The program can be anywhere in the command, also after
 * `sudo`, `time` or a variable.
 */
function writtenBy(part: string): readonly string[] {
  const names = namesIn(part);
  const isReading = /\bg?sed\s+-n\b/.test(part) && !/\s(?:-[a-z]*i|--in-place)/.test(part);
  const at = names.findIndex((name) => WRITERS.test(basename(name)));
  const git = names.findIndex(
    (name, index) => GIT_WRITERS.test(name) && names.slice(0, index).includes("git"),
  );
  if (git >= 0) return names.slice(git + 1).filter((name) => name !== "HEAD");
  if (at < 0 || isReading)
    return /^\s*sort\b.*\s-[a-z]*o/.test(part) || names[0] === "cd" ? names.slice(1) : [];
  const written = names.slice(at + 1);
  return [...written, ...written.flatMap(valuesIn)];
}

/** Shortens a name, because a file system allows long ones. */
const shown = (name: string): string => (name.length <= TITLE_CHARS ? name : `${headOf(name, TITLE_CHARS)}…`);
