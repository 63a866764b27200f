import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type CliRun, runCli } from "../support/cli.ts";
import { demoProject } from "../support/demo-project.ts";
import { temporaryFolder } from "../transcript/temporary-folder.ts";

export interface DemoHome {
  readonly home: string;
  /** Folder of the demo files. */
  readonly project: string;
  /** The demo session as the text of a file. */
  readonly text: string;
  run(...args: readonly string[]): Promise<CliRun>;
  /** Runs a command with --json and parses its output. */
  runJson(...args: readonly string[]): Promise<ReturnType<typeof JSON.parse>>;
  /** Writes the session to a new folder. Returns the path of the session and the path for its notes. */
  newSession(): { readonly session: string; readonly notes: string };
}

/**
 * Creates a home with the demo project, and functions that run the command line there. The home is removed
 * after the tests of the file.
 */
export function demoHome(): DemoHome {
  const home = temporaryFolder();
  const project = join(home, "harbour");
  const text = demoProject(project);
  const run = (...args: readonly string[]): Promise<CliRun> => runCli(args, { home });
  return {
    home,
    project,
    text,
    run,
    runJson: async (...args) => JSON.parse((await run(...args, "--json")).stdout),
    newSession: () => {
      const folder = mkdtempSync(join(home, "s-"));
      const session = join(folder, "session.jsonl");
      writeFileSync(session, text);
      return { session, notes: join(folder, "session.notes.md") };
    },
  };
}
