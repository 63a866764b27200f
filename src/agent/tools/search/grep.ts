import { stat } from "node:fs/promises";
import { LonghaulError } from "../../../index.ts";
import { isSecretFile } from "../../../node.ts";
import { defineTool, type Tool, type ToolContext, type ToolOutcome } from "../../tool.ts";
import { throttled } from "../throttled.ts";
import { newestFirst } from "./glob.ts";
import {
  GREP_DESCRIPTION,
  type GrepInput,
  type GrepWishes,
  globPatterns,
  grepInput,
  wishesOf,
} from "./grep-input.ts";
import { type FileHit, type GrepFindings, grepOutcome } from "./grep-report.ts";
import { type FileSearch, searchFile } from "./search-file.ts";
import { SearchPattern } from "./search-pattern.ts";
import { needsForSearch, problemWithPattern, type SearchPlace, shownBelow } from "./search-place.ts";
import { walk } from "./walk.ts";

/** What a search may take of the context; whoever wants more reads the file. */
const SHOWN_CHARS = 20_000;
/** For the words behind what was found. */
const NOTES_CHARS = 500;
const PROGRESS_EVERY_MS = 250;
/** Read together: waiting for the disk is most of the work. */
const FILES_AT_ONCE = 8;

export function grepTool(place: SearchPlace): Tool {
  return defineTool<GrepInput>({
    name: "Grep",
    description: GREP_DESCRIPTION,
    input: grepInput,
    isReadOnly: true,
    title: ({ pattern, path, glob }) =>
      [pattern, path === undefined ? "" : `in ${path}`, glob === undefined ? "" : `(${glob})`]
        .filter((part) => part !== "")
        .join(" "),
    needs: ({ path }) => needsForSearch(place, path ?? "."),
    call: async (input, context) => {
      try {
        return await grep(place, input, context);
      } catch (error) {
        if (!(error instanceof LonghaulError) || error.code !== "pattern-invalid") throw error;
        return { content: `${error.message} ${error.remedy}`, isError: true, summary: "wrong pattern" };
      }
    },
  });
}

async function grep(place: SearchPlace, input: GrepInput, context: ToolContext): Promise<ToolOutcome> {
  const problem = input.glob === undefined ? undefined : problemWithPattern(input.glob);
  if (problem !== undefined) return { content: problem, isError: true, summary: "wrong pattern" };
  const isMultiline = input.multiline ?? false;
  const pattern = new SearchPattern({
    pattern: input.pattern,
    ignoreCase: input["-i"] ?? false,
    isMultiline,
  });
  const root = await place.paths.resolve(input.path ?? ".");
  const found = await stat(root.realPath).catch(() => undefined);
  if (found === undefined) {
    return { content: `There is no ${root.displayPath}.`, isError: true, summary: "no such path" };
  }
  const wishes = wishesOf(input);
  const progress = throttled(context.onProgress, PROGRESS_EVERY_MS);
  try {
    const { signal } = context;
    const search: FileSearch = { pattern, isMultiline, signal, ...limitsOf(wishes) };
    const chosen = found.isDirectory()
      ? await walk({ root: root.realPath, patterns: globPatterns(input.glob), signal })
      : { files: [root.realPath], isCut: false };
    const isNamed = !found.isDirectory();
    // A file that may hold credentials is searched only when it is named: then the person was asked.
    const files = isNamed ? chosen.files : chosen.files.filter((file) => !isSecretFile(file));
    const shown = (file: string): string => shownBelow(place, root, file);
    const tell = (searched: number): void => progress.tell(`${searched} of ${files.length} files searched`);
    const findings = await searchAll(files, { search, wishes, isNamed, shown, tell });
    const hits = wishes.mode === "files_with_matches" ? await byAge(findings.hits, signal) : findings.hits;
    const room = Math.min(SHOWN_CHARS, place.resultLimit()) - NOTES_CHARS;
    const secret = chosen.files.length - files.length;
    return grepOutcome({ ...findings, hits, secret, isCut: chosen.isCut }, wishes, room);
  } finally {
    progress.stop();
  }
}

async function byAge(hits: readonly FileHit[], signal: AbortSignal): Promise<readonly FileHit[]> {
  const hitOf = new Map(hits.map((hit) => [hit.file, hit]));
  const files = await newestFirst([...hitOf.keys()], signal);
  return files.map((file) => hitOf.get(file)).filter((hit) => hit !== undefined);
}

/** Of a single file: no more than can be shown, and one line more to know that there is more. */
function limitsOf({
  mode,
  before,
  after,
  mostEntries,
}: GrepWishes): Pick<FileSearch, "limits" | "mostMatches"> {
  if (mode === "content") {
    return { limits: { before, after, mostRows: mostEntries + 1 }, mostMatches: mostEntries + 1 };
  }
  const limits = { before: 0, after: 0, mostRows: 0 };
  return { limits, mostMatches: mode === "count" ? Number.MAX_SAFE_INTEGER : 1 };
}

interface SearchAllOptions {
  readonly search: FileSearch;
  readonly wishes: GrepWishes;
  readonly isNamed: boolean;
  readonly shown: (file: string) => string;
  readonly tell: (searched: number) => void;
}

async function searchAll(
  files: readonly string[],
  { search, wishes, isNamed, shown, tell }: SearchAllOptions,
): Promise<Omit<GrepFindings, "isCut" | "secret">> {
  const hits: FileHit[] = [];
  const skipped = { binary: 0, "too-large": 0, unreadable: 0 };
  let [searched, slow, rows] = [0, 0, 0];
  const isEnough = (): boolean =>
    search.pattern.isGivenUp || (wishes.mode === "content" && rows > wishes.mostEntries);
  for (let at = 0; at < files.length && !isEnough(); at += FILES_AT_ONCE) {
    search.signal.throwIfAborted();
    const some = files.slice(at, at + FILES_AT_ONCE);
    const results = await Promise.all(some.map((file) => searchFile(file, search, isNamed)));
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
      if (matches > 0) hits.push({ file, path: shown(file), matches, rows: found });
    }
    tell(at + some.length);
  }
  return { hits, searched, skipped, slow, isGivenUp: search.pattern.isGivenUp && searched < files.length };
}
