import type { Attachment, Entry } from "../conversation/entry.ts";
import { field, firstString, stringField, stringListField } from "../conversation/untrusted.ts";
import type { MemoryFile } from "./host-state.ts";
import { memoryPathOf, visiblePaths } from "./read-state.ts";
import {
  type Answer,
  type Fit,
  firstOfEach,
  fitEach,
  type Gathering,
  NOTHING,
  restoredItem,
  type SkippedItem,
  valueOrReason,
} from "./restored.ts";

/** Instructions go before content, but they do not take all the room: what governs a file comes with it anyway. */
const RESTORED_MEMORY_TOKENS = 25_000;
/** How many are asked for: the newest ones are about what the agent does now. */
const PATHS_TRIED = 50;

/** As Claude Code attaches it. The text as it is on disk is left out: it would be in the session twice. */
export function memoryAttachment(file: MemoryFile): Attachment {
  const { path, displayPath, content, isUsers, differsFromDisk, patterns = [] } = file;
  return {
    type: "nested_memory",
    path,
    content: {
      path,
      type: isUsers ? "User" : "Project",
      content,
      ...(patterns.length > 0 ? { globs: patterns } : {}),
      ...(differsFromDisk ? { contentDiffersFromDisk: true } : {}),
    },
    displayPath,
  };
}

/** Memory files attached in these entries, each once, by its newest attachment; the newest last. */
export function attachedMemoryPaths(entries: readonly Entry[]): readonly string[] {
  const paths = new Set<string>();
  for (const entry of entries) {
    const path = memoryPathOf(entry);
    if (path === undefined) continue;
    paths.delete(path);
    paths.add(path);
  }
  return [...paths];
}

/** None where the host does not tell what is in them now: then they are files like any other. */
export function restorableMemoryPaths({ state, entries }: Gathering): readonly string[] {
  return state.memoryFiles === undefined || state.memoryFiles === null ? [] : attachedMemoryPaths(entries);
}

/**
 * Memory files that were attached and that the kept messages do not show, with their content NOW: whole, or not at
 * all, since they are attached again anyway when something that they govern is touched.
 */
export async function gatherMemoryFiles(gathering: Gathering): Promise<Fit> {
  const { input, state, ask } = gathering;
  const { kept, clearedToolUseIds, fileTools, countTokens } = input;
  const attached = restorableMemoryPaths(gathering);
  if (attached.length === 0) return () => NOTHING;
  const visible = visiblePaths(kept, { clearedToolUseIds, tools: fileTools });
  const paths = attached
    .filter((path) => !visible.has(path))
    .slice(-PATHS_TRIED)
    .reverse();
  const answers = await Promise.all(
    paths.map(async (path) => ({ path, file: readAnswer(await ask(state, "memoryFiles", path)) })),
  );
  const skipped: SkippedItem[] = [];
  const files: MemoryFile[] = [];
  for (const { path, file } of answers) {
    if ("reason" in file) skipped.push({ kind: "memory-files", name: path, reason: file.reason });
    else if (file.content.trim() !== "") files.push(file);
  }
  const forms = firstOfEach(files, ({ path }) => path).map((file) => [
    () => restoredItem("memory-files", file.path, memoryAttachment(file), countTokens, file.isHead),
  ]);
  return (budgetTokens) => {
    const restored = fitEach(forms, Math.min(budgetTokens, RESTORED_MEMORY_TOKENS), skipped);
    return { ...restored, items: [...restored.items].reverse() };
  };
}

/** Hosts are not trusted to answer as they should. */
function readAnswer(answer: Answer): MemoryFile | { readonly reason: string } {
  const told = valueOrReason(answer);
  if ("reason" in told) return told;
  const { value } = told;
  const path = firstString(value, "path");
  const content = stringField(value, "content");
  if (path === undefined || content === undefined) return { reason: "invalid" };
  return {
    path,
    displayPath: firstString(value, "displayPath") ?? path,
    content,
    isUsers: field(value, "isUsers") === true,
    isHead: field(value, "isHead") === true,
    differsFromDisk: field(value, "differsFromDisk") === true,
    patterns: stringListField(value, "patterns"),
  };
}
