import {
  LonghaulError,
  type OptionNames,
  requireModel,
  requireOptionNames,
  requireWindow,
} from "../index.ts";
import type { AgentOptions, AgentType, CompactorChoices } from "./options.ts";

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

const COMPACTOR: OptionNames<CompactorChoices> = {
  summaryModel: true,
  windowTokens: true,
  models: true,
  prices: true,
  settings: true,
  settingsFile: true,
  environment: true,
  clearing: true,
  compaction: true,
  cacheTtl: true,
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
  requireWindow(options.compactor?.windowTokens, "compactor.windowTokens");
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
