import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createDemoSession, demoFiles } from "../../demo/demo.ts";
import { writeNewSession } from "../../transcript/new-session.ts";
import type { Composition } from "../composition.ts";
import { inspectSession } from "../inspect-report.ts";
import { contextSection } from "../view/inspect-view.ts";
import { compact } from "./compact.ts";
import { inspect } from "./inspect.ts";

/**
 * Shows compaction at work on a session of our own making: lays down a small project and the session
 * of an agent that worked on it, looks into the session, compacts it in place, and looks again.
 */
export async function demo(composition: Composition): Promise<void> {
  const { terminal } = composition;
  const folder = await mkdtemp(join(tmpdir(), "longhaul-demo-"));
  const project = join(folder, "harbour");
  const path = join(folder, "session.jsonl");
  for (const [name, text] of demoFiles({ cwd: project })) {
    await mkdir(dirname(join(project, name)), { recursive: true });
    await writeFile(join(project, name), text);
  }
  await writeNewSession(path, createDemoSession({ cwd: project }));

  const step = (number: number, text: string): void =>
    terminal.print(`\n${terminal.colours.inverse(` ${number} `)} ${terminal.colours.bold(text)}\n`);
  terminal.print(
    "An agent has worked on a small project for some hours, and its conversation has outgrown the window.",
  );
  step(1, "Where did the tokens go?   longhaul inspect SESSION");
  await inspect(path, {}, composition);
  step(2, "Compact it, without a model or a network.   longhaul compact SESSION --in-place");
  await compact(path, { inPlace: true }, composition);
  step(3, "And now?   longhaul inspect SESSION");
  const after = await composition.load(path);
  terminal.print(contextSection(inspectSession(after, composition.thresholdsOf(after, {})), terminal));
  terminal.print(whatNext(path, terminal.colours));
}

function whatNext(path: string, colours: Composition["terminal"]["colours"]): string {
  const run = "npx longhaul";
  return [
    "",
    colours.bold("What to try next"),
    `  ${run} sessions                                your own sessions`,
    `  ${run} inspect latest                          where the newest one's tokens went`,
    `  ${run} compact latest --dry-run --summary      what a compaction would make of it; writes nothing`,
    `  ${run} compact latest --in-place               compact it, then resume it with your agent`,
    `  ${run} compact --help                          all options`,
    "",
    colours.dim(`The demonstration session stays in ${path}`),
  ].join("\n");
}
