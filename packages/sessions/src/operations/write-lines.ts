import { randomUUID } from "node:crypto";
import { basename } from "node:path";
import type { CompactionPorts } from "@longhaul/core/compaction";
import { asAtomicWrite } from "@longhaul/core/internal/messages";
import type { Entry } from "@longhaul/core/messages";
import type { Session } from "../transcript/load.ts";
import { writeNewSession } from "../transcript/whole-file.ts";
import { openTranscript } from "../transcript/writer.ts";

/** Target of a write. `in-place` appends to the session itself. A path creates a new session at that path. */
export type WriteTarget =
  | { readonly mode: "in-place" }
  | { readonly mode: "new-session"; readonly path: string };

export interface WrittenLines {
  readonly mode: WriteTarget["mode"];
  readonly path: string;
  readonly sessionId: string;
  readonly lines: readonly Entry[];
}

export const SYSTEM_PORTS: CompactionPorts = { now: () => new Date(), newUuid: () => randomUUID() };

interface LineSource {
  inPlace(): readonly Entry[];
  asNewSession(sessionId: string): readonly Entry[];
}

/** Writes the lines atomically. In place, the session must be unchanged since it was loaded. */
export async function writeLines(
  session: Session,
  source: LineSource,
  target: WriteTarget,
  ports: CompactionPorts,
): Promise<WrittenLines> {
  if (target.mode === "in-place") {
    const lines = asAtomicWrite(source.inPlace());
    const writer = await openTranscript(session.path, { expectedBytes: session.bytes });
    try {
      await writer.append(lines);
    } finally {
      await writer.close();
    }
    return { mode: target.mode, path: session.path, sessionId: session.id, lines };
  }
  const sessionId = sessionIdFor(target.path, ports);
  const lines = source.asNewSession(sessionId);
  await writeNewSession(target.path, lines);
  return { mode: target.mode, path: target.path, sessionId, lines };
}

/**
 * Returns the id for a new session. If the file name is an id, it becomes the session id, because an agent
 * finds a session by its file name.
 */
function sessionIdFor(path: string, ports: CompactionPorts): string {
  const name = basename(path, ".jsonl");
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(name) ? name : ports.newUuid();
}
