import type { Dirent } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { glanceAtSession, type SessionGlance } from "./glance.ts";
import { projectsFolder, type SessionAgent, type UserPlaces } from "./locations.ts";

export interface SessionFile {
  readonly id: string;
  readonly path: string;
  readonly agent: SessionAgent;
  readonly bytes: number;
  readonly modifiedAt: Date;
}

export interface SessionListing extends SessionFile, SessionGlance {}

export interface ListOptions extends UserPlaces {
  /** How many of the newest to list; all of them unless given. */
  readonly limit?: number;
}

/** Open files at a time: enough to keep the disk busy, far below what systems allow. */
const FILES_AT_ONCE = 16;

/** The sessions of Claude Code and our own, newest first. */
export async function listSessions(options: ListOptions): Promise<readonly SessionListing[]> {
  const files = await sessionFiles(options);
  return inParallel(files.slice(0, options.limit ?? files.length), async (file) => ({
    ...file,
    ...(await glanceAtSession(file.path, file.bytes)),
  }));
}

/** The same without opening any file. */
export async function sessionFiles(places: UserPlaces): Promise<readonly SessionFile[]> {
  const agents: readonly SessionAgent[] = ["claude-code", "longhaul"];
  const found = await Promise.all(agents.map((agent) => filesOf(agent, projectsFolder(agent, places))));
  return found
    .flat()
    .sort((a, b) => b.modifiedAt.getTime() - a.modifiedAt.getTime() || compare(a.path, b.path));
}

async function filesOf(agent: SessionAgent, folder: string): Promise<readonly SessionFile[]> {
  const projects = (await contentsOf(folder)).filter((item) => item.isDirectory() || item.isSymbolicLink());
  const names = await inParallel(projects, async (project) => {
    const items = await contentsOf(join(folder, project.name));
    return items.filter(isMainSession).map((item) => join(folder, project.name, item.name));
  });
  const files = await inParallel(names.flat(), async (path): Promise<SessionFile | undefined> => {
    const facts = await stat(path).catch(() => undefined);
    if (facts === undefined || !facts.isFile() || facts.size === 0) return undefined;
    return { id: basename(path, ".jsonl"), path, agent, bytes: facts.size, modifiedAt: facts.mtime };
  });
  return files.filter((file) => file !== undefined);
}

/** A subagent's file is part of another session. */
function isMainSession(item: Dirent): boolean {
  return item.name.endsWith(".jsonl") && !item.name.startsWith("agent-") && !item.name.startsWith(".");
}

async function contentsOf(folder: string): Promise<readonly Dirent[]> {
  return readdir(folder, { withFileTypes: true }).catch(() => []);
}

async function inParallel<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) {
      const at = next++;
      results[at] = await work(items[at] as T);
    }
  };
  await Promise.all(Array.from({ length: Math.min(FILES_AT_ONCE, items.length) }, worker));
  return results;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
