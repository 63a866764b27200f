import { headOf } from "../../../messages/text.ts";

/** Reads which files a shell command visibly writes, moves or removes, and where the shell is afterward. */

export type ShellFileUse =
  | { readonly kind: "write" | "edit" | "remove"; readonly path: string }
  | { readonly kind: "move"; readonly path: string; readonly from: string };

interface ShellRun {
  readonly uses: readonly ShellFileUse[];
  /** Folder of the shell after the command, or undefined if the command does not show it. */
  readonly cwd: string | undefined;
}

/** Characters of a command to scan. A longer command contains a document. */
const SCANNED_CHARS = 4_000;
/** Maximum number of simple commands to read in one command line. */
const MAX_COMMANDS = 60;

/**
 * Reads a command. Relative paths are resolved against `cwd` and the `cd` commands before them. If the folder
 * is unknown, a path stays as it is written.
 */
export function readShellFiles(command: string, cwd?: string): ShellRun {
  const uses: ShellFileUse[] = [];
  const folders: Folder[] = [{ at: slashed(cwd ?? ""), before: undefined }];
  const made = new Set<string>();
  for (const { words, opens, closes, isPiped } of simpleCommands(headOf(command, SCANNED_CHARS))) {
    for (let nth = 0; nth < opens; nth++) folders.push({ ...(folders.at(-1) ?? NOWHERE) });
    const folder = folders.at(-1) ?? NOWHERE;
    // A command in a pipe runs in a shell of its own, so its `cd` has no effect on the next command.
    if (!isPiped) changeFolder(folder, words);
    if (words[0] === "mkdir") for (const word of words.slice(1)) made.add(resolved(word, folder.at));
    uses.push(...usesOf(words, folder.at, made));
    for (let nth = 0; nth < closes && folders.length > 1; nth++) folders.pop();
  }
  return { uses, cwd: folders[0]?.at || undefined };
}

interface Folder {
  /** Path of the folder: "" for the unnamed start, undefined if it is unknown. */
  at: string | undefined;
  /** Folder before the last `cd`, for `cd -`. */
  before: string | undefined;
}

const NOWHERE: Folder = { at: undefined, before: undefined };

function changeFolder(folder: Folder, words: readonly string[]): void {
  const [program, ...rest] = words;
  if (program !== "cd" && program !== "pushd" && program !== "chdir" && program !== "popd") return;
  const target = rest.find((word) => word === "-" || !word.startsWith("-"));
  const { at, before } = folder;
  folder.before = at;
  if (program === "popd" || target === "-") folder.at = before;
  else folder.at = target === undefined || isUnclear(target) ? undefined : resolved(target, at);
}

/** True for a word that the shell replaces, so that it does not show a path. */
const isUnclear = (word: string): boolean => /[$`*?~]/.test(word);

const slashed = (path: string): string => path.replace(/\\/g, "/");

const isAbsolute = (path: string): boolean => /^(?:\/|[A-Za-z]:\/)/.test(path);

/** Returns `D:/x` for the path `/d/x` of a Unix shell on Windows. */
const withDrive = (path: string, folder: string | undefined): string =>
  folder !== undefined && /^[A-Za-z]:/.test(folder) && /^\/[A-Za-z]\//.test(path)
    ? `${path.charAt(1).toUpperCase()}:${path.slice(2)}`
    : path;

/** Resolves a path against a folder, without the parts "." and "..". */
function resolved(path: string, folder: string | undefined): string {
  const plain = withDrive(slashed(path), folder);
  if (isAbsolute(plain)) return normalized(plain);
  return normalized(folder === undefined || folder === "" ? plain : `${folder}/${plain}`);
}

function normalized(path: string): string {
  const root = /^(?:[A-Za-z]:)?\//.exec(path)?.[0] ?? "";
  const parts: string[] = [];
  for (const part of path.slice(root.length).split("/")) {
    if (part === "" || part === ".") continue;
    if (part === ".." && parts.length > 0 && parts.at(-1) !== "..") parts.pop();
    else if (part !== ".." || root === "") parts.push(part);
  }
  return `${root}${parts.join("/")}`;
}

/** `made`: folders that the same command line made. */
function usesOf(
  words: readonly string[],
  folder: string | undefined,
  made: ReadonlySet<string>,
): readonly ShellFileUse[] {
  const [program = "", ...rest] = words[0] === "git" ? words.slice(1) : words;
  const place = (path: string): string => resolved(path, folder);
  const written = redirected(words).map((path): ShellFileUse => ({ kind: "write", path: place(path) }));
  const paths = rest.filter((word) => !word.startsWith("-") && word !== ">" && word !== ">>");
  switch (program) {
    case "rm":
      return paths.filter(isClearPath).map((path): ShellFileUse => ({ kind: "remove", path: place(path) }));
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

function redirected(words: readonly string[]): readonly string[] {
  if (!WRITERS.has(words[0] ?? "")) return [];
  return words.flatMap((word, index) => {
    const target = words[index + 1];
    return (word === ">" || word === ">>") && target !== undefined && isFile(target) ? [target] : [];
  });
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
    const name = from.split("/").at(-1) ?? from;
    return { kind: "move", from, path: isFolder ? place(`${target}/${name}`) : place(target) };
  });
}

const isClearPath = (word: string): boolean => word !== "" && !isUnclear(word);

/** True for a word that names a file with an extension. */
const isFile = (word: string): boolean => isClearPath(word) && /^[\w./\\:@+-]+\.\w{1,8}$/.test(word);

interface SimpleCommand {
  readonly words: readonly string[];
  /** Number of subshells that open before the command and close after it. */
  readonly opens: number;
  readonly closes: number;
  readonly isPiped: boolean;
}

const TOKEN =
  /\s*(?:(\n)|(&&|\|\||;|\||&(?!\d|>))|([()])|(\d?>&\d|&>|\d?>>|\d?>)|(<<<|<<-?\s*(?:"[^"\n]*"|'[^'\n]*'|[\w-]+)|<)|((?:\\[\s\S]|"(?:\\[\s\S]|[^"\\])*"|'[^']*'|[^\s;&|()<>"'\\])+)|([\s\S]))/y;

/** Splits a command line into simple commands, without comments and here-documents. */
function simpleCommands(text: string): readonly SimpleCommand[] {
  const commands: SimpleCommand[] = [];
  let words: string[] = [];
  let [opens, isPiped] = [0, false];
  const pending: string[] = [];
  const end = (closes: number, pipes: boolean): void => {
    if (words.length > 0 || closes > 0 || opens > 0)
      commands.push({ words: withoutVariables(words), opens, closes, isPiped: isPiped || pipes });
    [words, opens, isPiped] = [[], 0, pipes];
  };
  const lines = text.split("\n");
  const body = (delimiter: string, from: number): number => {
    const at = lines.findIndex((line, index) => index >= from && line.trim() === delimiter);
    return at === -1 ? lines.length : at + 1;
  };
  for (let at = 0; at < lines.length && commands.length < MAX_COMMANDS; ) {
    let line = lines[at++] ?? "";
    // A quotation or a backslash at the end of a line continues on the next line.
    while (at < lines.length && isOpen(line)) line += `\n${lines[at++]}`;
    for (const [, , separator, bracket, redirection, input, word] of line.matchAll(new RegExp(TOKEN, "gy"))) {
      if (separator !== undefined) end(0, separator === "|");
      else if (bracket === "(") opens++;
      else if (bracket === ")") end(1, false);
      else if (redirection !== undefined) {
        if (/^>>?$/.test(redirection)) words.push(redirection);
      } else if (input?.startsWith("<<") && !input.startsWith("<<<"))
        pending.push(unquoted(input.replace(/^<<-?\s*/, "")));
      else if (word?.startsWith("#")) break;
      else if (word !== undefined) words.push(unquoted(word));
    }
    end(0, false);
    for (const delimiter of pending.splice(0)) at = body(delimiter, at);
  }
  return commands;
}

/** Returns true if a quotation of the line is not closed yet. */
function isOpen(line: string): boolean {
  let quote = "";
  for (let at = 0; at < line.length; at++) {
    const character = line[at] ?? "";
    if (character === "\\" && quote !== "'") at++;
    else if (quote === "" && (character === '"' || character === "'")) quote = character;
    else if (character === quote) quote = "";
  }
  return quote !== "" || line.endsWith("\\");
}

const unquoted = (word: string): string =>
  word.replace(/"((?:\\[\s\S]|[^"\\])*)"|'([^']*)'|\\([\s\S])/g, (_, double, single, escaped) => {
    if (double !== undefined) return String(double).replace(/\\(["\\$`])/g, "$1");
    return String(single ?? (escaped === "\n" ? "" : escaped));
  });

/** Removes assignments and wrappers before the program. */
function withoutVariables(words: readonly string[]): readonly string[] {
  const start = words.findIndex((word) => !/^\w+=/.test(word) && word !== "sudo" && word !== "command");
  return start === -1 ? [] : words.slice(start);
}
