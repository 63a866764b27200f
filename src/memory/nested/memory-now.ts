import type { HostState } from "../../restore/host-state.ts";
import type { MemoryFilesOptions } from "./memory-files.ts";
import { MemoryReader } from "./memory-reader.ts";

/** For what is put back after a compaction: a memory file as it is now, read as nested memory reads it. */
export function memoryFilesNow(options: MemoryFilesOptions): NonNullable<HostState["memoryFiles"]> {
  return async (path) => {
    // What was refused before may be allowed by now, and is asked for again.
    const reader = MemoryReader.of(options);
    const placed = reader?.placed(path);
    if (reader === undefined || placed === undefined) {
      return { state: "unavailable", reason: "outside-project" };
    }
    const memory = await reader.read(placed);
    if (memory.state === "read") return { state: "read", ...memory.file };
    return { state: "unavailable", reason: memory.state === "absent" ? "gone" : memory.reason };
  };
}
