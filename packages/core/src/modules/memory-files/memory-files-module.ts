import { visiblePaths } from "../../compaction/restore/read-state.ts";
import type { AttachedModule, ConversationChange, EngineModule, EngineParts } from "../../engine/parts.ts";
import { snapshotOf } from "../../engine/planning.ts";
import {
  hasMethods,
  invalidOption,
  type OptionNames,
  requireOptionNames,
} from "../../engine/require-options.ts";
import { noteFindings } from "../../engine/rewrite.ts";
import { inProportion } from "../../measure/window/thresholds.ts";
import { type AttachmentEntry, type Entry, isEntry } from "../../messages/entry.ts";
import { field } from "../../messages/untrusted.ts";
import { type MemoryFilesOptions, memoryFilesNow } from "./memory-reader.ts";
import { NestedMemory } from "./nested-memory.ts";

/** Token budget for the memory files of one turn. More would leave little of the window for the work. */
const BUDGET_TOKENS = 20_000;

/**
 * Attaches memory files when the agent touches files that they apply to. Each subagent has its own memory
 * files.
 */
export function memoryFiles(options: MemoryFilesOptions): EngineModule {
  requireMemoryFilesOptions(options);
  return {
    name: "memory-files",
    attach: (parts) => {
      const memory = new NestedMemory({ ...options, fileTools: parts.options.fileTools });
      return {
        addContext: (signal) => attachFiles(parts, memory, signal),
        hostState: () => ({ memoryFiles: memoryFilesNow(options) }),
        onChange: (change) => follow(parts, memory, change),
      } satisfies AttachedModule;
    },
  };
}

const OPTIONS: OptionNames<MemoryFilesOptions> = {
  port: true,
  cwd: true,
  names: true,
  ruleFolders: true,
  loaded: true,
  fromStart: true,
  mayRead: true,
};

function requireMemoryFilesOptions(options: MemoryFilesOptions): void {
  const port: unknown = field(options, "port");
  if (!hasMethods(port, ["read", "list"])) {
    const remedy = "Pass memoryFilesPort({ cwd }) of @longhaul/sessions, or your own { read, list }.";
    throw invalidOption("memoryFiles.port", "an object with read(), list()", port, remedy);
  }
  requireOptionNames(options, OPTIONS, "memoryFiles");
}

function follow({ thread }: EngineParts, memory: NestedMemory, change: ConversationChange): void {
  switch (change.kind) {
    case "read":
      if (change.hasEarlierChanges) memory.attachedIn(thread.entries);
      // Earlier attachments may be lost together with the replaced conversation.
      memory.touched(change.hasEarlierChanges ? thread.entries : change.added);
      break;
    case "cleared":
      if (change.paths.length > 0) memory.forget(change.paths);
      break;
    case "restarted":
      memory.forget();
      memory.attachedIn(thread.entries);
      break;
    case "removed":
      if (change.isSummarized) memory.forget();
      memory.attachedIn(thread.entries);
      break;
  }
}

/**
 * Attaches memory files after the newest message, for everything that the agent has touched since the last
 * call. Attaches each file once.
 */
async function attachFiles(
  parts: EngineParts,
  memory: NestedMemory,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { options, thread, gauge, newLink, transcript, reporter } = parts;
  if (isAnswerOpen(thread.entries)) return;
  const { attachments, files, skipped } = await memory.drain({
    countTokens: gauge.countTokens,
    budgetTokens: inProportion(gauge.thresholds, BUDGET_TOKENS),
    visible: () => {
      const { entries, clearedToolUseIds } = snapshotOf(parts);
      return visiblePaths(entries, { tools: options.fileTools, clearedToolUseIds });
    },
    signal,
  });
  if (attachments.length > 0) {
    let parent = thread.leaf;
    const entries = attachments.map((attachment): AttachmentEntry => {
      const link = newLink(parent);
      parent = link.uuid;
      return { ...link, type: "attachment", attachment };
    });
    noteFindings(
      parts,
      thread.rewrite([...thread.entries, ...entries], { kind: "attached", attachments: entries }),
    );
    transcript.add(entries);
  }
  if (files.length > 0 || skipped.length > 0) reporter.emit({ type: "memory-attached", files, skipped });
}

/**
 * Returns true if the model is to continue its own message, or if a tool result is missing. In both cases,
 * nothing may be inserted.
 */
function isAnswerOpen(entries: readonly Entry[]): boolean {
  const newest = entries.findLast(
    (entry) => isEntry(entry) && entry.type !== "system" && entry.type !== "progress",
  );
  return newest?.type === "assistant";
}
