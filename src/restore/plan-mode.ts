import { firstString, stringField } from "../conversation/untrusted.ts";
import type { Happening } from "./happenings.ts";
import { type Fit, fitEach, type Gathering, NOTHING, restoredItem, skipping } from "./kind.ts";

/** A summary does not bind as a mode does: without this the agent would start to change things. */
export async function gatherPlanMode({ input, state, ask, happenings }: Gathering): Promise<Fit> {
  const answer = await ask(state, "isPlanMode");
  if (answer.state === "unanswered") return () => skipping("plan-mode", answer.reason);
  const found = planModeIn(happenings);
  const isOn = answer.state === "absent" ? found.isOn : (answer.value ?? false);
  if (typeof isOn !== "boolean") return () => skipping("plan-mode", "invalid");
  if (!isOn) return () => NOTHING;
  const { planFilePath } = found;
  const attachment = {
    type: "plan_mode",
    reminderType: "full",
    isSubAgent: false,
    ...(planFilePath === undefined ? {} : { planFilePath, planExists: true }),
  };
  return (budgetTokens) =>
    fitEach([[() => restoredItem("plan-mode", "plan-mode", attachment, input.countTokens)]], budgetTokens);
}

interface PlanMode {
  readonly isOn: boolean;
  readonly planFilePath: string | undefined;
}

/** The mode of the newest prompt, and what tools and reminders made of it since. */
export function planModeIn(happenings: Iterable<Happening>): PlanMode {
  let isOn = false;
  let planFilePath: string | undefined;
  for (const happening of happenings) {
    if (happening.what === "told") {
      const mode = stringField(happening.entry, "permissionMode");
      if (mode !== undefined) isOn = mode === "plan";
    } else if (happening.what === "call") {
      const { name, isError } = happening.call;
      if (name === "EnterPlanMode" && !isError) isOn = true;
      if (name === "ExitPlanMode" && !isError) isOn = false;
    } else if (happening.type === "plan_mode") {
      isOn = true;
      planFilePath = firstString(happening.attachment, "planFilePath") ?? planFilePath;
    } else if (happening.type === "plan_mode_exit") isOn = false;
  }
  return { isOn, planFilePath };
}
