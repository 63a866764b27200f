/** Coding agent built on the public parts of the other packages. Needs Node. */

export type { Agent } from "./agent.ts";
export type { AgentEvent, RunResult, WindowReading } from "./agent-events.ts";
export type {
  AgentOptions,
  AgentType,
  CompactorChoices,
  NotesWriter,
  PromptAt,
  RunOptions,
  SnipResult,
} from "./agent-options.ts";
export { openAgent } from "./open-agent.ts";
export type {
  AskOptions,
  PermissionAnswer,
  PermissionMode,
  PermissionNeed,
  PermissionRule,
  PermissionSettings,
  Person,
  Question,
  Refusal,
} from "./permission.ts";
export { visibleText } from "./permissions/visible-text.ts";
export { defineTool, type Tool, type ToolContext, type ToolOutcome, type ToolSpec } from "./tool.ts";
export { standardTools } from "./tools/standard-tools.ts";
export type {
  AgentRoster,
  AgentState,
  FileContent,
  FileContents,
  PathRules,
  ReadState,
  ResolvedPath,
  SeenFile,
  ShellCommand,
  ShellEnd,
  ShellOutput,
  ShellRequest,
  Shells,
  SubagentTask,
  Workplace,
} from "./workplace.ts";
