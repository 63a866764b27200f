import { headOf } from "../../../../messages/text.ts";

/** Splits a shell command line into its commands, with what their position says about exit code and output. */

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
  /** Last directory that a `cd` before it names, as written. */
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
}

/** Characters of a command to read. A longer command is a script with its data. */
const READ_CHARS = 6_000;
const MAX_COMMANDS = 60;
const DEFAULT_LINES = 10;

interface Token {
  readonly kind: "word" | "operator";
  readonly text: string;
  /** True if quotes or escapes surrounded a part of the word. */
  readonly isQuoted: boolean;
}

const OPERATOR = /^(?:&&|\|\||;;|\|&|[;|&()\n])/;
const REDIRECTION = /^(?:\d?>&\d?-?|&>>?|\d?>>?\|?|\d?<(?!<)&?)/;
/** A heredoc, without the lines of the text. `<<<` takes a word instead. */
const HEREDOC = /^<<-?\s*(?:'([^'\n]*)'|"([^"\n]*)"|\\?([\w.-]+))/;

/** Splits a command line into words and operators. Comments and the text of heredocs are left out. */
function tokensOf(source: string): readonly Token[] {
  const tokens: Token[] = [];
  const ends: string[] = [];
  let rest = source;
  while (rest !== "") {
    const blank = /^(?:[ \t\r]+|\\\n)+/.exec(rest)?.[0];
    if (blank !== undefined) rest = rest.slice(blank.length);
    else if (rest.startsWith("#")) rest = rest.slice(lineEnd(rest));
    else {
      const heredoc = HEREDOC.exec(rest);
      const operator = OPERATOR.exec(rest)?.[0];
      const redirection =
        operator === "&" || operator === undefined ? REDIRECTION.exec(rest)?.[0] : undefined;
      if (heredoc !== null && !rest.startsWith("<<<")) {
        ends.push(heredoc[1] ?? heredoc[2] ?? heredoc[3] ?? "");
        rest = rest.slice(heredoc[0].length);
      } else if (redirection !== undefined) {
        tokens.push({ kind: "operator", text: redirection, isQuoted: false });
        rest = rest.slice(redirection.length);
      } else if (operator !== undefined) {
        tokens.push({ kind: "operator", text: operator, isQuoted: false });
        rest = rest.slice(operator.length);
        if (operator === "\n") rest = afterHeredocs(rest, ends.splice(0));
      } else {
        const word = readWord(rest);
        tokens.push({ kind: "word", text: word.text, isQuoted: word.isQuoted });
        rest = rest.slice(Math.max(1, word.length));
      }
    }
  }
  return tokens;
}

const lineEnd = (text: string): number => {
  const at = text.indexOf("\n");
  return at === -1 ? text.length : at;
};

/** Returns the text after the heredocs whose last lines are `ends`. */
function afterHeredocs(text: string, ends: readonly string[]): string {
  let rest = text;
  for (const end of ends) {
    let found = false;
    while (rest !== "" && !found) {
      const at = lineEnd(rest);
      found = rest.slice(0, at).trim() === end;
      rest = rest.slice(at + 1);
    }
  }
  return rest;
}

/** Reads one word with its quotes. A substitution `$(…)` stays a part of the word. */
function readWord(source: string): {
  readonly text: string;
  readonly length: number;
  readonly isQuoted: boolean;
} {
  let text = "";
  let at = 0;
  let isQuoted = false;
  while (at < source.length) {
    const char = source.charAt(at);
    if (char === "'" || char === '"' || char === "`") {
      const end = quoteEnd(source, at);
      text += source.slice(at + 1, end);
      at = end + 1;
      isQuoted = true;
    } else if (char === "\\") {
      text += source.charAt(at + 1);
      at += 2;
    } else if (char === "$" && source.charAt(at + 1) === "(") {
      const end = substitutionEnd(source, at + 1);
      text += source.slice(at, end + 1);
      at = end + 1;
      isQuoted = true;
    } else if (/[\s;|&()<>]/.test(char)) break;
    else {
      text += char;
      at++;
    }
  }
  return { text, length: at, isQuoted };
}

function quoteEnd(source: string, start: number): number {
  const quote = source.charAt(start);
  for (let at = start + 1; at < source.length; at++) {
    const char = source.charAt(at);
    if (char === quote) return at;
    if (char === "\\" && quote !== "'") at++;
    else if (char === "$" && quote === '"' && source.charAt(at + 1) === "(")
      at = substitutionEnd(source, at + 1);
  }
  return source.length;
}

/** Returns the position of the bracket that closes a substitution. Brackets in quotes count as well. */
function substitutionEnd(source: string, start: number): number {
  let depth = 0;
  for (let at = start; at < source.length; at++) {
    const char = source.charAt(at);
    if (char === "(") depth++;
    else if (char === ")" && --depth === 0) return at;
    else if (char === "\\") at++;
  }
  return source.length;
}

interface Part {
  readonly words: string[];
  readonly texts: Token[];
  /** Operator after the command. */
  after: string;
  /** Index of the and-or list that has the command. */
  readonly list: number;
  outputFile: string | undefined;
  dropsErrors: boolean;
  /** Index of the first command after the group that has this command, if the group is piped. */
  pipedTo: number | undefined;
}

/** Returns the commands of a line, in order. `cwd`: the directory in which the line starts. */
export function shellCommands(line: string, cwd?: string): readonly ShellCommand[] {
  const parts = partsOf(tokensOf(headOf(line, READ_CHARS))).slice(0, MAX_COMMANDS);
  const hasKeywords = parts.some(({ words: [first = ""] }) => CONTROL_WORDS.has(first));
  const stopsOnError = parts.some(({ words }) => words[0] === "set" && /^-\w*e/.test(words[1] ?? ""));
  const lastList = parts.at(-1)?.list ?? 0;
  const withOr = new Set(parts.flatMap(({ after, list }) => (after === "||" ? [list] : [])));
  let directory = cwd;
  return parts.map((part, index): ShellCommand => {
    const words = withoutKeywords(part.words);
    if (words[0] === "cd" || words[0] === "pushd") directory = joinedPath(directory, words[1]);
    const isPiped = part.after === "|" || part.after === "|&" || part.pipedTo !== undefined;
    const isLast = part.list === lastList;
    return {
      words,
      directory,
      isProvenByZero:
        !isPiped && !hasKeywords && !withOr.has(part.list) && (isLast || stopsOnError) && part.after !== "&",
      canFailLine: !isPiped && (isLast || stopsOnError),
      filters: filtersAfter(parts, index),
      dropsErrors: part.dropsErrors,
      isBackground: part.after === "&",
    };
  });
}

const CONTROL_WORDS: ReadonlySet<string> = new Set(["if", "for", "while", "until", "case", "!", "function"]);
const LEADING_WORDS: ReadonlySet<string> = new Set([
  "if",
  "while",
  "until",
  "then",
  "do",
  "else",
  "elif",
  "!",
  "{",
]);

function withoutKeywords(words: readonly string[]): readonly string[] {
  const start = words.findIndex((word) => !LEADING_WORDS.has(word));
  return start === -1 ? [] : words.slice(start);
}

const newPart = (list: number): Part => ({
  words: [],
  texts: [],
  after: "",
  list,
  outputFile: undefined,
  dropsErrors: false,
  pipedTo: undefined,
});

function partsOf(tokens: readonly Token[]): readonly Part[] {
  const parts: Part[] = [];
  const groups: number[] = [];
  let closed: number | undefined;
  let list = 0;
  let part = newPart(list);
  const push = (after: string): void => {
    part.after = after;
    if (part.words.length > 0) parts.push(part);
    else if (closed !== undefined && after.startsWith("|") && after !== "||") {
      for (const inside of parts.slice(closed)) inside.pipedTo ??= parts.length;
    } else if (parts.length > 0 && (after === "&&" || after === "||")) {
      const before = parts.at(-1);
      if (before !== undefined) before.after = after;
    }
    closed = undefined;
  };
  for (const [index, token] of tokens.entries()) {
    if (token.kind === "word") {
      if (tokens[index - 1]?.kind === "operator" && REDIRECTION.test(tokens[index - 1]?.text ?? "")) {
        redirect(part, tokens[index - 1]?.text ?? "", token.text);
      } else if (token.text === "{" && !token.isQuoted && part.words.length === 0) groups.push(parts.length);
      else if (token.text === "}" && !token.isQuoted && part.words.length === 0) closed = groups.pop();
      else if (part.words.length > 0 || token.isQuoted || !ASSIGNMENT.test(token.text)) {
        part.words.push(token.text);
        part.texts.push(token);
      }
    } else if (token.text === "(") groups.push(parts.length);
    else if (token.text === ")") {
      const start = groups.pop();
      push("");
      closed = start;
      part = newPart(list);
    } else if (/^[;|&\n]/.test(token.text) && !REDIRECTION.test(token.text)) {
      push(token.text);
      if (/^(?:;|;;|\n|&)$/.test(token.text) && tokens[index + 1] !== undefined) list++;
      part = newPart(list);
    } else if (/2>&1|^&>/.test(token.text)) part.dropsErrors = false;
  }
  push("");
  // A line that ends with `;` has no list after it.
  return parts;
}

const ASSIGNMENT = /^\w+\+?=/;

function redirect(part: Part, operator: string, file: string): void {
  if (operator.startsWith("2>")) part.dropsErrors = file === "/dev/null";
  else if (/^[1&]?>/.test(operator)) {
    part.outputFile = file;
    if (operator.startsWith("&")) part.dropsErrors = true;
  }
}

/** Returns what the output of a command went through. */
function filtersAfter(parts: readonly Part[], index: number): readonly OutputFilter[] {
  const filters: OutputFilter[] = [];
  const part = parts[index];
  if (part === undefined) return filters;
  const { outputFile } = part;
  let at = index;
  if (outputFile !== undefined) {
    const shown = parts.findIndex(
      (later, place) => place > index && outputFile !== "/dev/null" && later.words.includes(outputFile),
    );
    const shower = parts[shown];
    if (shower === undefined) return [{ kind: "hidden" }];
    filters.push(...filterOf(shower.words.filter((word) => word !== outputFile)));
    at = shown;
  }
  let next = parts[at]?.pipedTo ?? (isPipe(parts[at]?.after) ? at + 1 : undefined);
  while (next !== undefined) {
    const filter: Part | undefined = parts[next];
    if (filter === undefined) break;
    filters.push(...filterOf(filter.words));
    next = isPipe(filter.after) ? next + 1 : undefined;
  }
  return filters;
}

const isPipe = (operator: string | undefined): boolean => operator === "|" || operator === "|&";

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

/** Joins a directory with a `cd` that follows it. */
export function joinedPath(base: string | undefined, path: string | undefined): string | undefined {
  if (path === undefined || path === "." || path === "-" || path.includes("$")) return base;
  const slashed = path
    .replace(/[\\/]+/g, "/")
    .replace(/^([A-Za-z]):\//, (_, drive: string) => `/${drive.toLowerCase()}/`);
  if (slashed.startsWith("/") || slashed.startsWith("~") || base === undefined)
    return slashed.replace(/(.)\/+$/, "$1");
  const parts = base.replace(/\/+$/, "").split("/");
  for (const part of slashed.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "." && part !== "") parts.push(part);
  }
  return parts.join("/");
}
