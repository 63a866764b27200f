import { createHash } from "node:crypto";
import type { ReadState, SeenFile } from "../workplace.ts";

/** Creates the record of the files that one agent has seen. Each agent has its own record. */
export function createReadState(): ReadState {
  const seenFiles = new Map<string, SeenFile>();
  return {
    get: (realPath) => seenFiles.get(realPath),
    saw: (realPath, seen) => {
      const before = seenFiles.get(realPath);
      // An agent that has seen the whole file keeps that status when it reads a part again.
      const isPartOfKnown =
        before?.fingerprint === seen.fingerprint && before.range === undefined && seen.range !== undefined;
      if (!isPartOfKnown) seenFiles.set(realPath, seen);
    },
    forget: (realPath) => {
      seenFiles.delete(realPath);
    },
    clear: () => seenFiles.clear(),
  };
}

export const fingerprintOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
