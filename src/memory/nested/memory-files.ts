import type { FileAnswer } from "../../restore/files.ts";

/** What memory files are called, where rules are, and how much of them is taken. */
export interface MemoryFilesOptions {
  readonly port: MemoryFilesPort;
  /** The working directory, absolute: nothing above it governs anything. */
  readonly cwd: string;
  /** Names of memory files in any folder; `AGENTS.md` and `CLAUDE.md` unless given. */
  readonly names?: readonly string[] | undefined;
  /** Folders of rules, relative to the working directory; `.claude/rules` unless given. */
  readonly ruleFolders?: readonly string[] | undefined;
  /** Files that the host has put into the system prompt already. */
  readonly loaded?: readonly string[] | undefined;
  /** Asked before a file is read; what it refuses, and what it fails on, is not. */
  readonly mayRead?: ((path: string) => boolean | Promise<boolean>) | undefined;
}

/** The files as they are NOW. Paths are absolute. What cannot be had is an answer like any other. */
export interface MemoryFilesPort {
  read(path: string): Promise<FileAnswer>;
  /** Files in a folder and the folders below it, absolute; nothing where there is no such folder. */
  list(folder: string): Promise<readonly string[]>;
}
