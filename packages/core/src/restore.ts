export type {
  BackgroundAgent,
  FileAnswer,
  HostState,
  McpInstructions,
  MemoryFile,
  MemoryFileAnswer,
  Plan,
  ProjectFiles,
  UnavailableReason,
  UsedSkill,
} from "./compaction/restore/host-state.ts";
export {
  type ReportedState,
  type RestoreOptions,
  readHostState,
  restoreAll,
} from "./compaction/restore/restore-all.ts";
export type {
  FileWorth,
  Restored,
  RestoredItem,
  RestoreInput,
  RestoreKind,
  SkippedItem,
} from "./compaction/restore/restored.ts";
