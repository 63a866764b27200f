import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import { defineTool, failure, type Tool } from "../../tool.ts";
import type { Workplace } from "../../workplace.ts";

/** Maximum length of a plan: about 12,000 tokens. Nobody reads a longer plan before accepting it. */
const LONGEST_PLAN = 50_000;
/** File modes of plans. Only the owner can read a plan, because it may be confidential. */
const OWNER_ONLY = { file: 0o600, folder: 0o700 } as const;

export function enterPlanModeTool({ state }: Pick<Workplace, "state">): Tool {
  return defineTool({
    name: "EnterPlanMode",
    description:
      "Turns plan mode on. Until the user accepts a plan, only tools that change nothing run. Use it before work that is large, risky, or has very different solutions, so that the user can choose before anything changes. Do not use it for questions or small changes.",
    input: z.object({}),
    // Plan mode only restricts the agent, so entering it needs no permission.
    isReadOnly: true,
    call: () => {
      const wasOn = state.isPlanMode;
      state.setPlanMode(true);
      return {
        content: `Plan mode ${wasOn ? "was already on" : "is on"}. Read everything that the plan depends on, and ask if something is unclear. Do not change anything. Then call ExitPlanMode with the plan.`,
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
    .describe(
      "The plan in Markdown: what you will change, where, in which steps, and how you will check it.",
    ),
});

export function exitPlanModeTool({ state }: Pick<Workplace, "state">): Tool {
  return defineTool({
    name: "ExitPlanMode",
    description:
      "Shows your plan to the user. If the user accepts it, plan mode ends and you carry out the plan. If not, plan mode stays on, and the user's answer says what to change. Use it only for a plan of work. Report findings in a normal answer.",
    input: exitInput,
    title: ({ plan }) => firstLine(plan),
    needs: ({ plan }) =>
      state.isPlanMode
        ? [{ kind: "plan", title: "Accept this plan and start", detail: plan, key: "plan" }]
        : [],
    call: async ({ plan }) => {
      if (!state.isPlanMode)
        return failure(
          "Plan mode is not on, so you cannot exit it. Continue with the work.",
          "not in plan mode",
        );
      await mkdir(dirname(state.planPath), { recursive: true, mode: OWNER_ONLY.folder });
      await writeFile(state.planPath, `${plan}\n`, { mode: OWNER_ONLY.file });
      state.setPlanMode(false);
      return {
        content: `The plan is approved, and plan mode is off. The plan is saved in ${state.planPath}. Carry it out now. If a part of it turns out to be wrong, say so.`,
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
