import type { PermissionNeed, PermissionRule, Refusal } from "../permission.ts";

/** Words about permissions: for the model, about a call that was not allowed, and for people, with nothing hidden. */

export const planModeIsOn = (tool: string): string =>
  `${tool} was not run: plan mode is on, and the call could change something (rule: plan-mode). ` +
  "Look, search and ask as much as you need. Then call ExitPlanMode with the plan. " +
  "You can carry it out when the user accepts it.";

export function refused(need: PermissionNeed, { rule }: Refusal, said: string | undefined): string {
  const words = said?.trim() ?? "";
  const isPlan = need.kind === "plan";
  const what = isPlan
    ? "The user did not accept this plan. Plan mode stays on."
    : `Not done, because the user did not allow it: ${need.title} (rule: ${rule})`;
  if (words !== "") return `${what}\nThe user says: ${words}`;
  return isPlan
    ? `${what}\nAsk what should be different, and show a better one.`
    : `${what}\nDo not try to reach the same in another way. Continue without it, or ask what to do instead.`;
}

export function nobodyToAsk(needs: readonly PermissionNeed[], refusals: readonly Refusal[]): string {
  if (needs.some(({ kind }) => kind === "plan")) return PLAN_FOR_NOBODY;
  const titles = refusals.map(({ title, rule }) => `- ${title} (rule: ${rule})`).join("\n");
  const keys = needs.map(({ key }) => JSON.stringify(key)).join(", ");
  return (
    `Not done, because it needs the user's permission and nobody can be asked:\n${titles}\n` +
    "Continue without it if you can. Say in your answer what you left out and how to allow it: " +
    `${[...new Set(refusals.flatMap(({ flag }) => flag ?? []))].join(" ")}, or ${keys} in "permissions.allow" of the settings, ` +
    "or --permission-mode allow-all for everything."
  );
}

const PLAN_FOR_NOBODY =
  "Plan mode stays on: nobody can accept the plan. Give the whole plan as your answer, and change nothing.";

/** The flag of `longhaul chat` that would allow it. */
export const flagFor = (rule: PermissionRule, key: string): string =>
  rule === "change" ? "--permission-mode accept-edits" : `--allow ${quoted(key)}`;

/** For a shell, as one word. */
const quoted = (key: string): string => `'${key.replaceAll("'", "'\\''")}'`;

/**
 * Characters that a terminal obeys, leaves out or draws as something else: controls, marks of direction, characters
 * without width, blanks that no shell splits at, and marks that pile up or stand alone. A command in an escape sequence
 * would run and not be seen, and marks can push the end of a line off the screen. Line ends and tabs are seen. Joiners of
 * emoji stay, and up to two marks on a letter.
 */
const HIDDEN = new RegExp(
  [
    "(?![\\n\\t]|\\r\\n)[\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}]",
    // A joiner between two emoji, and the selector that makes one of a sign.
    "(?!(?<=\\p{Extended_Pictographic}\\ufe0f?)(?:\\u200d(?=\\p{Extended_Pictographic})|\\ufe0f))[\\p{Cf}\\p{Default_Ignorable_Code_Point}]",
    "(?! )\\p{Zs}",
    "[\\u2800\\ufffc\\u{1d159}\\u{13441}\\u{13442}\\p{Co}\\p{Cn}]",
    // Terminals differ in the width of newer marks.
    "(?!\\ufe0f)(?:(?<!\\p{L}\\p{M}?)\\p{M}|(?![\\u0300-\\u0ecd\\u1000-\\u109f\\u1780-\\u17d3\\u3099\\u309a])\\p{M})",
  ].join("|"),
  "gu",
);

/** Every hidden character as a code that is seen. */
export const visibleText = (text: string): string =>
  text.replace(HIDDEN, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);

/** As it is asked for: whoever allows something must see all of it. */
export function withAllVisible(need: PermissionNeed): PermissionNeed {
  const { title, detail, scope } = need;
  return {
    ...need,
    title: visibleText(title),
    ...(detail === undefined ? {} : { detail: visibleText(detail) }),
    ...(scope === undefined ? {} : { scope: visibleText(scope) }),
  };
}
