import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The program as users get it. `npm test` builds it before the tests run. */
export const CLI_MAIN: string = join(
  import.meta.dirname,
  "..",
  "..",
  "packages",
  "longhaul",
  "dist",
  "main.js",
);

export interface CliRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Joins output to one line, because the commands wrap their lines at the terminal's width. */
export const unfolded = (shown: string): string => shown.replace(/\s+/g, " ");

/** Writes the settings file of a home. If other users could write to the file, its hooks would be ignored. */
export function writeSettings(home: string, settings: object): void {
  mkdirSync(join(home, ".longhaul"), { recursive: true });
  writeFileSync(join(home, ".longhaul", "settings.json"), JSON.stringify(settings), { mode: 0o600 });
}

/**
 * Runs the built command line in a separate process, with a home that contains only the files of the test.
 */
export function runCli(
  args: readonly string[],
  options: {
    readonly home: string;
    readonly env?: Readonly<Record<string, string>>;
    /** Working directory. Default: the home. */
    readonly cwd?: string;
  },
): Promise<CliRun> {
  return new Promise((resolve, reject) => {
    const env = { PATH: process.env.PATH ?? "", HOME: options.home, ...options.env };
    const child = spawn(process.execPath, [CLI_MAIN, ...args], { env, cwd: options.cwd ?? options.home });
    const output = { stdout: "", stderr: "" };
    child.stdout.setEncoding("utf8").on("data", (text: string) => (output.stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (output.stderr += text));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, ...output }));
  });
}
