import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { FROM_SOURCE } from "../support/from-source.ts";

export interface Finished {
  /** The lines that it printed whole. */
  readonly acknowledged: readonly string[];
  readonly errors: string;
}

/** For Node: runs a script of this folder as it stands. */
export const nodeArguments = (script: string): readonly string[] => [
  ...FROM_SOURCE,
  join(import.meta.dirname, script),
];

/** A script of this folder in a process of its own, and what it has told when it is gone. */
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

/** Kills it some time after it has told so many lines, and gives all that it told. */
export async function killedAfter(
  { child, done }: ReturnType<typeof startProcess>,
  lines: number,
  milliseconds: number,
): Promise<readonly string[]> {
  let told = 0;
  child.stdout?.on("data", (data) => {
    told += String(data).split("\n").length - 1;
    // Not at the moment of the acknowledgement but anywhere in the work that follows it.
    if (told >= lines) setTimeout(() => child.kill("SIGKILL"), milliseconds);
  });
  return (await done).acknowledged;
}
