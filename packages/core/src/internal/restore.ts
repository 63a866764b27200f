export { asker } from "../compaction/restore/ask-host.ts";
export { memoryPathOf } from "../compaction/restore/read-state.ts";
