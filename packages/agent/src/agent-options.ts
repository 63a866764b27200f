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
  /** For small tasks of tools; that of the conversation unless given. */
  readonly smallModel?: Model | undefined;
  /** Where it works: tools stay in this folder unless something else is allowed. That of the process unless given. */
  readonly cwd?: string | undefined;
  /** Where sessions and settings are. The user's own places unless given. */
  readonly places?: UserPlaces | undefined;
  /** A session to go on with, by its file; a new one unless given. One of another agent is copied, never written to. */
  readonly session?: string | undefined;
  /** What is added to the system prompt. */
  readonly instructions?: string | undefined;
  /** `standardTools` unless given: add yours to them, or leave some out. Asked once for each conversation. */
  readonly tools?: ((workplace: Workplace) => readonly Tool[]) | undefined;
  /** Who is asked for permission, and answers questions. Without anybody, what is not allowed is refused. */
  readonly person?: Person | undefined;
  readonly permissions?: PermissionSettings | undefined;
  readonly isPlanMode?: boolean | undefined;
  /** Model calls in one run; no limit unless given. */
  readonly maxTurns?: number | undefined;
  /** Tokens of an answer at most; 20,000, or what the model can write, and less in windows below 100,000. */
  readonly maxOutputTokens?: number | undefined;
  /** Who takes notes along the way, from which a compaction needs no model call. `off` unless given. */
  readonly notes?: NotesWriter | undefined;
  /** Context collapse in place of auto-compact, with the engine's options. It wins over the environment. */
  readonly collapse?: CollapseOptions | undefined;
  readonly agentTypes?: readonly AgentType[] | undefined;
  /** Folders of skills; those of the project and of the user unless given. */
  readonly skillFolders?: readonly string[] | undefined;
  readonly compactor?: CompactorChoices | undefined;
  readonly retries?: Pick<RetryOptions, "retries" | "wait" | "random"> | undefined;
  /** What happens while no run is under way: manual compactions, background work. Runs yield theirs. */
  readonly onEvent?: ((event: AgentEvent) => void) | undefined;
  readonly ports?: Partial<CompactionPorts> | undefined;
}

export type NotesWriter = "model" | "built-in" | "off";

/** Of the engine's options, those that are not the agent's own business. */
export interface CompactorChoices
  extends Pick<CompactorOptions, "cost" | "settings" | "clearing" | "compaction" | "hooks"> {
  /** The evidence is the agent's own: it reads the session's file. */
  readonly window?: Omit<WindowSources, "evidence"> | undefined;
}

export interface AgentType {
  readonly name: string;
  /** When to use it: the model chooses by this. */
  readonly description: string;
  readonly instructions?: string | undefined;
  /** Its own model, and so its own window; that of the main conversation unless given. */
  readonly model?: Model | undefined;
  readonly windowTokens?: number | undefined;
  /** Names of the tools that it has; all but those for subagents unless given. */
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

/** Throws for options that cannot be meant, before a session file exists. The engine checks what `compactor` holds. */
export function requireAgentOptions(options: AgentOptions): void {
  requireOptionNames(options ?? null, AGENT, "openAgent");
  requireModel(options.model, "model");
  if (options.smallModel !== undefined) requireModel(options.smallModel, "smallModel");
  requireOptionNames(options.compactor, COMPACTOR, "compactor of openAgent");
  requireWindow(options.compactor?.window?.tokens, "compactor.window.tokens");
  for (const type of options.agentTypes ?? []) {
    requireOptionNames(type, AGENT_TYPE, "an agent type");
    if (type.model !== undefined) requireModel(type.model, `the model of agent type ${type.name}`);
    requireWindow(type.windowTokens, `windowTokens of agent type ${type.name}`);
  }
  const { notes } = options;
  if (notes !== undefined && notes !== "model" && notes !== "built-in" && notes !== "off") {
    throw new LonghaulError("option-invalid", 'notes must be "model", "built-in" or "off".', {
      remedy: 'Pass "off", or leave it out, where nobody should take notes.',
      facts: { option: "notes" },
    });
  }
}
