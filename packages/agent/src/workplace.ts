import type { Model } from "@longhaul/core";
import type { Todo } from "@longhaul/core/messages";
import type { BackgroundAgent, UsedSkill } from "@longhaul/core/restore";
import type { Person } from "./permission.ts";
import type { ToolOutcome } from "./tool.ts";

/**
 * Objects that the tools of one conversation share. A subagent has its own objects, except for those marked
 * as shared by all agents.
 */
export interface Workplace {
  /** Working directory: an absolute path with links resolved. */
  readonly cwd: string;
  readonly agentId: string | undefined;
  readonly paths: PathRules;
  readonly reads: ReadState;
  /** Contents of files, shared by all agents of a session. */
  readonly files: FileContents;
  readonly state: AgentState;
  readonly agents: AgentRoster;
  /** Commands, shared by all agents of a session. They are closed with the session. */
  readonly shells: Shells;
  /** Skills from the start of the session. */
  readonly skills: readonly Skill[];
  /** User who answers questions. Undefined if nobody can. */
  readonly person: Person | undefined;
  /**
   * Returns the folder next to the session for results that are too long for the model. The first call
   * creates the folder, and only the user can read it.
   */
  outputFolder(): Promise<string>;
  /**
   * Returns the maximum characters of a result at the current fill level of the window. A longer result is
   * cut in the middle.
   */
  resultLimit(): number;
  /** Path of the session file, for recall. */
  readonly sessionPath: string;
  /** Model for small tasks, such as reading a web page. Default: the model of the conversation. */
  readonly smallModel: Model;
}

export interface PathRules {
  /**
   * Resolves a path to an absolute one. Resolves links as far as the path exists, so that no link leads out
   * unnoticed.
   */
  resolve(path: string): Promise<ResolvedPath>;
}

export interface ResolvedPath {
  /** Requested path, absolute, with links unresolved. People see this path. */
  readonly path: string;
  /** Path with all links resolved. */
  readonly realPath: string;
  /** Path for people: relative inside the working directory. */
  readonly displayPath: string;
  /** True if the path is in the working directory or in an additionally allowed path. */
  readonly isInside: boolean;
  /**
   * Reason why the file cannot exist. If there is a reason, `isInside` is false and `realPath` is unknown.
   */
  readonly problem?: string;
}

/** Files that the agent has read and still has in its context. */
export interface ReadState {
  /**
   * Returns the record of a file, or undefined if the agent has not seen the file or no longer has it in its
   * context.
   */
  get(realPath: string): SeenFile | undefined;
  saw(realPath: string, seen: SeenFile): void;
  forget(realPath: string): void;
  /** Forgets all files after a compaction. */
  clear(): void;
}

export interface SeenFile {
  /** Hash of the content. */
  readonly fingerprint: string;
  readonly mtimeMs: number;
  /** First and last line that were shown, counted from 1. Undefined if all of the file was shown. */
  readonly range: { readonly from: number; readonly to: number } | undefined;
  /** Id of the call whose result shows the file. Undefined if the agent's own change produced the content. */
  readonly callId: string | undefined;
}

/** Cache of file contents, for at most fifteen minutes and 50 MB. Never returns outdated content. */
export interface FileContents {
  read(realPath: string): Promise<FileContent>;
  clear(): void;
}

export interface FileContent {
  readonly bytes: Buffer;
  readonly mtimeMs: number;
}

/** State of the session besides its messages. Tools and people change it, and it survives a resume. */
export interface AgentState {
  readonly todos: readonly Todo[];
  readonly isPlanMode: boolean;
  readonly planPath: string;
  /** Skills that were used, newest first. */
  readonly usedSkills: readonly UsedSkill[];
  setTodos(todos: readonly Todo[]): void;
  setPlanMode(isOn: boolean): void;
  usedSkill(skill: UsedSkill): void;
}

export interface SubagentTask {
  readonly description: string;
  readonly prompt: string;
  /** Name of an agent type. Default: the general agent type. */
  readonly type?: string | undefined;
  readonly isBackground: boolean;
}

/** Agents that this conversation started. */
export interface AgentRoster {
  /** Runs a subagent to its end, or starts it in the background and returns its id at once. */
  start(task: SubagentTask, options: { readonly signal: AbortSignal }): Promise<ToolOutcome>;
  /** Returns running agents, and ended ones whose result nobody has collected. */
  list(): readonly BackgroundAgent[];
  /** Returns the result. `wait` is the maximum wait in milliseconds. */
  collect(id: string, options: { readonly wait: number; readonly signal: AbortSignal }): Promise<ToolOutcome>;
  stop(id: string): Promise<ToolOutcome>;
  /** Returns texts for the model about agents that have ended since the last call. */
  news(): readonly string[];
  readonly types: readonly { readonly name: string; readonly description: string }[];
}

/** Written instructions for one type of task. */
export interface Skill {
  readonly name: string;
  /** One-line description of when to use the skill. It can be empty. */
  readonly description: string;
  /** Folder with the skill's additional files. */
  readonly folder: string;
  /** Reads the current text. Returns undefined if it is no longer readable. */
  read(): Promise<string | undefined>;
}

/** Commands of a session. `createShells` creates them. Close them together with the session. */
export interface Shells {
  start(request: ShellRequest): ShellCommand;
  /** Finds a background command by its id, running or ended. */
  find(id: string): ShellCommand | undefined;
  /** Returns all background commands, running or ended. */
  list(): readonly ShellCommand[];
  /** Ends all running commands with their child processes. No command can start afterwards. */
  close(): Promise<void>;
}

export interface ShellRequest {
  readonly command: string;
  /** Additional variables besides those of the session. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly isBackground: boolean;
  /** Maximum characters of one read. If the output is longer, a file keeps all of it. */
  readonly shownChars: number;
  /** Returns the folder for output that is too long for the model. */
  outputFolder(): Promise<string>;
  /** Reports the current line whenever the command prints. */
  onLine?(line: string): void;
}

export interface ShellCommand {
  readonly id: string;
  readonly command: string;
  /** End of the command. Undefined while it runs. */
  readonly end: ShellEnd | undefined;
  readonly ended: Promise<ShellEnd>;
  readonly runsForMs: number;
  /** Returns the output since the last read, shortened for a model. */
  look(): Promise<ShellOutput>;
  /** Ends the command with all its child processes. Resolves when it has ended. */
  kill(): Promise<void>;
}

export type ShellEnd =
  /** `leftBehind`: child processes were still running and were ended. */
  | { readonly how: "exited"; readonly code: number; readonly leftBehind: boolean }
  | { readonly how: "signalled"; readonly signal: string }
  /** Ended by `kill` or `close`. */
  | { readonly how: "killed" }
  | { readonly how: "not-started"; readonly reason: string };

export interface ShellOutput {
  readonly text: string;
  readonly lines: number;
}
