import type { Todo } from "../conversation/todo-ledger.ts";
import type { ProjectFiles } from "./files.ts";
import type { MemoryFileAnswer } from "./memory-files.ts";

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
