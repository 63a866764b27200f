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
  /**
   * What governs the whole working directory (its own memory files, and rules for every path) is attached before the
   * first call, without any file having been touched. For hosts that put none of it into the system prompt.
   */
  readonly fromStart?: boolean | undefined;
  /**
   * Asked before a file is read, whether it is there or not; what it refuses, and what it fails on, is not. An answer
   * holds until the next compaction.
   */
  readonly mayRead?: ((path: string) => boolean | Promise<boolean>) | undefined;
}

/** The files as they are NOW. Paths are absolute. What cannot be had is an answer like any other. */
export interface MemoryFilesPort {
  /**
   * `displayPath` is where the file really is, links followed, relative to the working directory (`~/…` below
   * `home`): by it a file is known that has two names.
   */
  read(path: string): Promise<FileAnswer>;
  /** Files in a folder and the folders below it, absolute; nothing where there is no such folder. */
  list(folder: string): Promise<readonly string[]>;
  /** The user's own folder, absolute. Imports of `~/…` are followed only where it is given. */
  readonly home?: string | undefined;
}

/** What was not attached, or not as it stands, and why: a fact for the report, never a reason to fail. */
export interface SkippedMemory {
  readonly path: string;
  readonly reason: string;
}
