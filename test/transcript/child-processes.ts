import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { FROM_SOURCE } from "../support/from-source.ts";

export interface Finished {
  /** Complete lines that the process printed. */
  readonly acknowledged: readonly string[];
  readonly errors: string;
}

/** Returns the Node arguments that run a script of this folder from its source. */
export const nodeArguments = (script: string): readonly string[] => [
  ...FROM_SOURCE,
  join(import.meta.dirname, script),
];

/** Starts a script of this folder in a separate process. Resolves with its output when it has ended. */
export function startProcess(
  script: string,
  ...args: readonly (string | number)[]
): { readonly child: ChildProcess; readonly done: Promise<Finished> } {
  const child = spawn(process.execPath, [...nodeArguments(script), ...args.map(String)]);
  let output = "";
  let errors = "";
  child.stdout.on("data", (data) => {
    output += String(data);
  });
  child.stderr.on("data", (data) => {
    errors += String(data);
  });
  const done = new Promise<Finished>((resolve) =>
    child.on("close", () => resolve({ acknowledged: output.split("\n").slice(0, -1), errors })),
  );
  return { child, done };
}

/** Kills the process some time after it has printed this many lines. Returns all complete lines. */
export async function killedAfter(
  { child, done }: ReturnType<typeof startProcess>,
  lines: number,
  milliseconds: number,
): Promise<readonly string[]> {
  let printed = 0;
  child.stdout?.on("data", (data) => {
    printed += String(data).split("\n").length - 1;
    // Waits after the acknowledgment, so that the kill hits a random point of the next write.
    if (printed >= lines) setTimeout(() => child.kill("SIGKILL"), milliseconds);
  });
  return (await done).acknowledged;
}
