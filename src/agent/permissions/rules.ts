import type { PermissionMode, PermissionNeed } from "../permission.ts";

/**
 * Keys of commands that are more than one simple command. What comes behind a `;` can be anything, so no beginning of
 * such a command says what it does: only the very same one is allowed by a rule.
 */
const EXACT_PREFIX = "shell-exact:";

/** Whether a rule of the settings, or a key that was answered with "always", allows what has this key. */
export function ruleAllows(rule: string, key: string): boolean {
  if (rule === key) return true;
  if (!rule.endsWith("*") || key.startsWith(EXACT_PREFIX)) return false;
  const beginning = rule.slice(0, -1);
  // `path:/data/*` is about what lies in that folder, and `..` would lead out of it.
  return key.startsWith(beginning) && !key.slice(beginning.length).split(/[\\/]/).includes("..");
}

/** Whether the mode alone allows it. */
export function modeAllows(mode: PermissionMode, kind: PermissionNeed["kind"]): boolean {
  if (mode === "allow-all") return true;
  return mode === "default" && kind === "change";
}
