import { stat } from "node:fs/promises";
import type { RunCommand } from "@longhaul/core/hooks";
import { createHooks, type Hooks } from "@longhaul/core/hooks";
import type { Model } from "@longhaul/core/models";
import { readUserHooks, runCommand } from "@longhaul/sessions";
import type { Composition } from "./composition.ts";
import { noteWarnings } from "./terminal.ts";

/** Loads hooks from the user's own settings only. Sessions and their projects cannot add hooks. */
export async function sessionHooks(
  model: Model | undefined,
  { places, terminal }: Composition,
): Promise<Hooks> {
  const { settings, warnings } = await readUserHooks(places);
  const hooks = createHooks({ settings, runCommand: whereThereIsAFolder(runCommand), model });
  noteWarnings([...warnings, ...hooks.warnings], terminal);
  return hooks;
}

/**
 * Returns a function that runs a hook in the session's folder. If that folder does not exist, the hook runs
 * in the current folder. A session may outlive its project's folder or come from another machine. A hook that
 * guards compactions must run even then.
 */
function whereThereIsAFolder(run: RunCommand): RunCommand {
  return async (request) => {
    const place = await stat(request.cwd).catch(() => undefined);
    return run(place?.isDirectory() ? request : { ...request, cwd: "" });
  };
}
