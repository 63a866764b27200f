import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { writeNewSession } from "@longhaul/sessions";
import { createDemoSession, demoFiles } from "@longhaul/simulator/internal";
import type { Composition } from "../composition.ts";
import { inspectSession } from "../inspect-report.ts";
import { contextSection } from "../view/inspect-view.ts";
import { compact } from "./compact-command.ts";
import { inspect } from "./inspect-command.ts";

/**
 * Shows compaction at work on a session of our own making: lays down a small project and the session
 * of an agent that worked on it, looks into the session, compacts it in place, and looks again.
 */
export async function demo(composition: Composition): Promise<void> {
  const { terminal } = composition;
  const folder = await mkdtemp(join(tmpdir(), "longhaul-demo-"));
  const project = join(folder, "harbour");
  const path = join(folder, "session.jsonl");
  for (const [name, text] of demoFiles()) {
    await mkdir(dirname(join(project, name)), { recursive: true });
    await writeFile(join(project, name), text);
  }
  await writeNewSession(path, createDemoSession({ cwd: project }));

  const step = (number: number, title: string, command: string): void =>
    terminal.print(
      `\n${terminal.colours.inverse(` ${number} `)} ${terminal.colours.bold(title)}  ${terminal.colours.dim(`$ longhaul ${command}`)}\n`,
    );
  terminal.print("An agent has worked on a small project for some hours.");
  terminal.print("Its conversation has outgrown the model's window.");
  step(1, "Where did the tokens go?", "inspect SESSION");
  await inspect(path, { project }, composition);
  step(2, "Compact it, offline.", "compact SESSION --in-place");
  await compact(path, { inPlace: true, project }, composition);
  step(3, "And now?", "inspect SESSION");
  const after = await composition.load(path);
  terminal.print(contextSection(inspectSession(after, composition.thresholdsOf(after, {})), terminal));
  terminal.print(whatNext(path, terminal.colours));
}

function whatNext(path: string, { bold, dim }: Composition["terminal"]["colours"]): string {
  const tries = [
    ["an agent in the terminal: a guided tour, without a key", "chat --demo"],
    ["your own sessions", "sessions"],
    ["where the newest one's tokens went", "inspect latest"],
    ["what a compaction would make of it; writes nothing", "compact latest --dry-run --summary"],
    ["compact it, then resume it with your agent", "compact latest --in-place"],
  ];
  return [
    "",
    bold("What to try next"),
    ...tries.map(([what, command]) => `  ${dim(`# ${what}`)}\n  npx longhaul ${command}`),
    "",
    dim(`The demonstration session stays here:\n${path}`),
  ].join("\n");
}
