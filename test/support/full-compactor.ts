import "./loaded-parts.ts";
import type {
  CompactorModule,
  Compactor as EngineCompactor,
  CompactorOptions as EngineOptions,
} from "@longhaul/core";
import {
  apiClearing,
  cachedEdits,
  createCompactor as createEngine,
  memoryFiles as memoryModule,
  messageSnip,
  spanCollapse,
} from "@longhaul/core";
import type { MemoryFilesOptions } from "@longhaul/core/memory-files";
import type { CollapseCommands, CollapseOptions, SnipCommands } from "@longhaul/core/modules";
import type { NotesOptions } from "@longhaul/notes";
import { sessionNotes } from "@longhaul/notes";

type Commands = SnipCommands & CollapseCommands;

/** A compactor with all optional modules, as the agent has it. */
export type Compactor = EngineCompactor<Commands> & Commands;

export interface CompactorOptions extends Omit<EngineOptions, "modules"> {
  readonly notes?: NotesOptions | undefined;
  readonly collapse?: CollapseOptions | undefined;
  readonly memoryFiles?: MemoryFilesOptions | undefined;
}

/** Creates all modules with these options. Without options, collapse follows its setting. */
export function allModules({
  notes,
  collapse,
  memoryFiles,
}: Pick<CompactorOptions, "notes" | "collapse" | "memoryFiles"> = {}): readonly CompactorModule[] {
  return [
    cachedEdits(),
    apiClearing(),
    messageSnip(),
    spanCollapse(collapse ?? { enabled: "by-setting" }),
    ...(notes === undefined ? [] : [sessionNotes(notes)]),
    ...(memoryFiles === undefined ? [] : [memoryModule(memoryFiles)]),
  ];
}

/**
 * Creates the engine with every optional module. Most tests use it, because modules must not disturb each
 * other.
 */
export function createCompactor({
  notes,
  collapse,
  memoryFiles,
  ...options
}: CompactorOptions = {}): Compactor {
  return createEngine({ ...options, modules: allModules({ notes, collapse, memoryFiles }) }) as Compactor;
}
