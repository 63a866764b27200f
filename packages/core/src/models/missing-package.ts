import { field } from "../messages/untrusted.ts";

/**
 * Returns true if the package itself is not installed. A missing dependency of the package has the same error
 * code but names another module. A package that this Node version cannot run fails with another error.
 */
export function isMissingPackage(cause: unknown, name: string): boolean {
  const code = field(cause, "code");
  if (code !== "ERR_MODULE_NOT_FOUND" && code !== "MODULE_NOT_FOUND") return false;
  // Read only the first quoted name. The message ends with the importing file, which may belong to the
  // package itself.
  const missing = /['"]([^'"]+)['"]/.exec(cause instanceof Error ? cause.message : "")?.[1] ?? "";
  const inModules = missing.replaceAll("\\", "/").split("/node_modules/").at(-1) ?? "";
  return inModules === name || inModules.startsWith(`${name}/`);
}

/** Explains in one line why an installed package cannot be loaded. */
export const loadingProblem = (cause: unknown): string =>
  (cause instanceof Error ? cause.message : String(cause)).split("\n")[0] ?? "";
