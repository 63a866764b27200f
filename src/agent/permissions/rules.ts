import type { PermissionMode, PermissionNeed } from "../permission.ts";

/**
 * Keys that only the very same rule allows. Behind a `;` of a command there can be anything, so its beginning does not
 * say what it does. Guarded files and credentials are allowed one by one.
 */
const EXACT_KEY = /^(?:shell-exact|write-guarded|read-secret):/;

/** Compares a rule of the user's settings with a key. */
export function ruleAllows(rule: string, key: string): boolean {
  if (rule === key) return true;
  if (!rule.endsWith("*") || EXACT_KEY.test(key)) return false;
  const beginning = rule.slice(0, -1);
  // `path:/data/*` is about what lies in that folder, and `..` would lead out of it.
  return key.startsWith(beginning) && !key.slice(beginning.length).split(/[\\/]/).includes("..");
}

/** True where the mode alone allows it. */
export function modeAllows(mode: PermissionMode, kind: PermissionNeed["kind"]): boolean {
  if (mode === "allow-all") return true;
  return mode === "accept-edits" && kind === "change";
}

/** No answer of "always" covers these. */
export const alwaysAsks = (kind: PermissionNeed["kind"]): boolean =>
  kind === "guarded-file" || kind === "secret-file";
