// Opens one file in one way, in a separate process, and prints the time and the peak memory.
// node open-child.mjs WAY FILE
import { peakBytes } from "./peak-memory.mjs";

const WAYS = {
  load: async () => {
    const { loadSession } = await import("@longhaul/sessions");
    return async (path) => (await loadSession(path)).entries.length;
  },
  resume: async () => {
    const { resumeSession } = await import("@longhaul/sessions");
    return async (path) => (await resumeSession(path)).conversation.length;
  },
  "read-all": async () => (await import("./peers/readers.mjs")).readAll,
  readline: async () => (await import("./peers/readers.mjs")).readByReadline,
  chunks: async () => (await import("./peers/readers.mjs")).readChunks,
  backwards: async () => (await import("./peers/readers.mjs")).readBackwards,
  pi: async () => {
    const path = "node_modules/@mariozechner/pi-coding-agent/dist/core/session-manager.js";
    const { SessionManager } = await import(new URL(path, import.meta.url));
    return (file) => SessionManager.open(file).getEntries().length;
  },
};

const [way, file] = process.argv.slice(2);
const open = await WAYS[way]();
const startedAt = performance.now();
const entries = await open(file);
const ms = performance.now() - startedAt;
process.stdout.write(JSON.stringify({ ms, entries, peakBytes: peakBytes() }));
