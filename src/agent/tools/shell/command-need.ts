import { headOf } from "../../../index.ts";
import { isSecretFile } from "../../../node.ts";
import type { PermissionNeed } from "../../permission.ts";
import { type GuardedFile, guardedFile } from "../../permissions/guarded-files.ts";
import type { Workplace } from "../../workplace.ts";
import { isSecret, isThere } from "../files/file-place.ts";
import { commandKey, exactKey, GIT_READERS, READERS } from "./command-key.ts";
import { isGitReader, programsOfRepository } from "./safe-git.ts";

export interface CommandToAllow {
  readonly command: string;
  /** In one line, for people. */
  readonly line: string;
  readonly isBackground: boolean;
}

/** Of a command in the question; the whole command is in the detail. */
const TITLE_CHARS = 200;
/** Linux takes no longer ones. Searching a megabyte for names would take seconds. */
const LONGEST_COMMAND_CHARS = 131_072;

type Place = Pick<Workplace, "cwd" | "paths">;

/** The question about a command, with as wide an "always" as its text and its paths permit. */
export async function commandNeed(place: Place, toAllow: CommandToAllow): Promise<PermissionNeed> {
  const { command, line, isBackground } = toAllow;
  const run = isBackground ? "Run in the background" : "Run";
  const title = `${run} ${line.length <= TITLE_CHARS ? line : `${headOf(line, TITLE_CHARS)}…`}`;
  const reach = await reachOf(place, command);
  const { kind = "shell", because, key, scope, decidesCommands } = reach;
  const runsCode = !isOnlyOf(command, RUNS_NO_PROJECT_CODE, GIT_READERS);
  return {
    kind,
    title: because === undefined ? title : `${title}, ${because}`,
    detail: command,
    key,
    ...(scope === undefined
      ? {}
      : { scope: runsCode ? `${scope}, whatever the project's code does` : scope }),
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
  const secret = namesIn(command).find(isSecretName);
  if (secret !== undefined)
    return { kind: "secret-file", because: `which names ${shown(secret)}, where credentials may be`, key };
  const guarded = isOnlyOf(command, LOOKS, GIT_STAGERS) ? undefined : guardedIn(command);
  if (guarded !== undefined) {
    const { name, why, decidesCommands } = guarded;
    return { kind: "guarded-file", because: `which names ${shown(name)}, ${why}`, key, decidesCommands };
  }
  if (words === undefined) return byText;
  const outside = await firstOutside(place, words);
  if (outside !== undefined)
    return { ...outside, key, ...(outside.kind === "outside-path" ? { scope } : {}) };
  const programs = isGitReader(command) ? await programsOfRepository(place.cwd) : [];
  if (programs.length > 0)
    return { because: `in a repository whose settings run programs (${programs.join(", ")})`, key };
  return byText;
}

/** The first word of the command that leads out of the folders that Read may look into, or to credentials. */
async function firstOutside(
  { paths }: Place,
  words: readonly string[],
): Promise<Pick<Reach, "kind" | "because"> | undefined> {
  for (const word of words.slice(1).flatMap(pathsIn)) {
    const file = await paths.resolve(word);
    if (isSecret(file) && (isPathLike(word) || (await isThere(file.realPath))))
      return { kind: "secret-file", because: `which names ${shown(word)}, where credentials may be` };
    if (!file.isInside)
      return {
        kind: "outside-path",
        because: `which names ${shown(file.realPath)}, outside the working folder`,
      };
  }
  return undefined;
}

/** Everything in a word that a program may take for a path: `--file=/x`, `-f/x`, `HEAD:/x`, `a,b`. */
function pathsIn(word: string): readonly string[] {
  const parts = word.split(/[=:,]/).flatMap((part) => (part.startsWith("-") ? [part.slice(2)] : [part]));
  return [...new Set([...(word.startsWith("-") ? [] : [word]), ...parts])].filter((part) => part !== "");
}

/** Commands that a shell may see in a text, each by itself. */
const commandsIn = (command: string): readonly string[] => command.split(/&&|\|\||[;|&\n]/);

/** Words that a program may take for a path, whatever joins them and whatever a variable holds. */
const namesIn = (command: string): readonly string[] =>
  command
    .replace(/\\\n|["'\\]/g, "")
    .replace(/\$\{?[\w$?#-]+\}?/g, "x")
    .split(/[\s;|&<>(){}`$=:,!@%^*?[\]]+/)
    .filter((name) => name !== "");

/** "credentials" in a text means nothing; `.aws/credentials` does. */
const isPathLike = (name: string): boolean => /[./~]/.test(name);

/** The file itself, or a folder in which everything is secret. */
const isSecretName = (name: string): boolean =>
  isPathLike(name) && (isSecretFile(name) || isSecretFile(`${name}/any`));

/** A guarded file that the command may change. The program itself only runs, and `HEAD` means a commit to git. */
function guardedIn(command: string): (GuardedFile & { readonly name: string }) | undefined {
  for (const part of commandsIn(command)) {
    const names = namesIn(part);
    for (const name of part.includes(">") ? names : names.slice(1).filter((each) => !/^head$/i.test(each))) {
      const found = guardedFile(name);
      if (found !== undefined) return { ...found, name };
    }
  }
  return undefined;
}

/** Programs that only look, or take what another one prints. */
const LOOKS: ReadonlySet<string> = new Set([
  ...READERS,
  ...["cd", "jq", "cut", "tr", "column", "nl", "rev", "tac", "test"],
]);

/** System programs whose work does not depend on the project's code. */
const RUNS_NO_PROJECT_CODE: ReadonlySet<string> = new Set([
  ...LOOKS,
  ...[
    "rm",
    "rmdir",
    "mv",
    "cp",
    "mkdir",
    "touch",
    "chmod",
    "chown",
    "ln",
    "curl",
    "wget",
    "kill",
    "pkill",
    "ps",
  ],
  ...["printf", "sort", "uniq", "unzip", "zip", "gzip", "gunzip", "sha256sum", "md5sum", "base64", "date"],
]);

/** They name files without changing them; `git commit` runs hooks all the same. */
const GIT_STAGERS: ReadonlySet<string> = new Set([...GIT_READERS, "add", "commit"]);

/** True where the command is made of nothing but these programs and these subcommands of git. */
function isOnlyOf(command: string, programs: ReadonlySet<string>, subcommands: ReadonlySet<string>): boolean {
  const bare = command
    .replace(/'[^']*'|"[^"$`\\]*"/g, "Q")
    .replace(/\d?>&\d|\d?>\s*\/dev\/null(?=\s|$)/g, "");
  if (/[<>`$\\(){}"']/.test(bare)) return false;
  return commandsIn(bare).every((part) => {
    const [program = "", subcommand = ""] = part.trim().split(/\s+/);
    return program === "" || programs.has(program) || (program === "git" && subcommands.has(subcommand));
  });
}

/** A name may be as long as a file system permits. */
const shown = (name: string): string => (name.length <= TITLE_CHARS ? name : `${headOf(name, TITLE_CHARS)}…`);
