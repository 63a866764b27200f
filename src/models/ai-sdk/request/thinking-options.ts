import type { JsonRecord } from "../../../conversation/untrusted.ts";
import { field, stringField } from "../../../conversation/untrusted.ts";
import type { ModelRequest } from "../../port.ts";
import type { Mapping } from "./prompt.ts";

/** How much the model may think, as options of the provider. */
export function thinkingOptions(request: ModelRequest, mapping: Mapping): JsonRecord | undefined {
  const effort = request.output_config?.effort;
  switch (mapping.dialect.flavour) {
    case "anthropic":
      return anthropicThinking(request, effort);
    case "google":
      return googleThinking(request, effort, mapping);
    default:
      return effortOnly(request, effort, mapping);
  }
}

/** The SDK adds the budget to the limit of the output; the Messages API has it inside. */
export function thinkingBudget(request: ModelRequest): number {
  const budget = field(request.thinking, "budget_tokens");
  return request.thinking?.type === "enabled" && typeof budget === "number" ? budget : 0;
}

function anthropicThinking(request: ModelRequest, effort: string | undefined): JsonRecord | undefined {
  const { thinking } = request;
  if (thinking === undefined && effort === undefined) return undefined;
  const budget = thinkingBudget(request);
  const display = stringField(thinking, "display");
  const mismatch = stringField(field(thinking, "block_binding"), "prefix_mismatch_behavior");
  const mapped = {
    type: thinking?.type,
    ...(budget > 0 ? { budgetTokens: budget } : {}),
    ...(display === undefined ? {} : { display }),
    ...(mismatch === undefined ? {} : { blockBinding: { prefixMismatchBehavior: mismatch } }),
  };
  return {
    anthropic: {
      ...(thinking === undefined ? {} : { thinking: mapped }),
      ...(effort === undefined ? {} : { effort }),
    },
  };
}

/** Gemini 3 has levels, the models before it a budget; -1 lets the model choose. */
function googleThinking(
  request: ModelRequest,
  effort: string | undefined,
  { dialect, changes }: Mapping,
): JsonRecord | undefined {
  const hasLevels = !/gemini-[12]/.test(dialect.modelId);
  const budget = thinkingBudget(request);
  const config: Record<string, unknown> = {};
  const mode = request.thinking?.type;
  if (mode === "enabled" || mode === "adaptive") {
    config.includeThoughts = true;
    if (!hasLevels) config.thinkingBudget = mode === "enabled" && budget > 0 ? budget : -1;
    else if (budget > 0) changes.notSupported("thinking.budget_tokens");
  } else if (mode === "disabled" && !hasLevels) config.thinkingBudget = 0;
  else if (mode !== undefined) changes.notSupported(`thinking of type ${mode}`);
  if (effort !== undefined) {
    const level = GOOGLE_LEVELS[effort];
    if (hasLevels && level !== undefined) config.thinkingLevel = level;
    else changes.notSupported("output_config.effort");
  }
  return Object.keys(config).length === 0 ? undefined : { google: { thinkingConfig: config } };
}

const GOOGLE_LEVELS: Readonly<Record<string, string>> = {
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "high",
  max: "high",
};

function effortOnly(
  request: ModelRequest,
  effort: string | undefined,
  { dialect, changes }: Mapping,
): JsonRecord | undefined {
  // A model that thinks by itself needs no `adaptive`.
  const mode = request.thinking?.type;
  if (mode !== undefined && mode !== "adaptive") changes.notSupported(`thinking of type ${mode}`);
  return effort === undefined ? undefined : { [dialect.namespace]: { reasoningEffort: effort } };
}
