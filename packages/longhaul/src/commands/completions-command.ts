import { userHome } from "@longhaul/sessions";
import { peekSession, sessionFiles, sessionLabel } from "@longhaul/sessions/internal";
import type { Command } from "commander";
import { type Candidate, completionOf, SCRIPTS, type Shell } from "../completions.ts";
import type { Composition } from "../composition.ts";
import { ID_SHOWN } from "../view/numbers.ts";
import { fitText, oneLine } from "../view/text-width.ts";

/** Prints the script for a shell. */
export async function completions(shell: Shell, _: unknown, { terminal }: Composition): Promise<void> {
  terminal.print(SCRIPTS[shell]);
}

/** Maximum number of sessions among the completions. */
const MAX_SESSIONS = 20;
const ABOUT_WIDTH = 60;

/**
 * Prints the answer to a completion script. The first line says which paths the shell adds, and the next
 * lines are the candidates.
 */
export async function printCompletion(program: Command, words: readonly string[]): Promise<void> {
  const { candidates, paths } = await completionOf(program, words, findSessions);
  const lines = candidates.map(({ value, about }) => `${value}\t${fitText(about, ABOUT_WIDTH)}`);
  process.stdout.write(`${[`:${paths}`, ...lines].join("\n")}\n`);
}

async function findSessions(start: string): Promise<readonly Candidate[]> {
  const places = { home: userHome(), env: process.env, cwd: process.cwd() };
  const files = (await sessionFiles(places)).filter(({ id }) => id.startsWith(start)).slice(0, MAX_SESSIONS);
  const length = Math.max(ID_SHOWN, start.length);
  return await Promise.all(
    files.map(async ({ id, path, bytes }) => {
      // If several sessions share this prefix, it identifies none of them, so the whole id is offered.
      const isShared = files.filter((other) => other.id.slice(0, length) === id.slice(0, length)).length > 1;
      const value = oneLine(isShared ? id : id.slice(0, length));
      return { value, about: sessionLabel(await peekSession(path, bytes)) };
    }),
  );
}
