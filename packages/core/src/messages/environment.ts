import { field } from "./untrusted.ts";

/** Environment variables by name. Reading one may throw, so use {@link environmentVariable}. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the environment of the process. Returns an empty object where there is none, or where the runtime
 * refuses access: browsers, workers, Deno without permission, and sandboxes with throwing getters. No caller
 * can do without the conversation because a variable is unreadable.
 */
export function processEnvironment(): Environment {
  try {
    const env = field(field(globalThis, "process"), "env");
    return typeof env === "object" && env !== null ? (env as Environment) : {};
  } catch {
    return {};
  }
}

/**
 * Returns one variable. Returns undefined if the runtime refuses to read it: Deno checks the permission for
 * each variable, so access to the environment may succeed and the read may still throw.
 */
export function environmentVariable(environment: Environment, name: string): unknown {
  try {
    return environment[name];
  } catch {
    return undefined;
  }
}
