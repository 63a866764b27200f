import { isCleared } from "../conversation/cleared.ts";
import type { Entry } from "../conversation/entry.ts";
import { contentText } from "../conversation/fields.ts";
import { indexPairs, type ToolPair } from "../conversation/pairs.ts";
import { isRecord } from "../conversation/untrusted.ts";

/** Tools after which the agent knows a file's content. */
const FILE_TOOLS: ReadonlyMap<string, string> = new Map([
  ["Read", "file_path"],
  ["Edit", "file_path"],
  ["MultiEdit", "file_path"],
  ["Write", "file_path"],
  ["NotebookEdit", "notebook_path"],
]);

/** What a read answers when the agent has the file already: it shows no content. */
const UNCHANGED_STUB = /^\s*(?:<system-reminder>\s*)?file unchanged/i;

/** Paths the agent has read or written, the most recent first, each once. */
export function recentlyReadPaths(entries: readonly Entry[]): readonly string[] {
  const touched: { readonly path: string; readonly at: number }[] = [];
  for (const pair of indexPairs(entries).pairs.values()) {
    const path = pathOf(pair);
    const result = pair.results.at(-1);
    if (path !== undefined && result && result.block.is_error !== true) {
      touched.push({ path, at: result.entryIndex });
    }
  }
  for (const [at, entry] of entries.entries()) {
    const path = attachedPath(entry);
    if (path !== undefined) touched.push({ path, at });
  }
  touched.sort((a, b) => b.at - a.at);
  return [...new Set(touched.map(({ path }) => path))];
}

/** Paths whose content stands in these entries as it was read. An edit shows only a part, so it does not count. */
export function visiblePaths(entries: readonly Entry[]): ReadonlySet<string> {
  const paths = new Set<string>();
  for (const pair of indexPairs(entries).pairs.values()) {
    const path = pair.name === "Read" ? pathOf(pair) : undefined;
    if (path !== undefined && showsContent(pair)) paths.add(path);
  }
  for (const entry of entries) {
    const path = attachedPath(entry);
    if (path !== undefined) paths.add(path);
  }
  return paths;
}

function pathOf(pair: ToolPair): string | undefined {
  const field = FILE_TOOLS.get(pair.name);
  const input = pair.use.block.input;
  if (field === undefined || !isRecord(input)) return undefined;
  const path = input[field];
  return typeof path === "string" && path !== "" ? path : undefined;
}

function showsContent(pair: ToolPair): boolean {
  return pair.results.some(
    ({ block }) =>
      block.is_error !== true && !isCleared(block) && !UNCHANGED_STUB.test(contentText(block.content)),
  );
}

function attachedPath(entry: Entry): string | undefined {
  if (entry.type !== "attachment" || !isRecord(entry.attachment) || entry.attachment.type !== "file")
    return undefined;
  return typeof entry.attachment.filename === "string" ? entry.attachment.filename : undefined;
}
