import type { PermissionNeed } from "../permission.ts";

/** For the model: what became of a call that was not allowed, and what it can do now. */

export const planModeIsOn = (tool: string): string =>
  `${tool} was not run: plan mode is on, and it could change something. Look, search and ask as much as you need, ` +
  "write the plan, and call ExitPlanMode with it. What it says can be done once it is accepted.";

export function refused(need: PermissionNeed, said: string | undefined): string {
  const words = said?.trim() ?? "";
  const isPlan = need.kind === "plan";
  const what = isPlan
    ? "The user did not accept this plan. Plan mode stays on."
    : `This was not done, the user did not allow it: ${need.title}`;
  if (words !== "") return `${what}\nThe user says: ${words}`;
  return isPlan
    ? `${what}\nAsk what should be different, and show a better one.`
    : `${what}\nDo not try to reach the same in another way. Go on without it, or ask what to do instead.`;
}

export function nobodyToAsk(needs: readonly PermissionNeed[]): string {
  if (needs.some(({ kind }) => kind === "plan")) return PLAN_FOR_NOBODY;
  const titles = needs.map(({ title }) => `- ${title}`).join("\n");
  const flags = needs.map(({ key }) => `--allow ${quoted(key)}`).join(" ");
  const keys = needs.map(({ key }) => JSON.stringify(key)).join(", ");
  return (
    `This was not done, it needs the user's permission and there is nobody to ask:\n${titles}\n` +
    "Go on without it if you can, and say in your answer what was left out and how to allow it: " +
    `${flags}, or ${keys} in "permissions.allow" of the settings, or --permission-mode allow-all for everything.`
  );
}

const PLAN_FOR_NOBODY =
  "Plan mode stays on: there is nobody to accept the plan. Give the plan as your answer, whole, and change nothing.";

/** For a shell, as one word. */
const quoted = (key: string): string => `'${key.replaceAll("'", "'\\''")}'`;
