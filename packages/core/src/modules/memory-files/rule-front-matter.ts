/** The parts of a rule file. */
interface RuleText {
  /** The text without the front matter. */
  readonly body: string;
  /** Path patterns as written. Empty if the rule applies to everything. */
  readonly patterns: readonly string[];
  /**
   * Reason why the front matter could not be parsed. In that case the rule has no patterns and applies to
   * everything. A rule that applies too often is better than a rule that never applies.
   */
  readonly problem?: FrontMatterProblem;
}

type FrontMatterProblem = "front-matter-unclosed" | "front-matter-not-understood";

const PATTERN_KEYS: ReadonlySet<string> = new Set(["paths", "globs"]);
/** Any key without indentation. Only two keys are used. */
const KEY = /^([^\s#-](?:[^:]|:(?=\S))*):(?:[ \t]+(.*))?$/;
/** A file whose front matter is longer than this counts as having none. */
const MAX_LINES = 1_000;

/**
 * Parses only the subset of YAML that path patterns need: the keys `paths` and `globs`. The value is a list
 * with dashes, a list in brackets, or one line with commas. Skips everything else. Accepts common mistakes
 * that YAML forbids, such as an unquoted pattern that begins with `*`.
 */
export function readRule(text: string): RuleText {
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/, MAX_LINES);
  if (!/^---[ \t]*$/.test(lines[0] ?? "")) return { body: text, patterns: [] };
  const end = lines.findIndex((line, index) => index > 0 && /^(?:---|\.\.\.)[ \t]*$/.test(line));
  if (end < 0) return { body: text, patterns: [], problem: "front-matter-unclosed" };
  const body = afterLines(text, end + 1).replace(/^(?:[ \t]*\r?\n)+/, "");
  const patterns = patternsIn(lines.slice(1, end));
  if (patterns === undefined) return { body, patterns: [], problem: "front-matter-not-understood" };
  return { body, patterns };
}

function afterLines(text: string, count: number): string {
  let at = 0;
  for (let line = 0; line < count && at >= 0; line++) at = text.indexOf("\n", at) + 1 || -1;
  return at < 0 ? "" : text.slice(at);
}

/** Reads the patterns. Returns undefined if they are ambiguous. */
function patternsIn(lines: readonly string[]): readonly string[] | undefined {
  const patterns: string[] = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at] ?? "";
    const [, name, value = ""] = KEY.exec(line) ?? [];
    const key = name?.trim().replace(/^(["'])(.*)\1$/, "$2");
    if (key === undefined && !isBlank(line)) return undefined;
    let next = at + 1;
    if (key !== undefined) while (next < lines.length && isContinued(lines[next] ?? "")) next++;
    if (key !== undefined && PATTERN_KEYS.has(key)) {
      const found = valuesOf(value.trim(), lines.slice(at + 1, next));
      if (found === undefined) return undefined;
      patterns.push(...found);
    }
    at = next;
  }
  return patterns;
}

const isBlank = (line: string): boolean => /^\s*(?:#|$)/.test(line);

/**
 * Returns true if a line continues a value. List items and a closing bracket may have the same indentation as
 * their key.
 */
const isContinued = (line: string): boolean => isBlank(line) || /^(?:[ \t]|-(?:[ \t]|$)|\])/.test(line);

function valuesOf(value: string, below: readonly string[]): readonly string[] | undefined {
  const more = below.filter((line) => !isBlank(line)).map((line) => line.trim());
  if (value.startsWith("[")) {
    // When the lines are joined into one line, a comment would hide everything after it.
    const hasRemarks = more.length > 0 && [value, ...more.slice(0, -1)].some((line) => /[ \t]#/.test(line));
    return hasRemarks ? undefined : inBrackets([value, ...more].join(" "));
  }
  if (isBlank(value)) return more.length === 0 ? [] : inList(more);
  return more.length === 0 ? inLine(value) : undefined;
}

function inList(lines: readonly string[]): readonly string[] | undefined {
  const patterns: string[] = [];
  for (const line of lines) {
    const [, item] = /^-(?:[ \t]+(.*))?$/.exec(line) ?? [];
    const found = item === undefined || /^[-[]/.test(item) ? undefined : inLine(item);
    if (found === undefined) return undefined;
    patterns.push(...found);
  }
  return patterns;
}

function inBrackets(text: string): readonly string[] | undefined {
  const [, inner] = /^\[(.*)\](?:[ \t]+#.*|[ \t]*)$/.exec(text) ?? [];
  return inner === undefined ? undefined : inLine(inner);
}

/**
 * Parses one or more patterns separated by commas. Quotes may enclose each pattern, or all patterns together.
 */
function inLine(text: string): readonly string[] | undefined {
  const patterns: string[] = [];
  let rest = text.trim();
  while (rest !== "") {
    const next = /^["']/.test(rest) ? quoted(rest) : unquoted(rest);
    if (next === undefined) return undefined;
    patterns.push(...next.patterns);
    rest = next.rest;
  }
  return patterns;
}

interface Taken {
  readonly patterns: readonly string[];
  readonly rest: string;
}

function quoted(text: string): Taken | undefined {
  const [whole, double, single] = /^(?:"((?:[^"\\]|\\["\\/])*)"|'((?:[^']|'')*)')/.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const said =
    double === undefined ? (single ?? "").replaceAll("''", "'") : double.replaceAll(/\\(.)/g, "$1");
  const [, rest] = /^[ \t]*(?:,[ \t]*|(?:[ \t]#.*)?$)(.*)$/.exec(text.slice(whole.length)) ?? [];
  return rest === undefined ? undefined : { patterns: betweenCommas(said), rest };
}

/** Rejects anything that YAML would read as a map, a block of text or an anchor. */
function unquoted(text: string): Taken | undefined {
  const said = text.replace(/[ \t]#.*$/, "").trim();
  if (/^(?:null|~)$/i.test(said)) return { patterns: [], rest: "" };
  if (/^[|>&@`%]/.test(said) || /:(?:[ \t]|$)/.test(said) || /["']/.test(said)) return splitAtQuote(said);
  return { patterns: betweenCommas(said), rest: "" };
}

/**
 * Handles quoted and unquoted patterns in one line. Reads the unquoted patterns before the first quote.
 * Returns undefined if no comma follows them.
 */
function splitAtQuote(said: string): Taken | undefined {
  const [, before, rest] = /^([^"':]*),[ \t]*(["'].*)$/.exec(said) ?? [];
  return before === undefined || rest === undefined || /^[|>&@`%]/.test(before)
    ? undefined
    : { patterns: betweenCommas(before), rest };
}

/** Splits a text at its commas. Commas inside braces and brackets belong to the pattern. */
function betweenCommas(text: string): readonly string[] {
  const patterns: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at <= text.length; at++) {
    const character = text[at];
    if (character === "{" || character === "[") depth++;
    else if (character === "}" || character === "]") depth = Math.max(0, depth - 1);
    else if (character === undefined || (character === "," && depth === 0)) {
      patterns.push(text.slice(start, at).trim());
      start = at + 1;
    }
  }
  return patterns.filter((pattern) => pattern !== "");
}
