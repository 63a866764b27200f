import { apiClearing } from "../../src/modules/api-clearing/api-clearing.ts";
import { cachedEdits } from "../../src/modules/cached-edits/cached-edits.ts";
import {
  type CollapseCommands,
  type CollapseOptions,
  spanCollapse,
} from "../../src/modules/collapse/collapse.ts";
import { memoryFiles as memoryModule } from "../../src/modules/memory-files/memory-files-module.ts";
import type { MemoryFilesOptions } from "../../src/modules/memory-files/memory-reader.ts";
import type { NotesOptions } from "../../src/modules/notes/notes-keeper.ts";
import { sessionNotes } from "../../src/modules/notes/notes-module.ts";
import { messageSnip, type SnipCommands } from "../../src/modules/snip/snip-module.ts";
import { createCompactor as createEngine } from "../../src/turn/create-compactor.ts";
import type {
  CompactorModule,
  Compactor as EngineCompactor,
  CompactorOptions as EngineOptions,
} from "../../src/turn/options.ts";

type Commands = SnipCommands & CollapseCommands;

/** A compactor with all optional modules, as the agent has it. */
export type Compactor = EngineCompactor<Commands> & Commands;

export interface CompactorOptions extends Omit<EngineOptions, "modules"> {
  readonly notes?: NotesOptions | undefined;
  readonly collapse?: CollapseOptions | undefined;
  readonly memoryFiles?: MemoryFilesOptions | undefined;
}

/** All modules, with these options. Collapse works by its setting unless it has options. */
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

/** The engine with every optional module installed. Most tests use it: modules must not disturb each other. */
export function createCompactor({
  notes,
  collapse,
  memoryFiles,
  ...options
}: CompactorOptions = {}): Compactor {
  return createEngine({ ...options, modules: allModules({ notes, collapse, memoryFiles }) }) as Compactor;
}
