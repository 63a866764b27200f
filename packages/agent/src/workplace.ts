import type { Model } from "@longhaul/core";
import type { Todo } from "@longhaul/core/messages";
import type { BackgroundAgent, UsedSkill } from "@longhaul/core/restore";
import type { Person } from "./permission.ts";
import type { ToolOutcome } from "./tool.ts";

/** What the tools of one conversation share. A subagent has its own, but for what is marked as shared. */
export interface Workplace {
  /** Absolute, links followed. */
  readonly cwd: string;
  readonly agentId: string | undefined;
  readonly paths: PathRules;
  readonly reads: ReadState;
  /** Shared by all agents of a session. */
  readonly files: FileContents;
  readonly state: AgentState;
  readonly agents: AgentRoster;
  /** Shared by all agents of a session, and ended with it. */
  readonly shells: Shells;
  /** As they were found when the session began. */
  readonly skills: readonly Skill[];
  /** Undefined where nobody can be asked. */
  readonly person: Person | undefined;
  /** Folder beside the session for what is too long for the model. Made, private, when it is first asked for. */
  outputFolder(): Promise<string>;
  /** How long a result may be as the window is now, in characters; what is longer would be cut in its middle. */
  resultLimit(): number;
  /** The session file, for recall. */
  readonly sessionPath: string;
  /** For small tasks, such as reading a web page; that of the conversation unless another was given. */
  readonly smallModel: Model;
}

export interface PathRules {
  /** What a path means: absolute, links followed as far as it exists (so that no link leads out unseen). */
  resolve(path: string): Promise<ResolvedPath>;
}

export interface ResolvedPath {
  /** As it was meant, absolute, links not followed: what people see and files are remembered by. */
  readonly path: string;
  /** Where it really is. */
  readonly realPath: string;
  /** For people: relative where it is in the working directory. */
  readonly displayPath: string;
  /** In the working directory, or in what was allowed beside it. */
  readonly isInside: boolean;
  /** Why there can be no such file, in words; then it is never inside, and `realPath` is not known. */
  readonly problem?: string;
}

/** What the agent has seen of files and still has in its context. */
export interface ReadState {
  /** Undefined where the agent has not seen it, or has it no longer. */
  get(realPath: string): SeenFile | undefined;
  saw(realPath: string, seen: SeenFile): void;
  forget(realPath: string): void;
  /** After a compaction. */
  clear(): void;
}

export interface SeenFile {
  /** Of the content: a hash. */
  readonly fingerprint: string;
  readonly mtimeMs: number;
  /** Lines that were shown, first and last, counted from 1; undefined: all of it. */
  readonly range: { readonly from: number; readonly to: number } | undefined;
  /** The call whose result shows it; undefined where a change of the agent's own did. */
  readonly callId: string | undefined;
}

/** Contents of files, for fifteen minutes and 50 MB at most; never older than the file. */
export interface FileContents {
  read(realPath: string): Promise<FileContent>;
  clear(): void;
}

export interface FileContent {
  readonly bytes: Buffer;
  readonly mtimeMs: number;
}

/** What the session knows beside its messages. It changes as tools and people change it, and survives a resume. */
export interface AgentState {
  readonly todos: readonly Todo[];
  readonly isPlanMode: boolean;
  readonly planPath: string;
  /** The newest first. */
  readonly usedSkills: readonly UsedSkill[];
  setTodos(todos: readonly Todo[]): void;
  setPlanMode(isOn: boolean): void;
  usedSkill(skill: UsedSkill): void;
}

export interface SubagentTask {
  readonly description: string;
  readonly prompt: string;
  /** By the name of an agent type; the general one unless given. */
  readonly type?: string | undefined;
  readonly isBackground: boolean;
}

/** Agents that this conversation started. */
export interface AgentRoster {
  /** Runs a subagent to its end, or in the background: then the outcome says its id and comes at once. */
  start(task: SubagentTask, options: { readonly signal: AbortSignal }): Promise<ToolOutcome>;
  /** Running ones, and those ended whose result nobody has collected. */
  list(): readonly BackgroundAgent[];
  /** The result; `wait` is for how long to wait for it, in milliseconds. */
  collect(id: string, options: { readonly wait: number; readonly signal: AbortSignal }): Promise<ToolOutcome>;
  stop(id: string): Promise<ToolOutcome>;
  /** Texts for the model about agents that have ended since it was last asked. */
  news(): readonly string[];
  readonly types: readonly { readonly name: string; readonly description: string }[];
}

/** Instructions that somebody wrote for a kind of task. */
export interface Skill {
  readonly name: string;
  /** When to use it, in one line; may be empty. */
  readonly description: string;
  /** The folder with what belongs to it. */
  readonly folder: string;
  /** As it is now; undefined where it can no longer be read. */
  read(): Promise<string | undefined>;
}

/** Commands that the session runs: `createShells` makes it, whoever closes the session closes it. */
export interface Shells {
  start(request: ShellRequest): ShellCommand;
  /** One in the background, running or ended, by its id. */
  find(id: string): ShellCommand | undefined;
  /** All in the background, running or ended. */
  list(): readonly ShellCommand[];
  /** Ends all that run, with everything they started. Nothing can be started after it. */
  close(): Promise<void>;
}

export interface ShellRequest {
  readonly command: string;
  /** Variables beside those of the session. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly isBackground: boolean;
  /** What a look gives at most, in characters; the whole is then in a file. */
  readonly shownChars: number;
  /** For what is too long for the model. */
  outputFolder(): Promise<string>;
  /** The line that it prints, as often as it prints something. */
  onLine?(line: string): void;
}

export interface ShellCommand {
  readonly id: string;
  readonly command: string;
  /** Undefined while it runs. */
  readonly end: ShellEnd | undefined;
  readonly ended: Promise<ShellEnd>;
  readonly runsForMs: number;
  /** What it printed since the last look, as much as a model is to read of it. */
  look(): Promise<ShellOutput>;
  /** Ends it with everything it started. Resolves when it has gone. */
  kill(): Promise<void>;
}

export type ShellEnd =
  /** `leftBehind`: processes that it had started ran on, and were ended. */
  | { readonly how: "exited"; readonly code: number; readonly leftBehind: boolean }
  | { readonly how: "signalled"; readonly signal: string }
  /** By `kill` or `close`. */
  | { readonly how: "killed" }
  | { readonly how: "not-started"; readonly reason: string };

export interface ShellOutput {
  readonly text: string;
  readonly lines: number;
}
