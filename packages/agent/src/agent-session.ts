import { chmod, copyFile, mkdir } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import type { Entry } from "@longhaul/core";
import { type WindowEvidence, windowEvidence } from "@longhaul/core/measure";
import {
  loadSession,
  openTranscript,
  type ResumedSession,
  resumeSession,
  sessionPath,
  type TranscriptWriter,
  type UserPlaces,
} from "@longhaul/sessions";

export interface OpenedSession {
  readonly id: string;
  readonly path: string;
  readonly writer: TranscriptWriter;
  /** Current conversation of the session. */
  readonly conversation: readonly Entry[];
  /** Window size that the session file proves. Null if the file proves none. */
  readonly windowEvidence: WindowEvidence | null;
}

interface SessionChoice {
  readonly cwd: string;
  readonly places: UserPlaces;
  readonly newUuid: () => string;
  /** File of a session to resume. */
  readonly session?: string | undefined;
}

/**
 * Opens a new session or resumes one. Copies a session of another agent, because two agents must not write to
 * one file.
 */
export async function openSession(choice: SessionChoice): Promise<OpenedSession> {
  const { cwd, places, newUuid } = choice;
  const session = choice.session === undefined ? undefined : resolve(choice.session);
  const pathOf = (id: string): string => sessionPath("longhaul", places, cwd, id);
  if (session === undefined) {
    const id = newUuid();
    return {
      id,
      path: pathOf(id),
      writer: lazyTranscript(pathOf(id), 0),
      conversation: [],
      windowEvidence: null,
    };
  }
  const isOwn = dirname(dirname(session)) === dirname(dirname(pathOf("any")));
  const id = isOwn ? undefined : newUuid();
  const path = id === undefined ? session : await copied(session, pathOf(id));
  const resumed = await resumeSession(path);
  // The entries of a copy still have the id of the original session. The file name identifies the copy.
  const ownId = id ?? basename(session, ".jsonl");
  return {
    id: ownId,
    path,
    writer: lazyTranscript(path, resumed.bytes),
    conversation: withoutForeignUsage(resumed.conversation, ownId),
    windowEvidence: await evidenceOf(resumed),
  };
}

/**
 * Returns the evidence for the window size. Boundaries that longhaul wrote contain the evidence of all lines
 * above them. For any other boundary, reads the whole file.
 */
async function evidenceOf(resumed: ResumedSession): Promise<WindowEvidence | null> {
  const { boundary, conversation: entries, model, path } = resumed;
  const isWhole = boundary === undefined || boundary.compactMetadata?.longhaul?.window !== undefined;
  return windowEvidence(isWhole ? { entries, model } : await loadSession(path)) ?? null;
}

/**
 * Removes the usage that another agent reported. That usage includes the other agent's system prompt and
 * tools. The usage could exceed a smaller window, and no compaction would reduce it.
 */
export function withoutForeignUsage(entries: readonly Entry[], sessionId: string): readonly Entry[] {
  return entries.map((entry) => {
    if (entry.type !== "assistant" || entry.sessionId === sessionId) return entry;
    const { usage: _, ...message } = entry.message;
    return { ...entry, message };
  });
}

async function copied(from: string, to: string): Promise<string> {
  // Reads the file first, so that a file that is not a session is refused before anything is created.
  await resumeSession(from);
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  await copyFile(from, to);
  await chmod(to, 0o600);
  return to;
}

/**
 * Creates a transcript that opens its file when the first line is written, so that an empty chat leaves no
 * file. If the size of the file differs from `expectedBytes`, another process has written to the file. In
 * that case, the transcript writes nothing.
 */
export function lazyTranscript(path: string, expectedBytes: number): TranscriptWriter {
  let opened: Promise<TranscriptWriter> | undefined;
  const open = (): Promise<TranscriptWriter> => {
    opened ??= openTranscript(path, { expectedBytes, mayCreate: expectedBytes === 0 });
    // After a failed opening, the next append tries again.
    opened.catch(() => {
      opened = undefined;
    });
    return opened;
  };
  return {
    path,
    append: async (entries) => (await open()).append(entries),
    read: async (uuids) => (await open()).read(uuids),
    stepBack: async (choice) => (await open()).stepBack(choice),
    close: async () => (await opened?.catch(() => undefined))?.close(),
  };
}

/** Returns the path of a file or folder next to the session, with the session's name and another ending. */
export const besideSession = (path: string, ending: string): string => path.replace(/\.jsonl$/, "") + ending;

/** Returns the folder for sessions and results of subagents. */
export const agentsFolder = (path: string): string => besideSession(path, ".agents");
