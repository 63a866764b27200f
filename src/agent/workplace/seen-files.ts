import { createHash } from "node:crypto";
import type { ReadState, SeenFile } from "../workplace.ts";

/** One for each agent: what another has seen, this one has not. */
export function createReadState(): ReadState {
  const seenFiles = new Map<string, SeenFile>();
  return {
    get: (realPath) => seenFiles.get(realPath),
    saw: (realPath, seen) => {
      const before = seenFiles.get(realPath);
      // Who has seen all of it still has, when a part is looked at again.
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
