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
  /** What it had come to. */
  readonly conversation: readonly Entry[];
  /** The window that its file shows; null: it shows none. */
  readonly windowEvidence: WindowEvidence | null;
}

interface SessionChoice {
  readonly cwd: string;
  readonly places: UserPlaces;
  readonly newUuid: () => string;
  /** The file of one to go on with. */
  readonly session?: string | undefined;
}

/** A new session, or one to go on with. That of another agent is copied: two agents must not write to one file. */
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
  // A copy still holds entries with the id of what it was made from; it is found again by its file's name.
  const ownId = id ?? basename(session, ".jsonl");
  return {
    id: ownId,
    path,
    writer: lazyTranscript(path, resumed.bytes),
    conversation: withoutForeignUsage(resumed.conversation, ownId),
    windowEvidence: await evidenceOf(resumed),
  };
}

/** A boundary that we wrote repeats what the file before it shows. For any other one, the file must be read whole. */
async function evidenceOf(resumed: ResumedSession): Promise<WindowEvidence | null> {
  const { boundary, conversation: entries, model, path } = resumed;
  const isWhole = boundary === undefined || boundary.compactMetadata?.longhaul?.window !== undefined;
  return windowEvidence(isWhole ? { entries, model } : await loadSession(path)) ?? null;
}

/**
 * What another agent's calls took includes its own system prompt and tools, which are not ours: in a smaller window they
 * would seem to fill it, and no compaction would seem to help.
 */
export function withoutForeignUsage(entries: readonly Entry[], sessionId: string): readonly Entry[] {
  return entries.map((entry) => {
    if (entry.type !== "assistant" || entry.sessionId === sessionId) return entry;
    const { usage: _, ...message } = entry.message;
    return { ...entry, message };
  });
}

async function copied(from: string, to: string): Promise<string> {
  // Read first, so that what is no session is refused before anything is made.
  await resumeSession(from);
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  await copyFile(from, to);
  await chmod(to, 0o600);
  return to;
}

/**
 * Opened with the first line: a chat in which nothing was said leaves no file. Whoever else writes to the session
 * meanwhile is noticed by its size, and then nothing of ours is mixed into it.
 */
export function lazyTranscript(path: string, expectedBytes: number): TranscriptWriter {
  let opened: Promise<TranscriptWriter> | undefined;
  const open = (): Promise<TranscriptWriter> => {
    opened ??= openTranscript(path, { expectedBytes, mayCreate: expectedBytes === 0 });
    // What failed is tried anew with the next line.
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

/** A file or folder beside the session that is called like it. */
export const besideSession = (path: string, ending: string): string => path.replace(/\.jsonl$/, "") + ending;

/** Sessions and results of subagents. */
export const agentsFolder = (path: string): string => besideSession(path, ".agents");
