import type { Todo } from "../../messages/todo-ledger.ts";

/**
 * What only the host knows and the agent needs after a compaction. Each is asked for when it is needed, so
 * that what comes back is what holds NOW; each may be absent, fail or take its time without harm to the others.
 */
export interface HostState {
  readonly files?: ProjectFiles | undefined;
  /** A memory file that was attached, as it is now. `memoryFilesNow` answers as nested memory does. */
  readonly memoryFiles?: ((path: string) => Promise<MemoryFileAnswer> | MemoryFileAnswer) | undefined;
  /** Skills that were used in this conversation, the newest first. */
  readonly skills?: (() => Promise<readonly UsedSkill[]> | readonly UsedSkill[]) | undefined;
  readonly todos?: (() => Promise<readonly Todo[]> | readonly Todo[]) | undefined;
  readonly plan?: (() => Promise<Plan | undefined> | Plan | undefined) | undefined;
  readonly isPlanMode?: (() => Promise<boolean> | boolean) | undefined;
  /** Those running, and those finished whose result nobody has collected. */
  readonly agents?: (() => Promise<readonly BackgroundAgent[]> | readonly BackgroundAgent[]) | undefined;
  /** Announced again as a whole: names, or a line each. */
  readonly tools?: (() => Promise<readonly string[]> | readonly string[]) | undefined;
  readonly mcpInstructions?:
    | (() => Promise<readonly McpInstructions[]> | readonly McpInstructions[])
    | undefined;
  /** Where the session's notes are. */
  readonly sessionMemory?: (() => Promise<string | undefined> | string | undefined) | undefined;
}

export interface UsedSkill {
  readonly name: string;
  readonly path?: string;
  readonly content: string;
}

export interface Plan {
  readonly path: string;
  readonly content: string;
}

export interface BackgroundAgent {
  readonly id: string;
  readonly description: string;
  readonly status: "running" | "completed" | "failed" | "stopped";
  /** Where its result can be read, if it has one. */
  readonly outputPath?: string;
}

export interface McpInstructions {
  readonly server: string;
  readonly text: string;
}

/** Reads a file as it is NOW. A file that cannot be had is an answer like any other. */
export interface ProjectFiles {
  read(path: string): Promise<FileAnswer>;
}

export type FileAnswer =
  | {
      readonly state: "read";
      readonly text: string;
      readonly displayPath: string;
      /** The text is only the file's beginning: the rest was not read. */
      readonly isHead?: boolean | undefined;
    }
  | { readonly state: "unavailable"; readonly reason: UnavailableReason };

/** `secret`: the file holds credentials by its well-known name. It is never read. */
export type UnavailableReason =
  | "gone"
  | "unreadable"
  | "outside-project"
  | "secret"
  | "not-text"
  | "too-large";

/** A memory file as it is attached. */
export interface MemoryFile {
  readonly path: string;
  readonly displayPath: string;
  /** What the model is shown. */
  readonly content: string;
  /** The user's own, not the project's. */
  readonly isUsers?: boolean | undefined;
  /** Only the beginning is shown. */
  readonly isHead?: boolean | undefined;
  /** Something was left out: front matter, or the rest. */
  readonly differsFromDisk?: boolean | undefined;
  /** Path patterns that the file is about; everything, where there are none. */
  readonly patterns?: readonly string[] | undefined;
}

export type MemoryFileAnswer =
  | ({ readonly state: "read" } & MemoryFile)
  | { readonly state: "unavailable"; readonly reason: string };
