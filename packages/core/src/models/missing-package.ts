import { field } from "../messages/untrusted.ts";

/**
 * True if loading a package failed because it is not there. A missing dependency of the package has the same
 * code, but names another module; a version that this Node cannot run fails in its own words.
 */
export function isMissingPackage(cause: unknown, name: string): boolean {
  const code = field(cause, "code");
  if (code !== "ERR_MODULE_NOT_FOUND" && code !== "MODULE_NOT_FOUND") return false;
  // The message ends with the file that wanted it, which may well be a file of the package.
  const missing = /['"]([^'"]+)['"]/.exec(cause instanceof Error ? cause.message : "")?.[1] ?? "";
  const inModules = missing.replaceAll("\\", "/").split("/node_modules/").at(-1) ?? "";
  return inModules === name || inModules.startsWith(`${name}/`);
}

/** Why a package that is there cannot be loaded, in a line. */
export const loadingProblem = (cause: unknown): string =>
  (cause instanceof Error ? cause.message : String(cause)).split("\n")[0] ?? "";
