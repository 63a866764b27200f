import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { DemoOptions } from "../../packages/simulator/src/demo/demo.ts";
import { createDemoSession, demoFiles } from "../../packages/simulator/src/demo-session.ts";

/** Writes the files of the demo project, and returns its session as text. */
export function demoProject(cwd: string, options: DemoOptions = {}): string {
  for (const [name, text] of demoFiles()) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), text);
  }
  return createDemoSession({ ...options, cwd })
    .map((entry) => `${JSON.stringify(entry)}\n`)
    .join("");
}
