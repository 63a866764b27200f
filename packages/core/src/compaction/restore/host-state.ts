import type { Todo } from "../../messages/todo-ledger.ts";

/**
 * State that only the host knows and that the agent needs after a compaction. Each part is requested when
 * needed, so that it is current. If a part is absent, fails or is slow, the other parts are not affected.
 */
export interface HostState {
  readonly files?: ProjectFiles | undefined;
  /** Reads the current content of an attached memory file. `memoryFilesNow` creates such a function. */
  readonly memoryFiles?: ((path: string) => Promise<MemoryFileAnswer> | MemoryFileAnswer) | undefined;
  /** Skills that were used in this conversation, the newest first. */
  readonly skills?: (() => Promise<readonly UsedSkill[]> | readonly UsedSkill[]) | undefined;
  readonly todos?: (() => Promise<readonly Todo[]> | readonly Todo[]) | undefined;
  readonly plan?: (() => Promise<Plan | undefined> | Plan | undefined) | undefined;
  readonly isPlanMode?: (() => Promise<boolean> | boolean) | undefined;
  /** Running agents, and finished agents whose result nobody has collected. */
  readonly agents?: (() => Promise<readonly BackgroundAgent[]> | readonly BackgroundAgent[]) | undefined;
  /** All tools to announce again: the name of each tool, or a line about it. */
  readonly tools?: (() => Promise<readonly string[]> | readonly string[]) | undefined;
  readonly mcpInstructions?:
    | (() => Promise<readonly McpInstructions[]> | readonly McpInstructions[])
    | undefined;
  /** Path of the session's notes. */
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
  /** Path of the agent's result, if there is one. */
  readonly outputPath?: string;
}

export interface McpInstructions {
  readonly server: string;
  readonly text: string;
}

/** Reads the current content of files. An unavailable file is an answer like any other. */
export interface ProjectFiles {
  read(path: string): Promise<FileAnswer>;
}

export type FileAnswer =
  | {
      readonly state: "read";
      readonly text: string;
      readonly displayPath: string;
      /** True if the text is only the beginning of the file. */
      readonly isHead?: boolean | undefined;
    }
  | { readonly state: "unavailable"; readonly reason: UnavailableReason };

/**
 * `secret`: the well-known name of the file shows that it contains credentials. Such a file is never read.
 */
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
  /** Content that the model sees. */
  readonly content: string;
  /** True if the file belongs to the user, not to the project. */
  readonly isUsers?: boolean | undefined;
  /** True if only the beginning is shown. */
  readonly isHead?: boolean | undefined;
  /** True if something was left out, such as front matter or the rest of the file. */
  readonly differsFromDisk?: boolean | undefined;
  /** Path patterns that the file applies to. Without patterns, the file applies to all paths. */
  readonly patterns?: readonly string[] | undefined;
}

export type MemoryFileAnswer =
  | ({ readonly state: "read" } & MemoryFile)
  | { readonly state: "unavailable"; readonly reason: string };
