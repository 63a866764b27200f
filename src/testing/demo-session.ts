import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import type { Entry } from "../conversation/entry.ts";
import { type DemoOptions, type DemoRecording, demoSession, filesAtStart } from "../demo/demo.ts";

/** Beside the folder of this module, among the sources and in the package alike. */
const RECORDING = new URL("../demo/harbour.json.gz", import.meta.url);

const readRecording = (): DemoRecording => JSON.parse(gunzipSync(readFileSync(RECORDING)).toString("utf8"));

/** See {@link demoSession}. */
export const createDemoSession = (options?: DemoOptions): readonly Entry[] =>
  demoSession(readRecording(), options);

/** The project's files, by relative path, as they are when the session ends. */
export const demoFiles = (): ReadonlyMap<string, string> => new Map(Object.entries(readRecording().files));

/** The same as they were before the agent changed them. */
export const demoFilesAtStart = (): ReadonlyMap<string, string> => filesAtStart(readRecording());
