import { claudeVersion } from "../../../conversation/message.ts";
import { field, type JsonRecord, stringField } from "../../../conversation/untrusted.ts";
import { type SimulatedModel, thinkingMode } from "../exchange.ts";
import type { PrefixFacts } from "./prefix-tree.ts";

/** The parts of a prompt in their order. A change in one invalidates it and all later ones. */
export type PromptLevel = "tools" | "system" | "messages";

/**
 * What, besides the blocks themselves, must be the same for a cached prefix to be read. One key for each
 * level: a prefix that ends in the system prompt does not care for what only the messages depend on.
 */
export type SettingsKeys = Readonly<Record<PromptLevel, string>>;

type PromptFlags = Pick<PrefixFacts, "hasImages" | "hasCitations">;

/**
 * The web-search toggle is not here: its definition is walked as the first thing of the system level.
 * Whether thinking and effort reach back to tools and system differs by model and is not published for
 * any; here they touch the messages alone.
 */
export function settingsKeys(body: JsonRecord, model: SimulatedModel, flags: PromptFlags): SettingsKeys {
  const system = `${speedOf(body)}|citations:${flags.hasCitations}`;
  const messages = [
    system,
    toolChoice(body.tool_choice),
    `images:${flags.hasImages}`,
    thinking(body, model),
    `effort:${stringField(body.output_config, "effort") ?? defaultEffort(model.id)}`,
  ].join("|");
  return { tools: "", system, messages };
}

export function speedOf(body: JsonRecord): string {
  return stringField(body, "speed") ?? "standard";
}

function toolChoice(choice: unknown): string {
  const type = stringField(choice, "type") ?? "auto";
  const serial = field(choice, "disable_parallel_tool_use") === true;
  return `choice:${type}:${stringField(choice, "name") ?? ""}:${serial}`;
}

function thinking(body: JsonRecord, model: SimulatedModel): string {
  const mode = thinkingMode(body, model);
  const budget = mode === "enabled" ? field(body.thinking, "budget_tokens") : "";
  return `thinking:${mode}:${String(budget)}`;
}

/** Naming the default is the same as saying nothing. */
function defaultEffort(model: string): string {
  const version = claudeVersion(model);
  const isMedium =
    version?.major === 5 && version.minor === 5 && (version.line === "opus" || version.line === "haiku");
  return isMedium ? "medium" : "high";
}
