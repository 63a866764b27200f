import { claudeVersion, isAtLeast } from "../../conversation/claude-version.ts";
import { claudeFeatures } from "../../window/claude-features.ts";
import { findModel } from "../../window/models.ts";
import type { ModelCapabilities } from "../port.ts";

/**
 * What a model can do by its name. Servers that merely speak this API get what every one of them takes:
 * they exist for clients that always send marks, but know neither context management nor counting.
 */
export function anthropicCapabilities(
  model: string,
  overrides: Partial<ModelCapabilities> = {},
): ModelCapabilities {
  const isClaude = /claude/i.test(model);
  const compacts = isClaude && claudeFeatures(model).compaction;
  return {
    promptCache: true,
    cacheEdits: false,
    contextEdits: isClaude && isAtLeast(claudeVersion(model), 4, 0),
    compaction: { onDemand: compacts, threshold: compacts },
    boundThinking: findModel(model).bindsThinking === true,
    images: true,
    countTokens: isClaude ? "exact" : "estimate",
    ...overrides,
  };
}
