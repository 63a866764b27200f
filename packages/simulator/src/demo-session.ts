import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import type { Entry } from "@longhaul/core/messages";
import { type DemoOptions, type DemoRecording, demoSession, filesAtStart } from "./demo/demo.ts";

/** Location of the recording. It is the same relative to this module in the sources and in the package. */
const RECORDING = new URL("./demo/harbour.json.gz", import.meta.url);
const TOUR_PROJECT = new URL("./demo/tour-project.txt", import.meta.url);

const readRecording = (): DemoRecording => JSON.parse(gunzipSync(readFileSync(RECORDING)).toString("utf8"));

/** Creates the demo session from the recording. See {@link demoSession}. */
export const createDemoSession = (options?: DemoOptions): readonly Entry[] =>
  demoSession(readRecording(), options);

/** Returns the files of the project by relative path, at the end of the session. */
export const demoFiles = (): ReadonlyMap<string, string> => new Map(Object.entries(readRecording().files));

/** Returns the files of the project before the agent changed them. */
export const demoFilesAtStart = (): ReadonlyMap<string, string> => filesAtStart(readRecording());

/**
 * Returns the project files of the chat tour, which differ from those of the demo session. In the stored
 * text, each file begins with a line `=== path`.
 */
export function tourProjectFiles(): ReadonlyMap<string, string> {
  const [, ...parts] = readFileSync(TOUR_PROJECT, "utf8").split(/^=== (.+)\n/m);
  const files = new Map<string, string>();
  for (let at = 0; at < parts.length; at += 2) files.set(parts[at] ?? "", parts[at + 1] ?? "");
  return files;
}
