import { type CompactorOptions, LonghaulError, type Model } from "@longhaul/core";
import type { CompactionPorts } from "@longhaul/core/compaction";
import {
  type OptionNames,
  requireOptionNames,
  requireWindow,
  type WindowSources,
} from "@longhaul/core/engine";
import { type RetryOptions, requireModel } from "@longhaul/core/models";
import type { CollapseOptions, SnipTurn } from "@longhaul/core/modules";
import type { RewindPoint, UserPlaces } from "@longhaul/sessions";
import type { AgentEvent } from "./agent-events.ts";
import type { PermissionSettings, Person } from "./permission.ts";
import type { Tool } from "./tool.ts";
import type { Workplace } from "./workplace.ts";

export interface AgentOptions {
  readonly model: Model;
  /** Model for small tasks of tools. Default: the model of the conversation. */
  readonly smallModel?: Model | undefined;
  /**
   * Working folder. Tools stay inside it unless a permission allows more. Default: the folder of the process.
   */
  readonly cwd?: string | undefined;
  /** Folders of sessions and settings. Default: the user's own folders. */
  readonly places?: UserPlaces | undefined;
  /**
   * File of a session to resume. Default: a new session. A session of another agent is copied and never
   * written to.
   */
  readonly session?: string | undefined;
  /** Text to append to the system prompt. */
  readonly instructions?: string | undefined;
  /**
   * Creates the tools of a conversation. Called once per conversation. Default: `standardTools`, which you
   * can extend or filter.
   */
  readonly tools?: ((workplace: Workplace) => readonly Tool[]) | undefined;
  /**
   * Grants permissions and answers questions. Without a person, the agent refuses everything that needs
   * permission.
   */
  readonly person?: Person | undefined;
  readonly permissions?: PermissionSettings | undefined;
  readonly isPlanMode?: boolean | undefined;
  /** Maximum number of model calls in one run. Default: no limit. */
  readonly maxTurns?: number | undefined;
  /**
   * Maximum tokens of an answer. Default: 20,000, or the model's own limit if that is lower. Windows below
   * 100,000 tokens have a lower default.
   */
  readonly maxOutputTokens?: number | undefined;
  /** Note taker. With session notes, a compaction needs no model call. Default: `off`. */
  readonly notes?: NotesWriter | undefined;
  /**
   * Options of context collapse. If given, context collapse replaces auto-compact. This option overrides the
   * environment.
   */
  readonly collapse?: CollapseOptions | undefined;
  readonly agentTypes?: readonly AgentType[] | undefined;
  /** Folders of skills. Default: the folders of the project and of the user. */
  readonly skillFolders?: readonly string[] | undefined;
  readonly compactor?: CompactorChoices | undefined;
  readonly retries?: Pick<RetryOptions, "retries" | "wait" | "random"> | undefined;
  /**
   * Receives events outside of runs: manual compactions and background work. Each run yields its own events.
   */
  readonly onEvent?: ((event: AgentEvent) => void) | undefined;
  readonly ports?: Partial<CompactionPorts> | undefined;
}

export type NotesWriter = "model" | "built-in" | "off";

/** Engine options that the agent does not set itself. */
export interface CompactorChoices
  extends Pick<CompactorOptions, "cost" | "settings" | "clearing" | "compaction" | "hooks"> {
  /** Sources of the window size. `evidence` is missing, because the agent reads it from the session file. */
  readonly window?: Omit<WindowSources, "evidence"> | undefined;
}

export interface AgentType {
  readonly name: string;
  /** Description that tells the model when to use this agent type. */
  readonly description: string;
  readonly instructions?: string | undefined;
  /** Model of this agent type, with its own window. Default: the model of the main conversation. */
  readonly model?: Model | undefined;
  readonly windowTokens?: number | undefined;
  /** Names of the tools of this agent type. Default: all tools except those that start subagents. */
  readonly tools?: readonly string[] | undefined;
}

export interface RunOptions {
  readonly signal?: AbortSignal | undefined;
  readonly maxTurns?: number | undefined;
}

export type SnipResult = SnipTurn["snipped"];

export type PromptAt = RewindPoint;

const AGENT: OptionNames<AgentOptions> = {
  model: true,
  smallModel: true,
  cwd: true,
  places: true,
  session: true,
  instructions: true,
  tools: true,
  person: true,
  permissions: true,
  isPlanMode: true,
  maxTurns: true,
  maxOutputTokens: true,
  notes: true,
  collapse: true,
  agentTypes: true,
  skillFolders: true,
  compactor: true,
  retries: true,
  onEvent: true,
  ports: true,
};

const WINDOW: OptionNames<CompactorChoices["window"]> = { tokens: true, models: true };

const COMPACTOR: OptionNames<CompactorChoices> = {
  window: WINDOW,
  cost: true,
  settings: true,
  clearing: true,
  compaction: true,
  hooks: true,
};

const AGENT_TYPE: OptionNames<AgentType> = {
  name: true,
  description: true,
  instructions: true,
  model: true,
  windowTokens: true,
  tools: true,
};

/** Checks the options, and throws before a session file exists. The engine checks the `compactor` options. */
export function requireAgentOptions(options: AgentOptions): void {
  requireOptionNames(options ?? null, AGENT, "openAgent");
  requireModel(options.model, "model");
  if (options.smallModel !== undefined) requireModel(options.smallModel, "smallModel");
  requireOptionNames(options.compactor, COMPACTOR, 'the option "compactor" of openAgent');
  requireWindow(options.compactor?.window?.tokens, "compactor.window.tokens");
  for (const type of options.agentTypes ?? []) {
    requireOptionNames(type, AGENT_TYPE, "an agent type");
    if (type.model !== undefined) requireModel(type.model, `the model of agent type ${type.name}`);
    requireWindow(type.windowTokens, `windowTokens of agent type ${type.name}`);
  }
  const { notes } = options;
  if (notes !== undefined && notes !== "model" && notes !== "built-in" && notes !== "off") {
    throw new LonghaulError(
      "option-invalid",
      `Invalid value for notes: it must be "model", "built-in" or "off", but is ${JSON.stringify(notes)}.`,
      { remedy: 'Pass one of these values. To take no notes, pass "off".', facts: { option: "notes" } },
    );
  }
}
