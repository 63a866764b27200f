import { field } from "../messages/untrusted.ts";

/**
 * True if loading a package failed because it is not there. A missing dependency of the package has the same
 * code, but names another module; a version that this Node cannot run fails in its own words.
 */
export function isMissingPackage(cause: unknown, name: string): boolean {
  const code = field(cause, "code");
  if (code !== "ERR_MODULE_NOT_FOUND" && code !== "MODULE_NOT_FOUND") return false;
  return (
    cause instanceof Error && (cause.message.includes(`'${name}'`) || cause.message.includes(`/${name}/`))
  );
}

/** Why a package that is there cannot be loaded, in a line. */
export const loadingProblem = (cause: unknown): string =>
  (cause instanceof Error ? cause.message : String(cause)).split("\n")[0] ?? "";
