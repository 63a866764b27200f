import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createDemoSession, type DemoOptions, demoFiles } from "../../src/demo/demo.ts";

/** The demonstration's project as files, and its session as text to be written wherever a test wants it. */
export function demoProject(cwd: string, options: DemoOptions = {}): string {
  for (const [name, text] of demoFiles({ ...options, cwd })) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), text);
  }
  return createDemoSession({ ...options, cwd })
    .map((entry) => `${JSON.stringify(entry)}\n`)
    .join("");
}
