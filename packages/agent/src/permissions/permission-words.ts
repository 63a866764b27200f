import type { PermissionNeed, PermissionRule, Refusal } from "../permission.ts";

/** Texts for the model about a call that was not allowed. */

export const planModeIsOn = (tool: string): string =>
  `${tool} was not run: plan mode is on, and the call could change something (rule: plan-mode). ` +
  "Read, search, and ask as much as you need. Then call ExitPlanMode with the plan. " +
  "You can carry out the plan when the user accepts it.";

export function refused(need: PermissionNeed, { rule }: Refusal, said: string | undefined): string {
  const words = said?.trim() ?? "";
  const isPlan = need.kind === "plan";
  const what = isPlan
    ? "The user did not accept this plan. Plan mode stays on."
    : `Not done, because the user did not allow it: ${need.title} (rule: ${rule})`;
  if (words !== "") return `${what}\nThe user says: ${words}`;
  return isPlan
    ? `${what}\nAsk the user what to change, and then show a better plan.`
    : `${what}\nDo not try to reach the same result in another way. Continue without it, or ask what to do instead.`;
}

export function nobodyToAsk(needs: readonly PermissionNeed[], refusals: readonly Refusal[]): string {
  if (needs.some(({ kind }) => kind === "plan")) return PLAN_FOR_NOBODY;
  const titles = refusals.map(({ title, rule }) => `- ${title} (rule: ${rule})`).join("\n");
  const keys = needs.map(({ key }) => JSON.stringify(key)).join(", ");
  return (
    `Not done, because it needs the user's permission and no user is available to ask:\n${titles}\n` +
    "Continue without it if you can. Say in your answer what you left out and how to allow it: " +
    `${[...new Set(refusals.flatMap(({ flag }) => flag ?? []))].join(" ")}, or ${keys} in "permissions.allow" of the settings, ` +
    "or --permission-mode allow-all for everything."
  );
}

const PLAN_FOR_NOBODY =
  "Plan mode stays on, because no user is available to accept the plan. Give the whole plan as your answer. Do not change anything.";

/** Returns the flag of `longhaul chat` that would allow the action. */
export const flagFor = (rule: PermissionRule, key: string): string =>
  rule === "change" ? "--permission-mode accept-edits" : `--allow ${quoted(key)}`;

/** Quotes a key as one word for a shell. */
const quoted = (key: string): string => `'${key.replaceAll("'", "'\\''")}'`;
