import { headOf } from "../../../../messages/text.ts";
import { resolvedPath, slashed } from "./paths.ts";

/** Splits a shell command line into simple commands, and follows the folder in which each of them runs. */

export interface SimpleCommand {
  /** Words without quotes, redirections, and the keywords and assignments before them. */
  readonly words: readonly string[];
  /** Keywords before the command, such as `if`, `then` and `!`. */
  readonly keywords: readonly string[];
  readonly redirections: readonly Redirection[];
  /** Folder in which the command runs, or to which it changes. "" if it has no known name. */
  readonly folder: string;
  /** Operator after the command. */
  readonly after: string;
  /** Index of the and-or list that has the command. */
  readonly list: number;
  /** Index of the first command after the group that has this command, if the group is piped. */
  readonly pipedTo: number | undefined;
}

export interface Redirection {
  readonly operator: string;
  /** File or word after the operator. "" for an operator such as `2>&1`. */
  readonly target: string;
}

interface ShellLine {
  readonly commands: readonly SimpleCommand[];
  /** Folder of the shell after the line. "" if it has no known name. */
  readonly folder: string;
  /** Last and-or list. It can have assignments only. */
  readonly lastList: number;
}

/** Characters of a command line to read. A longer line is a script with its data. */
const READ_CHARS = 6_000;
/** Maximum number of simple commands to read in one command line. */
const MAX_COMMANDS = 60;

/** Reads a command line. `cwd`: the folder in which it starts. */
export function readShellLine(line: string, cwd = ""): ShellLine {
  const parser = new Parser(slashed(cwd));
  for (const token of tokensOf(headOf(line, READ_CHARS))) parser.read(token);
  return parser.end();
}

export const isPipe = (operator: string | undefined): boolean => operator === "|" || operator === "|&";

interface Token {
  readonly kind: "word" | "operator" | "redirection";
  /** Text without quotes. */
  readonly text: string;
  /** Text as it is written. */
  readonly source: string;
}

const OPERATOR = /^(?:&&|\|\||;;|\|&|[;|&()\n])/;
const REDIRECTION = /^(?:\d?>&\d?-?|&>>?|\d?>>?\|?|<<<|\d?<(?!<)&?)/;
/** A redirection of one stream to another, without a file. */
const HAS_NO_TARGET = /&[\d-]+$/;
/** A heredoc, without the lines of the text. */
const HEREDOC = /^<<-?[ \t]*(?:'([^'\n]*)'|"([^"\n]*)"|\\?([\w.-]+))/;

/** Splits a command line into words and operators. Comments and the text of heredocs are left out. */
function tokensOf(line: string): readonly Token[] {
  const tokens: Token[] = [];
  const ends: string[] = [];
  let rest = line;
  const take = (kind: Token["kind"], source: string, text = source): void => {
    tokens.push({ kind, text, source });
    rest = rest.slice(source.length);
  };
  while (rest !== "") {
    const blank = /^(?:[ \t\r]+|\\\r?\n)+/.exec(rest)?.[0];
    const heredoc = HEREDOC.exec(rest);
    const redirection = REDIRECTION.exec(rest)?.[0];
    const operator = OPERATOR.exec(rest)?.[0];
    if (blank !== undefined) rest = rest.slice(blank.length);
    else if (rest.startsWith("#")) rest = rest.slice(lineEnd(rest));
    else if (heredoc !== null) {
      ends.push(heredoc[1] ?? heredoc[2] ?? heredoc[3] ?? "");
      rest = rest.slice(heredoc[0].length);
    } else if (redirection !== undefined) take("redirection", redirection);
    else if (operator !== undefined) {
      take("operator", operator);
      if (operator === "\n") rest = afterHeredocs(rest, ends.splice(0));
    } else {
      const { text, length } = readWord(rest);
      take("word", rest.slice(0, Math.max(1, length)), text);
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

/** Reads one word with its quotes. A substitution stays a part of the word, as it is written. */
function readWord(source: string): { readonly text: string; readonly length: number } {
  let text = "";
  let at = 0;
  while (at < source.length) {
    const char = source.charAt(at);
    if (char === "'" || char === '"') {
      const end = quoteEnd(source, at);
      const inside = source.slice(at + 1, end);
      text += char === "'" ? inside : inside.replace(/\\(?:\n|(["\\$`]))/g, "$1");
      at = end + 1;
    } else if (char === "`" || (char === "$" && source.charAt(at + 1) === "(")) {
      const end = char === "`" ? quoteEnd(source, at) : substitutionEnd(source, at + 1);
      text += source.slice(at, end + 1);
      at = end + 1;
    } else if (char === "\\") {
      text += source.charAt(at + 1).replace("\n", "");
      at += 2;
    } else if (/[\s;|&()<>]/.test(char)) break;
    else {
      text += char;
      at++;
    }
  }
  return { text, length: at };
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

const KEYWORDS: ReadonlySet<string> = new Set("if while until then do else elif !".split(" "));
const ASSIGNMENT = /^\w+\+?=/;
/** A substitution runs a command, so an assignment with one is more than a setting. */
const SUBSTITUTION = /\$\(|`/;

type OpenCommand = { -readonly [Key in keyof SimpleCommand]: SimpleCommand[Key] } & {
  readonly words: string[];
  readonly keywords: string[];
  readonly redirections: Redirection[];
};

/** Folder of a shell, and the folder before the last `cd`. */
interface ShellFolder {
  readonly now: string;
  readonly before: string | undefined;
}

/** Commands in brackets or braces. */
interface Group {
  /** Index of the first command. */
  readonly start: number;
  /** Folder before the group. */
  readonly folder: ShellFolder;
}

class Parser {
  readonly #commands: OpenCommand[] = [];
  readonly #groups: Group[] = [];
  #folder: ShellFolder;
  /** Group that closed just before. */
  #closed: Group | undefined;
  #command: OpenCommand = newCommand(0);
  /** Redirection that waits for its target. */
  #redirection: string | undefined;
  /** Operator before the current command. */
  #last = "";
  /** True if nothing follows an operator such as `&&` yet, so that the command continues on the next line. */
  #isJoined = false;
  #lastList = 0;

  constructor(cwd: string) {
    this.#folder = { now: cwd, before: undefined };
  }

  read(token: Token): void {
    const isNewline = token.kind === "operator" && token.text === "\n";
    const isJoined = this.#isJoined && isNewline;
    this.#isJoined = isJoined || (token.kind === "operator" && JOINS.test(token.text));
    if (isJoined) return;
    if (token.kind === "word") this.#word(token);
    else if (token.kind === "redirection") this.#redirect(token.text);
    else this.#operator(token.text);
  }

  end(): ShellLine {
    this.#finish("");
    // A subshell that stays open has not changed the folder of the shell around it.
    const { now } = this.#groups[0]?.folder ?? this.#folder;
    return { commands: this.#commands.slice(0, MAX_COMMANDS), folder: now, lastList: this.#lastList };
  }

  #word({ text, source }: Token): void {
    const { words, keywords, redirections } = this.#command;
    if (this.#redirection !== undefined) {
      redirections.push({ operator: this.#redirection, target: text });
      this.#redirection = undefined;
    } else if (words.length > 0) words.push(text);
    else if (source === "{") this.#open();
    else if (source === "}") this.#closed = this.#groups.pop();
    else if (KEYWORDS.has(source)) keywords.push(text);
    else if (!ASSIGNMENT.test(source) || SUBSTITUTION.test(source)) words.push(text);
    else this.#lastList = this.#command.list;
  }

  #redirect(operator: string): void {
    if (HAS_NO_TARGET.test(operator)) this.#command.redirections.push({ operator, target: "" });
    else this.#redirection = operator;
  }

  #operator(operator: string): void {
    if (operator === "(") this.#open();
    else if (operator === ")") {
      const group = this.#groups.pop();
      this.#finish("");
      this.#closed = group;
      if (group !== undefined) this.#folder = group.folder;
    } else this.#finish(operator);
    this.#last = operator;
  }

  #open(): void {
    this.#groups.push({ start: this.#commands.length, folder: this.#folder });
    this.#last = "";
  }

  /** Ends the current command at an operator. */
  #finish(after: string): void {
    const command = this.#command;
    const group = this.#closed;
    command.after = after;
    if (command.words.length > 0) {
      // A command in a pipe or in the background runs in a shell of its own, so its `cd` has no effect.
      if (!isPipe(after) && !isPipe(this.#last) && after !== "&") this.#changeFolder(command.words);
      command.folder = this.#folder.now;
      this.#lastList = command.list;
      this.#commands.push(command);
    } else if (group !== undefined && isPipe(after)) {
      this.#folder = group.folder;
      for (const inside of this.#commands.slice(group.start)) inside.pipedTo ??= this.#commands.length;
    } else if (after === "&&" || after === "||") {
      const before = this.#commands.at(-1);
      if (before !== undefined) before.after = after;
    }
    this.#closed = undefined;
    this.#redirection = undefined;
    this.#command = newCommand(command.list + (/^(?:;;?|\n|&)$/.test(after) ? 1 : 0));
  }

  #changeFolder([program = "", ...rest]: readonly string[]): void {
    if (!/^(?:cd|pushd|chdir|popd)$/.test(program)) return;
    const target = rest.find((word) => word === "-" || !word.startsWith("-")) ?? "~";
    const { now, before } = this.#folder;
    const isBack = program === "popd" || target === "-";
    const next = isBack ? (before ?? resolvedPath("$OLDPWD", now)) : resolvedPath(target, now);
    this.#folder = { now: next, before: now };
  }
}

/** Operators after which the command continues on the next line. */
const JOINS = /^(?:&&|\|\||\|&?)$/;

const newCommand = (list: number): OpenCommand => ({
  words: [],
  keywords: [],
  redirections: [],
  folder: "",
  after: "",
  list,
  pipedTo: undefined,
});
