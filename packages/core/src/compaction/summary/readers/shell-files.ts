import { clearPart, fileName, isUnclear, resolvedPath } from "./shell/paths.ts";
import { type Redirection, readShellLine } from "./shell/shell-line.ts";

/** Reads which files a shell command visibly writes, moves or removes, and where the shell is afterward. */

export type ShellFileUse =
  | { readonly kind: "write" | "edit" | "remove"; readonly path: string }
  | { readonly kind: "move"; readonly path: string; readonly from: string };

interface ShellRun {
  readonly uses: readonly ShellFileUse[];
  /** Folder of the shell after the command, or undefined if the command does not show it. */
  readonly cwd: string | undefined;
}

/**
 * Reads a command. Relative paths are resolved against `cwd` and the `cd` commands before them. If the folder
 * is unknown, a path stays as it is written.
 */
export function readShellFiles(command: string, cwd?: string): ShellRun {
  const made = new Set<string>();
  const { commands, folder } = readShellLine(command, cwd);
  const uses = commands.flatMap((simple) => {
    const words = withoutWrappers(simple.words);
    const at = clearPart(simple.folder);
    if (words[0] === "mkdir") for (const word of words.slice(1)) made.add(resolvedPath(word, at));
    return usesOf(words, simple.redirections, at, made);
  });
  return { uses: withoutRestored(uses), cwd: clearPart(folder) || undefined };
}

/** Leaves out changes that a later command of the line takes back. */
function withoutRestored(uses: readonly UseOrRestore[]): readonly ShellFileUse[] {
  return uses.flatMap((use, index) => {
    const isRestored = uses.slice(index).some(({ kind, path }) => kind === "restore" && path === use.path);
    return use.kind === "restore" || isRestored ? [] : [use];
  });
}

/** `restore`: the file is as it was before, because a backup or the repository replaces it. */
type UseOrRestore = ShellFileUse | { readonly kind: "restore"; readonly path: string };

/** Removes assignments and wrappers before the program. */
function withoutWrappers(words: readonly string[]): readonly string[] {
  const start = words.findIndex((word) => !/^\w+=|^(?:sudo|command)$/.test(word));
  return start === -1 ? [] : words.slice(start);
}

/** `made`: folders that the same command line made. */
function usesOf(
  words: readonly string[],
  redirections: readonly Redirection[],
  folder: string,
  made: ReadonlySet<string>,
): readonly UseOrRestore[] {
  const [program = "", ...rest] = words[0] === "git" ? words.slice(1) : words;
  const place = (path: string): string => resolvedPath(path, folder);
  const written = redirected(words, redirections).map(
    (path): ShellFileUse => ({ kind: "write", path: place(path) }),
  );
  const paths = rest.filter((word) => !word.startsWith("-"));
  switch (program) {
    case "rm":
      return paths.filter(isClearPath).map((path): ShellFileUse => ({ kind: "remove", path: place(path) }));
    case "checkout":
    case "restore":
      return paths.filter(isFile).map((path): UseOrRestore => ({ kind: "restore", path: place(path) }));
    case "cp":
      return paths.length === 2 && BACKUP.test(paths[0] ?? "") && isFile(paths[1] ?? "")
        ? [{ kind: "restore", path: place(paths[1] ?? "") }]
        : written;
    case "mv":
      return movesOf(paths, place, made);
    case "tee":
      return [
        ...written,
        ...paths.filter(isFile).map((path): ShellFileUse => ({ kind: "write", path: place(path) })),
      ];
    case "sed":
      return rest.some((word) => /^-[a-z]*i/.test(word))
        ? paths.filter(isFile).map((path): ShellFileUse => ({ kind: "edit", path: place(path) }))
        : written;
    default:
      return written;
  }
}

/** Programs whose output is text that the agent wrote. The output of other programs is a log. */
const WRITERS: ReadonlySet<string> = new Set(["cat", "echo", "printf"]);

function redirected(
  [program = ""]: readonly string[],
  redirections: readonly Redirection[],
): readonly string[] {
  if (!WRITERS.has(program)) return [];
  return redirections.flatMap(({ operator, target }) =>
    /^1?>/.test(operator) && isFile(target) ? [target] : [],
  );
}

/** Returns the moves of `mv`. A last word that is a folder receives every file under its own name. */
function movesOf(
  paths: readonly string[],
  place: (path: string) => string,
  made: ReadonlySet<string>,
): readonly ShellFileUse[] {
  const target = paths.at(-1);
  const sources = paths.slice(0, -1);
  if (target === undefined || sources.length === 0 || !paths.every(isClearPath)) return [];
  const isFolder =
    sources.length > 1 || target.endsWith("/") || /^\.\.?$/.test(target) || made.has(place(target));
  return sources.map((source): ShellFileUse => {
    const from = place(source);
    return { kind: "move", from, path: isFolder ? place(`${target}/${fileName(from)}`) : place(target) };
  });
}

/** A copy that a command line made before it changed a file. */
const BACKUP = /^\/tmp\/|\.(?:bak|orig|old|backup|saved?)$/i;

const isClearPath = (word: string): boolean => word !== "" && !isUnclear(word);

/** True for a word that names a file with an extension. */
const isFile = (word: string): boolean => isClearPath(word) && /^[\w./\\:@+-]+\.\w{1,8}$/.test(word);
