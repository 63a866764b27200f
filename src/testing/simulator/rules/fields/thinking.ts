import { claudeVersion } from "../../../../conversation/claude-version.ts";
import type { JsonRecord } from "../../../../conversation/untrusted.ts";
import type { ThinkingMode } from "../../../../window/claude-features.ts";
import type { SimulatedModel, SimulatedRequest } from "../../exchange.ts";
import { BETAS } from "../../wording/betas.ts";
import { refuse } from "../../wording/refuse.ts";
import type { TextName } from "../../wording/texts.ts";
import { recordField } from "./readers.ts";

const UNSUPPORTED = {
  adaptive: "thinkingAdaptive",
  enabled: "thinkingEnabled",
  disabled: "thinkingDisabled",
  between_tools: "thinkingBetweenTools",
} as const satisfies Record<ThinkingMode, TextName>;

export function checkThinking({ body, betas }: SimulatedRequest, model: SimulatedModel): void {
  const thinking = recordField(body, "thinking");
  if (thinking === undefined) return;
  const mode = thinking.type as ThinkingMode;
  if (!model.features.thinkingModes.includes(mode)) refuse(UNSUPPORTED[mode]);
  if (!betas.has(BETAS.interleavedThinking)) checkBudget(thinking, body);
  const effort = recordField(body, "output_config")?.effort;
  if (mode === "disabled" && (effort === "xhigh" || effort === "max") && thinksAtHighEffort(model)) {
    refuse("thinkingDisabledAtEffort", { effort });
  }
}

/** With interleaved thinking the budget is for all replies of a turn together, so one reply may be shorter. */
function checkBudget({ budget_tokens: budget }: JsonRecord, { max_tokens: maxTokens }: JsonRecord): void {
  if (typeof budget === "number" && typeof maxTokens === "number" && budget >= maxTokens) {
    refuse("budgetOverMaxTokens");
  }
}

/** Opus 5 lets thinking be switched off only up to the effort `high`. */
function thinksAtHighEffort(model: SimulatedModel): boolean {
  const version = claudeVersion(model.id);
  return version?.line === "opus" && version.major === 5 && version.minor === 0;
}
