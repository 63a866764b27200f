import { stat } from "node:fs/promises";
import type { RunCommand } from "@longhaul/core/hooks";
import { createHooks, type Hooks } from "@longhaul/core/hooks";
import type { Model } from "@longhaul/core/models";
import { readUserHooks, runCommand } from "@longhaul/sessions";
import type { Composition } from "./composition.ts";
import { noteWarnings } from "./terminal.ts";

/** Those of the user's own settings: a session, or the project it is about, brings none. */
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
 * A session outlives its project's folder, and may come from another machine. A hook that guards compactions
 * must be asked then too, so it runs where the person is.
 */
function whereThereIsAFolder(run: RunCommand): RunCommand {
  return async (request) => {
    const place = await stat(request.cwd).catch(() => undefined);
    return run(place?.isDirectory() ? request : { ...request, cwd: "" });
  };
}
