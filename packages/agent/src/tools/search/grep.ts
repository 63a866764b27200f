import { stat } from "node:fs/promises";
import { LonghaulError } from "@longhaul/core";
import { isSecretFile } from "@longhaul/sessions";
import { z } from "zod";
import { defineTool, failure, type Tool, type ToolContext, type ToolOutcome } from "../../tool.ts";
import { type FilePlace, needsForReading } from "../files/file-place.ts";
import { throttled } from "../throttled.ts";
import { problemWithPattern } from "./glob-pattern.ts";
import { type FileSearch, type Row, SearchPattern, type SkipReason, searchFile } from "./search-file.ts";
import { newestFirst, shownBelow, walk, walkNotes } from "./walk.ts";

/** Maximum number of context lines. For more context, the model reads the file. */
const MAX_CONTEXT_LINES = 50;
/** Default number of entries if the model sets no limit. */
const USUAL_ENTRIES = 100;
const MAX_ENTRIES = 2_000;
/**
 * Maximum characters of a search result, because it stays in the context. To see more, the model reads the
 * file.
 */
const SHOWN_CHARS = 20_000;
/** Characters that are reserved for the notes after the results. */
const NOTES_CHARS = 500;
const PROGRESS_EVERY_MS = 250;
/** Number of files to read in parallel. A search spends most of its time waiting for the disk. */
const FILES_AT_ONCE = 8;

const DESCRIPTION = `Searches the content of files with a JavaScript regular expression: \`log.*Error\`, \`function\\s+\\w+\`, \`interface\\{\\}\`. Grep searches line by line, unless \`multiline\` is set.

- \`output_mode\`: \`files_with_matches\` (the default) returns paths, most recently changed first. \`content\` returns the matching lines as path:line:text, and the lines around them (\`-A\`, \`-B\`, \`-C\`) as path-line-text. \`count\` returns the number of matching lines in each file.
- \`path\`: a folder or a single file. \`glob\`: only files with these names, such as \`*.ts\` (at any depth), \`src/**/*.{ts,tsx}\`, \`!*.test.ts\`.
- Grep searches hidden files too. It skips \`.git\`, \`node_modules\`, and everything that .gitignore files exclude, unless \`path\` or \`glob\` names it. It also skips binary files and very large files. It does not follow links.
- Grep returns at most ${USUAL_ENTRIES} paths, lines, or counts unless \`head_limit\` says otherwise. It cuts long lines around the match.
- Use Grep, not grep or rg in Bash.`;

const lineCount = z.number().int().min(0).max(MAX_CONTEXT_LINES).optional();

const grepInput = z.object({
  pattern: z.string().min(1).describe("A JavaScript regular expression."),
  path: z.string().optional().describe("A folder or a file. Default: the working directory."),
  glob: z
    .string()
    .min(1)
    .optional()
    .describe("Search only files with this name pattern, such as *.ts. With ! in front, search all others."),
  output_mode: z.enum(["files_with_matches", "content", "count"]).optional(),
  "-i": z.boolean().optional().describe("Ignore case."),
  "-n": z.boolean().optional().describe("Show line numbers in content mode. Default: true."),
  "-A": lineCount.describe("Lines to show after each match, in content mode."),
  "-B": lineCount.describe("Lines to show before each match, in content mode."),
  "-C": lineCount.describe("Lines to show before and after each match, in content mode."),
  head_limit: z
    .number()
    .int()
    .min(0)
    .optional()
    .describe(`Maximum number of results. 0 means the highest possible limit, ${MAX_ENTRIES}.`),
  multiline: z
    .boolean()
    .optional()
    .describe("Allow matches over several lines. Then . matches line endings."),
});

type GrepInput = z.infer<typeof grepInput>;

export function grepTool(place: FilePlace): Tool {
  return defineTool({
    name: "Grep",
    description: DESCRIPTION,
    input: grepInput,
    isReadOnly: true,
    title: ({ pattern, path, glob }) =>
      [pattern, path === undefined ? "" : `in ${path}`, glob === undefined ? "" : `(${glob})`]
        .filter((part) => part !== "")
        .join(" "),
    needs: ({ path }) => needsForReading(place, path ?? "."),
    call: async (input, context) => {
      try {
        return await grep(place, input, context);
      } catch (error) {
        if (!(error instanceof LonghaulError) || error.code !== "pattern-invalid") throw error;
        return failure(`${error.message} ${error.remedy}`, "invalid pattern");
      }
    },
  });
}

async function grep(place: FilePlace, input: GrepInput, context: ToolContext): Promise<ToolOutcome> {
  const problem = input.glob === undefined ? undefined : problemWithPattern(input.glob);
  if (problem !== undefined) return failure(problem, "invalid pattern");
  const pattern = new SearchPattern({
    pattern: input.pattern,
    ignoreCase: input["-i"] ?? false,
    isMultiline: input.multiline ?? false,
  });
  const root = await place.paths.resolve(input.path ?? ".");
  const found = await stat(root.realPath).catch(() => undefined);
  if (found === undefined) return failure(`${root.displayPath} does not exist.`, "no such path");
  const wishes = wishesOf(input);
  const progress = throttled(context.onProgress, PROGRESS_EVERY_MS);
  try {
    const { signal } = context;
    const isNamed = !found.isDirectory();
    const chosen = isNamed
      ? { files: [root.realPath], isCut: false, unreadable: 0 }
      : await walk({ root: root.realPath, patterns: globPatterns(input.glob), signal });
    // A file that may contain credentials is searched only if the call names it. In that case, the person was
    // asked.
    const files = isNamed ? chosen.files : chosen.files.filter((file) => !isSecretFile(file));
    const findings = await searchAll(files, {
      ...{ pattern, isNamed, signal, wishes },
      ...limitsOf(wishes),
      shown: (file) => shownBelow(place, root, file),
      report: (searched) => progress.report(`${searched} of ${files.length} files searched`),
    });
    const hits = wishes.mode === "files_with_matches" ? await byAge(findings.hits, signal) : findings.hits;
    const room = Math.min(SHOWN_CHARS, place.resultLimit()) - NOTES_CHARS;
    const secret = chosen.files.length - files.length;
    const { isCut, unreadable } = chosen;
    return grepOutcome({ ...findings, hits, secret, isCut, unreadable }, wishes, room);
  } finally {
    progress.stop();
  }
}

interface GrepOptions {
  readonly mode: "files_with_matches" | "content" | "count";
  readonly before: number;
  readonly after: number;
  readonly hasNumbers: boolean;
  readonly mostEntries: number;
}

function wishesOf(input: GrepInput): GrepOptions {
  const around = input["-C"] ?? 0;
  return {
    mode: input.output_mode ?? "files_with_matches",
    before: input["-B"] ?? around,
    after: input["-A"] ?? around,
    hasNumbers: input["-n"] ?? true,
    mostEntries: Math.min(
      input.head_limit === 0 ? MAX_ENTRIES : (input.head_limit ?? USUAL_ENTRIES),
      MAX_ENTRIES,
    ),
  };
}

/** Returns the patterns of a glob. A name without a slash matches at any depth. */
function globPatterns(glob: string | undefined): readonly string[] {
  if (glob === undefined) return ["**/*"];
  const isNot = glob.startsWith("!");
  const name = isNot ? glob.slice(1) : glob;
  const pattern = name.includes("/") ? name.replace(/^\.?\//, "") : `**/${name}`;
  return isNot ? ["**/*", `!${pattern}`] : [pattern];
}

/**
 * Returns the limits for a single file: as many lines as can be shown, plus one line to detect that there are
 * more.
 */
function limitsOf(wishes: GrepOptions): Pick<FileSearch, "limits" | "mostMatches"> {
  const { mode, before, after, mostEntries } = wishes;
  if (mode === "content") {
    return { limits: { before, after, mostRows: mostEntries + 1 }, mostMatches: mostEntries + 1 };
  }
  const limits = { before: 0, after: 0, mostRows: 0 };
  return { limits, mostMatches: mode === "count" ? Number.MAX_SAFE_INTEGER : 1 };
}

async function searchAll(
  files: readonly string[],
  search: FileSearch & {
    readonly wishes: GrepOptions;
    shown(file: string): string;
    report(searched: number): void;
  },
): Promise<Omit<GrepFindings, "isCut" | "unreadable" | "secret">> {
  const { wishes, pattern, signal } = search;
  const hits: FileHit[] = [];
  const skipped = { binary: 0, "too-large": 0, unreadable: 0 };
  let [searched, slow, rows] = [0, 0, 0];
  const isEnough = (): boolean =>
    pattern.isGivenUp || (wishes.mode === "content" && rows > wishes.mostEntries);
  for (let at = 0; at < files.length && !isEnough(); at += FILES_AT_ONCE) {
    signal.throwIfAborted();
    const some = files.slice(at, at + FILES_AT_ONCE);
    const results = await Promise.all(some.map((file) => searchFile(file, search)));
    for (const [nth, result] of results.entries()) {
      if (typeof result === "string") {
        skipped[result]++;
        continue;
      }
      searched++;
      if (result.isSlow) slow++;
      const { matches, rows: found } = result.excerpt;
      rows += found.length;
      const file = some[nth] ?? "";
      if (matches > 0) hits.push({ file, path: search.shown(file), matches, rows: found });
    }
    search.report(at + some.length);
  }
  return { hits, searched, skipped, slow, isGivenUp: pattern.isGivenUp && searched < files.length };
}

async function byAge(hits: readonly FileHit[], signal: AbortSignal): Promise<readonly FileHit[]> {
  const hitOf = new Map(hits.map((hit) => [hit.file, hit]));
  const files = await newestFirst([...hitOf.keys()], signal);
  return files.map((file) => hitOf.get(file)).filter((hit) => hit !== undefined);
}

interface FileHit {
  /** Real path of the file. */
  readonly file: string;
  /** Path to show. */
  readonly path: string;
  readonly matches: number;
  readonly rows: readonly Row[];
}

interface GrepFindings {
  readonly hits: readonly FileHit[];
  readonly searched: number;
  readonly skipped: Readonly<Record<SkipReason, number>>;
  /** Number of files that were skipped because they may contain credentials. */
  readonly secret: number;
  /** Number of files in which the pattern took too long. */
  readonly slow: number;
  /** True if the search stopped before all files were searched. */
  readonly isGivenUp: boolean;
  /** True if there are more files than a search covers. */
  readonly isCut: boolean;
  /** Number of folders that could not be read. */
  readonly unreadable: number;
}

function grepOutcome(findings: GrepFindings, wishes: GrepOptions, limitChars: number): ToolOutcome {
  const { hits } = findings;
  const entries = entriesOf(hits, wishes);
  const shown = fitting(entries.slice(0, wishes.mostEntries), limitChars);
  const isMore = shown.length < entries.length;
  const notes = [
    entries.length === 0 ? `No matches in ${count(findings.searched, "file")}.` : "",
    isMore ? moreWords(wishes, shown.length, hits) : "",
    ...trouble(findings),
  ].filter((note) => note !== "");
  // The pattern was too slow to search all files. The model must know this before it concludes that nothing
  // matches.
  const isError = findings.slow > 0 && hits.length === 0;
  const summary =
    isMore && wishes.mode === "content" ? `the first ${shown.length} lines` : summaryOf(hits, wishes);
  return { content: [...shown, ...notes].join("\n"), isError, summary };
}

function entriesOf(hits: readonly FileHit[], wishes: GrepOptions): readonly string[] {
  switch (wishes.mode) {
    case "files_with_matches":
      return hits.map(({ path }) => path);
    case "count":
      return hits.map(({ path, matches }) => `${path}:${matches}`);
    case "content":
      return hits.flatMap((hit) => contentOf(hit, wishes)).filter((line, at) => at > 0 || line !== APART);
  }
}

/** Separator of lines that are not adjacent. */
const APART = "--";

function contentOf({ path, rows }: FileHit, { before, after, hasNumbers }: GrepOptions): readonly string[] {
  const hasContext = before + after > 0;
  return rows.flatMap((row, at) => {
    const sign = row.isMatch ? ":" : "-";
    const line = `${path}${sign}${hasNumbers ? `${row.number}${sign}` : ""}${row.text}`;
    const last = rows[at - 1];
    const isApart = last === undefined || row.number !== last.number + 1;
    return hasContext && isApart ? [APART, line] : [line];
  });
}

/** Returns as many entries as fit. */
function fitting(entries: readonly string[], limitChars: number): readonly string[] {
  let room = limitChars;
  const end = entries.findIndex((entry) => {
    room -= entry.length + 1;
    return room < 0;
  });
  return end < 0 ? entries : entries.slice(0, end);
}

function moreWords({ mode }: GrepOptions, shown: number, hits: readonly FileHit[]): string {
  return mode === "content"
    ? `[These are only the first ${shown} lines. Use a more specific pattern, or search fewer files.]`
    : `[${hits.length} files match. These are the first ${shown}.]`;
}

const SKIPPED: readonly (readonly [SkipReason, string])[] = [
  ["binary", "binary file"],
  ["too-large", "very large file"],
  ["unreadable", "unreadable file"],
];

function trouble(findings: GrepFindings): readonly string[] {
  const { skipped, secret, slow, isGivenUp, searched } = findings;
  const left = SKIPPED.filter(([reason]) => skipped[reason] > 0).map(([reason, noun]) =>
    count(skipped[reason], noun),
  );
  return [
    left.length > 0 ? `[Not searched: ${left.join(", ")}.]` : "",
    secret > 0
      ? `[Not searched: ${count(secret, "file")} that may contain credentials. Pass one of them as path to ask the user for permission.]`
      : "",
    slow > 0
      ? `[The pattern takes too long. ${count(slow, "file")} could not be searched to the end. Simplify the pattern.]`
      : "",
    isGivenUp ? `[The search stopped after ${count(searched, "file")}.]` : "",
    ...walkNotes(findings),
  ];
}

function summaryOf(hits: readonly FileHit[], { mode }: GrepOptions): string {
  if (hits.length === 0) return "no matches";
  if (mode === "files_with_matches") return count(hits.length, "file");
  const matches = hits.reduce((sum, hit) => sum + hit.matches, 0);
  return `${count(matches, "line")} in ${count(hits.length, "file")}`;
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? "" : "s"}`;
