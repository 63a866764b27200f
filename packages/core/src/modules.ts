export { apiClearing, type ContextEditOptions, contextEdits } from "./modules/api-clearing/api-clearing.ts";
export { cachedEdits } from "./modules/cached-edits/cached-edits.ts";
export { type CollapseCommands, type CollapseOptions, spanCollapse } from "./modules/collapse/collapse.ts";
export { type AttachedMemory, memoryFilesIn } from "./modules/memory-files/attached-memory.ts";
export { memoryFiles } from "./modules/memory-files/memory-files-module.ts";
export {
  type MemoryFilesOptions,
  type MemoryFilesPort,
  memoryFilesNow,
  type SkippedMemory,
} from "./modules/memory-files/memory-reader.ts";
export {
  expandBraces,
  fitsName,
  type NamePattern,
  namePattern,
} from "./modules/memory-files/name-pattern.ts";
export { type SnipOptions, type Snipped, type SnipSelection, snip } from "./modules/snip/snip.ts";
export { messageSnip, type SnipCommands, type SnipTurn } from "./modules/snip/snip-module.ts";
