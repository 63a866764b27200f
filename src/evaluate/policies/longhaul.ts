import { compact, rebuild } from "../../compaction/compact.ts";
import { type FittingPlan, planUnder } from "../../compaction/plan/compaction-plan.ts";
import { RECALL_TOOL_NAME } from "../../conversation/tool-kinds.ts";
import { LonghaulError } from "../../errors.ts";
import type { Model } from "../../models/port.ts";
import { scriptedModel } from "../../models/scripted/scripted-model.ts";
import { findModel } from "../../window/models.ts";
import type { Policy, PolicyInput, PolicyOptions, PolicyOutcome } from "../policy.ts";
import { HOSTILE_SUMMARY } from "./hostile-summary.ts";
import { steadyPorts } from "./ports.ts";
import { summaryCall } from "./summary-call.ts";

/** This library as it is, with its built-in summariser. */
export function longhaul(options: PolicyOptions): Policy {
  return {
    name: "longhaul",
    description: "checked summary, recent messages, files put back, recall",
    hasRecall: true,
    shrink: shrinkBy(options, "longhaul", undefined),
  };
}

/** The same where the model that writes the summary says nothing true. */
export function longhaulHostile(options: PolicyOptions): Policy {
  const liar = scriptedModel(() => HOSTILE_SUMMARY, { name: "hostile" });
  return {
    name: "longhaul-hostile",
    description: "the same with a summariser that only lies",
    hasRecall: true,
    shrink: shrinkBy(options, "hostile", liar),
  };
}

type Shrink = Policy["shrink"];

function shrinkBy(options: PolicyOptions, name: string, model: Model | undefined): Shrink {
  const portsFor = steadyPorts(name);
  const bindsThinking = findModel(options.model).bindsThinking === true;
  return (input) =>
    unlessNothingToDo(input, async () => {
      const fitted = fittingPlan(input, options);
      if (fitted === undefined) return { entries: input.entries, calls: [] };
      const { plan, targetTokens, restoreBudgetTokens } = fitted;
      const compaction = await compact(plan, portsFor(input.entries), {
        model,
        targetTokens,
        restoreBudgetTokens,
        transcriptPath: input.transcriptPath,
        recallTool: RECALL_TOOL_NAME,
        state: options.state ?? {},
        bindsThinking,
      });
      // Written in the background, before the threshold is reached.
      return { entries: rebuild(compaction), calls: [summaryCall(plan, compaction, false)] };
    });
}

function fittingPlan(
  { entries, thresholds }: PolicyInput,
  { countText }: PolicyOptions,
): FittingPlan | undefined {
  const planned = planUnder({ entries }, { thresholdTokens: thresholds.autoCompact, countText });
  return "plan" in planned ? planned : undefined;
}

/** Codes that say: it is as small as it gets. */
const NOTHING_TO_DO: ReadonlySet<string> = new Set(["not-enough-messages", "compaction-ineffective"]);

/** A conversation that cannot be made smaller stays as it is. */
export async function unlessNothingToDo(
  { entries }: PolicyInput,
  shrink: () => Promise<PolicyOutcome>,
): Promise<PolicyOutcome> {
  try {
    return await shrink();
  } catch (error) {
    if (error instanceof LonghaulError && NOTHING_TO_DO.has(error.code)) return { entries, calls: [] };
    throw error;
  }
}
