import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type CliRun, runCli } from "../support/cli.ts";
import { demoProject } from "../support/demo-project.ts";
import { temporaryFolder } from "../transcript/temporary-folder.ts";

export interface DemoHome {
  readonly home: string;
  /** Where the demonstration's files are. */
  readonly project: string;
  /** Its session, as it stands in a file. */
  readonly text: string;
  run(...args: readonly string[]): Promise<CliRun>;
  /** What it prints with --json. */
  runJson(...args: readonly string[]): Promise<ReturnType<typeof JSON.parse>>;
  /** The session in a folder of its own, and where its notes would be. */
  newSession(): { readonly session: string; readonly notes: string };
}

/** A home with the demonstration's project in it, gone when the tests of the file are done, and the command line there. */
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
