import type { Attachment } from "../conversation/entry.ts";
import { firstString, isRecord, stringField } from "../conversation/untrusted.ts";
import type { Happening } from "./happenings.ts";
import type { Plan } from "./host-state.ts";
import { type Fit, fitEach, type Gathering, NOTHING, restoredItem, skipping } from "./kind.ts";

/** The plan whole, with its path; where it does not fit, the path alone. */
export async function gatherPlan({ input, state, ask, happenings }: Gathering): Promise<Fit> {
  const answer = await ask(state, "plan");
  if (answer.state === "unanswered") return () => skipping("plan", answer.reason);
  const value = answer.state === "absent" ? planIn(happenings) : answer.value;
  if (value === undefined || value === null) return () => NOTHING;
  const plan = readPlan(value);
  if (plan === undefined) return () => skipping("plan", "invalid");
  const { path, content } = plan;
  const whole = () => restoredItem("plan", path, planFile(path, content), input.countTokens);
  const pointer = () => restoredItem("plan", path, planFile(path, ""), input.countTokens, true);
  return (budgetTokens) => {
    const restored = fitEach([[whole, pointer]], budgetTokens);
    if (!restored.items.some(({ isTruncated }) => isTruncated)) return restored;
    return { ...restored, skipped: [{ kind: "plan", name: path, reason: "over-budget" }] };
  };
}

const planFile = (planFilePath: string, planContent: string): Attachment => ({
  type: "plan_file_reference",
  planFilePath,
  planContent,
});

function readPlan(value: unknown): Plan | undefined {
  const path = firstString(value, "path");
  const content = stringField(value, "content");
  return path === undefined || content === undefined || content.trim() === "" ? undefined : { path, content };
}

/** The plan that was put back or pointed out last. */
function planIn(happenings: Iterable<Happening>): Plan | undefined {
  let plan: Plan | undefined;
  for (const happening of happenings) {
    if (happening.what !== "attachment" || !PLAN_FILES.has(happening.type)) continue;
    const { attachment } = happening;
    if (!isRecord(attachment)) continue;
    const path = firstString(attachment, "planFilePath", "filename", "path");
    const content = firstString(attachment, "planContent", "content");
    if (path !== undefined && content !== undefined) plan = { path, content };
  }
  return plan;
}

const PLAN_FILES: ReadonlySet<string> = new Set(["plan_file", "plan_file_reference"]);
