import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { writeNewSession } from "@longhaul/sessions";
import { createDemoSession, demoFiles } from "@longhaul/simulator/internal";
import type { Composition } from "../composition.ts";
import { inspectSession } from "../inspect-report.ts";
import { contextSection } from "../view/inspect-view.ts";
import { foldText } from "../view/text-width.ts";
import { compact } from "./compact-command.ts";
import { inspect } from "./inspect-command.ts";

/**
 * Shows compaction with our own demo session. Creates a small project and the session of an agent that worked
 * on it. Inspects the session, compacts it in place, and inspects it again.
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
      `\n${foldText(`${terminal.colors.inverse(` ${number} `)} ${terminal.colors.bold(title)}  ${terminal.colors.dim(`$ longhaul ${command}`)}`, terminal.width, "    ")}\n`,
    );
  const intro =
    "An agent has worked on a small project for hours. Its conversation no longer fits the context window.";
  terminal.print(foldText(intro, terminal.width));
  step(1, "Where did the tokens go?", "inspect SESSION");
  await inspect(path, { project }, composition);
  step(2, "Compact it, offline.", "compact SESSION --in-place");
  await compact(path, { inPlace: true, project }, composition);
  step(3, "And now?", "inspect SESSION");
  const after = await composition.load(path);
  terminal.print(contextSection(inspectSession(after, composition.thresholdsOf(after, {})), terminal));
  terminal.print(whatNext(path, terminal));
}

function whatNext(path: string, { width, colors }: Composition["terminal"]): string {
  const { bold, dim } = colors;
  const tries = [
    ["guided tour of the agent, no API key needed", "chat --demo"],
    ["list your own sessions", "sessions"],
    ["see where the tokens of the latest one went", "inspect"],
    ["preview a compaction, without writing", "compact latest --dry-run --summary"],
    ["compact it, then resume it in your agent", "compact latest --in-place"],
  ];
  return [
    "",
    bold("What to try next"),
    ...tries.map(
      ([what, command]) =>
        `${dim(foldText(`  # ${what}`, width, "  # "))}\n${foldText(`  npx longhaul ${command}`, width, "      ")}`,
    ),
    "",
    dim(`The demo session is in:\n${path}`),
  ].join("\n");
}
