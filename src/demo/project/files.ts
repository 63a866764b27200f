import type { Random } from "../random.ts";
import { resourceFiles } from "./resource-code.ts";
import { openApi, resourceTestFiles } from "./resource-data.ts";
import { RESOURCES } from "./resources.ts";
import { SCHEDULER_FILES } from "./scheduler-files.ts";
import { serviceFiles } from "./service-files.ts";
import { WORDS_FILES } from "./words-files.ts";

/** The project as the agent finds it in the morning. */
export function initialFiles(random: Random): ReadonlyMap<string, string> {
  return new Map([
    ...serviceFiles(RESOURCES),
    ...SCHEDULER_FILES,
    ...WORDS_FILES,
    ...RESOURCES.flatMap(resourceFiles),
    ...RESOURCES.flatMap((spec) => resourceTestFiles(spec, random)),
    ["openapi.json", openApi(RESOURCES)],
  ]);
}
