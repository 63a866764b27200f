import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import { defineTool, failure, type Tool } from "../../tool.ts";
import type { Workplace } from "../../workplace.ts";

/** About 12,000 tokens: a plan that is longer is no longer read before it is accepted. */
const LONGEST_PLAN = 50_000;
/** Plans speak of work that is nobody else's business. */
const OWNER_ONLY = { file: 0o600, folder: 0o700 } as const;

export function enterPlanModeTool({ state }: Pick<Workplace, "state">): Tool {
  return defineTool({
    name: "EnterPlanMode",
    description:
      "Switches plan mode on: until a plan has been accepted, only tools that look will run. Use it before work that is large, risky, or can be done in ways that differ much, so that the user can choose before anything is changed. Not for questions, and not for small changes.",
    input: z.object({}),
    // It takes away and gives nothing, so it needs nobody's word.
    isReadOnly: true,
    call: () => {
      const wasOn = state.isPlanMode;
      state.setPlanMode(true);
      return {
        content: `Plan mode ${wasOn ? "was on already" : "is on"}. Look at everything that the plan depends on, and ask where something is open. Change nothing. Then call ExitPlanMode with the plan.`,
        summary: "on",
      };
    },
  });
}

const exitInput = z.object({
  plan: z
    .string()
    .trim()
    .min(1)
    .max(LONGEST_PLAN)
    .describe("Markdown: what will be changed, where, in which steps, and how it will be checked."),
});

export function exitPlanModeTool({ state }: Pick<Workplace, "state">): Tool {
  return defineTool({
    name: "ExitPlanMode",
    description:
      "Shows the user your plan. If they accept it, plan mode ends and you carry it out. If not, plan mode stays on, and what they say tells you what to change. Only for plans of work; what you found out is simply said.",
    input: exitInput,
    title: ({ plan }) => firstLine(plan),
    needs: ({ plan }) =>
      state.isPlanMode
        ? [{ kind: "plan", title: "Accept this plan and begin", detail: plan, key: "plan" }]
        : [],
    call: async ({ plan }) => {
      if (!state.isPlanMode)
        return failure(
          "Plan mode is not on, so there is nothing to leave. Go on with the work.",
          "not in plan mode",
        );
      await mkdir(dirname(state.planPath), { recursive: true, mode: OWNER_ONLY.folder });
      await writeFile(state.planPath, `${plan}\n`, { mode: OWNER_ONLY.file });
      state.setPlanMode(false);
      return {
        content: `The plan is approved, and plan mode is off. It is kept in ${state.planPath}. Carry it out now; where it turns out to be wrong, say so.`,
        summary: "approved",
        display: plan,
      };
    },
  });
}

const firstLine = (plan: string): string =>
  plan
    .split("\n", 1)
    .map((line) => line.replace(/^#+\s*/, ""))
    .join("");
