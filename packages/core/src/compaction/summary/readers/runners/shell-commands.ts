import { unixPath } from "../shell/paths.ts";
import { isPipe, readShellLine, type SimpleCommand } from "../shell/shell-line.ts";

/** Reads what the position of each command in a shell line says about its exit code and output. */

/** Redirection and pipe that an output went through before the agent saw it. */
export type OutputFilter =
  /** The first or last lines. */
  | { readonly kind: "head" | "tail"; readonly lines: number }
  /** The lines that contain one of the texts. `undefined`: the pattern is more than a list of texts. */
  | { readonly kind: "grep"; readonly texts: readonly string[] | undefined; readonly ignoresCase: boolean }
  /** Any other program. */
  | { readonly kind: "opaque" }
  /** A file that nothing prints. */
  | { readonly kind: "hidden" };

export interface ShellCommand {
  /** Words without quotes, assignments and redirections. */
  readonly words: readonly string[];
  /** Folder in which the command runs, with plain slashes. Undefined if it has no known name. */
  readonly directory: string | undefined;
  /** True if exit code 0 of the whole line proves that this command succeeded. */
  readonly isProvenByZero: boolean;
  /** True if this command can be the one that made the whole line fail. */
  readonly canFailLine: boolean;
  readonly filters: readonly OutputFilter[];
  /** True if the error output is dropped. */
  readonly dropsErrors: boolean;
  /** True if the command runs in the background. */
  readonly isBackground: boolean;
  /** Text of a later `echo` that runs only if this command succeeded. */
  readonly echoedAfter: string | undefined;
}

const DEFAULT_LINES = 10;

/** Returns the commands of a line, in order. `cwd`: the folder in which the line starts. */
export function shellCommands(line: string, cwd?: string): readonly ShellCommand[] {
  const { commands, lastList } = readShellLine(line, cwd);
  const firstControl = commands.findIndex(
    ({ keywords, words: [first = ""] }) => keywords.length > 0 || CONTROL_WORDS.test(first),
  );
  const hasKeywords = firstControl !== -1;
  const stopsOnError = commands.some(({ words }) => words[0] === "set" && /^-\w*e/.test(words[1] ?? ""));
  const withOr = new Set(commands.flatMap(({ after, list }) => (after === "||" ? [list] : [])));
  return commands.map((command, index): ShellCommand => {
    const { words, folder, after, list, pipedTo } = command;
    const canFailLine = !isPipe(after) && pipedTo === undefined && (list === lastList || stopsOnError);
    return {
      words,
      directory: unixPath(folder) || undefined,
      isProvenByZero: canFailLine && !hasKeywords && !withOr.has(list) && after !== "&",
      canFailLine,
      filters: filtersAfter(commands, index),
      dropsErrors: dropsErrors(command),
      isBackground: after === "&",
      echoedAfter:
        pipedTo === undefined && (index < firstControl || !hasKeywords)
          ? echoAfter(commands, index)
          : undefined,
    };
  });
}

/** Returns the text of the first `echo` that follows a command through `&&` alone. */
function echoAfter(commands: readonly SimpleCommand[], index: number): string | undefined {
  for (let at = index; commands[at]?.after === "&&"; ) {
    const { words = [], redirections = [] } = commands[++at] ?? {};
    const text = words.slice(1).join(" ");
    if (words[0] === "echo" && redirections.length === 0 && /^\w[^$\\]{3,}$/.test(text)) return text;
  }
  return undefined;
}

/** Returns true for a command that prepares a line and is not the reason for its failure. */
export const isSetUp = ({ words: [program = ""] }: ShellCommand): boolean =>
  /^(?:cd|pushd|export|set|source|\.|sleep|true)$/.test(program);

/** Words that start a loop, a choice or a function. */
const CONTROL_WORDS = /^(?:for|case|function)$/;

/** Returns true if the last redirection of the error output drops it. */
function dropsErrors({ redirections }: SimpleCommand): boolean {
  const last = redirections.findLast(({ operator }) => /^(?:2>|&>)/.test(operator));
  return last !== undefined && (last.operator.startsWith("&") || last.target === "/dev/null");
}

const outputFile = ({ redirections }: SimpleCommand): string | undefined =>
  redirections.findLast(({ operator, target }) => /^[1&]?>/.test(operator) && target !== "")?.target;

/** Returns what the output of a command went through. */
function filtersAfter(commands: readonly SimpleCommand[], index: number): readonly OutputFilter[] {
  const filters: OutputFilter[] = [];
  let shown = commands[index];
  let at = index;
  const file = shown && outputFile(shown);
  if (file !== undefined) {
    at = commands.findIndex(
      ({ words }, place) => place > index && file !== "/dev/null" && words.includes(file),
    );
    shown = commands[at];
    if (shown === undefined) return [{ kind: "hidden" }];
    filters.push(...filterOf(shown.words.filter((word) => word !== file)));
  }
  let next = shown?.pipedTo ?? at + 1;
  let isPiped = shown?.pipedTo !== undefined || isPipe(shown?.after);
  for (let filter = commands[next]; isPiped && filter !== undefined; filter = commands[++next]) {
    filters.push(...filterOf(filter.words));
    isPiped = isPipe(filter.after);
  }
  return filters;
}

function filterOf(words: readonly string[]): readonly OutputFilter[] {
  const [program = "", ...args] = words;
  if (program === "tee" || program === "cat" || program === "less" || program === "more") return [];
  if (program === "head" || program === "tail") {
    const [, count] = /(?:^|\s)-(?:n\s*|-lines[= ])?(\d{1,7})\b/.exec(args.join(" ")) ?? [];
    const isFrom = args.some((arg) => arg.startsWith("+")) || args.includes("-c");
    return [
      isFrom
        ? { kind: "opaque" }
        : { kind: program, lines: count === undefined ? DEFAULT_LINES : Number(count) },
    ];
  }
  if (program === "grep" || program === "egrep" || program === "rg") return [grepFilter(args)];
  return [{ kind: "opaque" }];
}

function grepFilter(args: readonly string[]): OutputFilter {
  const options = args.filter((arg) => arg.startsWith("-"));
  const [pattern] = args.filter((arg) => !arg.startsWith("-") && !/^\d+$/.test(arg));
  const isOther = options.some((option) =>
    /^-[a-zA-Z]*[vcloqL]|^--(?:invert|count|files|only|quiet)/.test(option),
  );
  if (isOther || pattern === undefined) return { kind: "opaque" };
  const texts = pattern
    .replace(/\\([|()])/g, "$1")
    .split("|")
    .map((text) => text.replace(/^[\^(\s]+|[)$:\s]+$/g, ""))
    .filter((text) => text !== "");
  const ignoresCase = options.some((option) => /^-[a-zA-Z]*i/.test(option));
  return {
    kind: "grep",
    texts: texts.every((text) => !/[.*+?[\]{}\\]/.test(text)) ? texts : undefined,
    ignoresCase,
  };
}
