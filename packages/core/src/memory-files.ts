export { type AttachedMemory, memoryFilesIn } from "./modules/memory-files/attached-memory.ts";
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
