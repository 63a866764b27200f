import { type Entry, isEntry } from "../conversation/entry.ts";
import { indexPairs, type PairIndex, type ToolPair } from "../conversation/pairs.ts";
import { isCleared, withClearedResults } from "../conversation/stand-ins.ts";
import { FILE_TOOLS, type FileTools, filePathIn, fileUseOf } from "../conversation/tool-kinds.ts";
import { contentText, firstString, isRecord } from "../conversation/untrusted.ts";

/** What a read answers when the agent has the file already: it shows no content. */
const UNCHANGED_STUB = /^\s*(?:<system-reminder>\s*)?file unchanged/i;

/**
 * Paths the agent has read or written, the most recent first, each once. `index`: of these entries and of more that
 * follow them, where it has been made already.
 */
export function recentlyReadPaths(
  entries: readonly Entry[],
  tools: FileTools = FILE_TOOLS,
  index: PairIndex = indexPairs(entries),
): readonly string[] {
  return [...new Set(pathsFromNewest(entries, index, tools))];
}

/** As {@link recentlyReadPaths}, but looked up one by one, since most who ask want only the first few; some twice. */
export function* pathsFromNewest(
  entries: readonly Entry[],
  { pairs }: PairIndex,
  tools: FileTools = FILE_TOOLS,
): Generator<string> {
  const touched: { readonly at: number; readonly pair?: ToolPair }[] = [];
  for (const pair of pairs.values()) {
    const at = pair.results.at(-1)?.entryIndex;
    if (at !== undefined && at < entries.length) touched.push({ at, pair });
  }
  for (const [at, entry] of entries.entries()) {
    if (isEntry(entry) && entry.type === "attachment") touched.push({ at });
  }
  touched.sort((a, b) => b.at - a.at);
  for (const { at, pair } of touched) {
    const path = pair === undefined ? attachedPath(entries[at], REFERRING) : pathTouchedBy(pair, tools);
    if (path !== undefined) yield path;
  }
}

const REFERRING: readonly string[] = ["file", "compact_file_reference"];

function pathTouchedBy(pair: ToolPair, tools: FileTools): string | undefined {
  if (pair.results.at(-1)?.block.is_error === true) return undefined;
  return useOf(pair, tools) && pathOf(pair);
}

interface VisibleOptions {
  readonly tools?: FileTools | undefined;
  /** Results that are sent as cleared although the entries still hold them. */
  readonly clearedToolUseIds?: ReadonlySet<string> | undefined;
}

/** Paths whose content stands in these entries as it was read. An edit shows only a part, so it does not count. */
export function visiblePaths(entries: readonly Entry[], options: VisibleOptions = {}): ReadonlySet<string> {
  const { tools = FILE_TOOLS, clearedToolUseIds = new Set() } = options;
  const paths = new Set<string>();
  for (const pair of indexPairs(withClearedResults(entries, clearedToolUseIds)).pairs.values()) {
    const path = useOf(pair, tools) === "read" ? pathOf(pair) : undefined;
    if (path !== undefined && showsContent(pair)) paths.add(path);
  }
  for (const entry of entries) {
    const path = attachedPath(entry, ["file", "nested_memory"]);
    if (path !== undefined) paths.add(path);
  }
  return paths;
}

const useOf = ({ name, use }: ToolPair, tools: FileTools): "read" | "change" | undefined =>
  fileUseOf(name, use.block.input, tools);

const pathOf = ({ use }: ToolPair): string | undefined => filePathIn(use.block.input);

function showsContent(pair: ToolPair): boolean {
  return pair.results.some(
    ({ block }) =>
      block.is_error !== true && !isCleared(block) && !UNCHANGED_STUB.test(contentText(block.content)),
  );
}

/** The memory file that is attached here. */
export const memoryPathOf = (entry: Entry): string | undefined => attachedPath(entry, ["nested_memory"]);

/** The file that an attachment of one of these types is about. */
export function attachedPath(entry: Entry | undefined, types: readonly string[]): string | undefined {
  if (!isEntry(entry) || entry.type !== "attachment" || !isRecord(entry.attachment)) return undefined;
  return types.includes(entry.attachment.type)
    ? firstString(entry.attachment, "filename", "path")
    : undefined;
}
