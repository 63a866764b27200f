import { field } from "../messages/untrusted.ts";

/**
 * Sentences of runtimes whose errors have no code: Chromium, Firefox, Safari, Deno and workerd. They name the
 * specifier that they could not resolve.
 */
const UNRESOLVED =
  /Failed to resolve module specifier|was a bare specifier|does not resolve to a valid URL|^Relative import path|^Import "|^No such module/;

/**
 * Returns true if the package itself is not installed. A missing dependency of the package has the same error
 * code but names another module. A package that this runtime cannot run fails with another error.
 */
export function isMissingPackage(cause: unknown, name: string): boolean {
  const code = field(cause, "code");
  const message = cause instanceof Error ? cause.message : "";
  const isMissing = code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND";
  if (!isMissing && (code !== undefined || !UNRESOLVED.test(message))) return false;
  // Read only the first quoted name. The message ends with the importing file, which may belong to the
  // package itself.
  const missing = /['"“]([^'"”]+)['"”]/.exec(message)?.[1] ?? "";
  const inModules = missing.replaceAll("\\", "/").split("/node_modules/").at(-1) ?? "";
  return inModules === name || inModules.startsWith(`${name}/`);
}

/** Explains in one line why an installed package cannot be loaded. */
export const loadingProblem = (cause: unknown): string =>
  (cause instanceof Error ? cause.message : String(cause)).split("\n")[0] ?? "";
