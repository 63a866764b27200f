#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { LonghaulError } from "@longhaul/core/errors";
import { CommanderError } from "commander";
import { createProgram } from "./program.ts";
import { foldLines, NARROWEST_VIEW, nodeTerminal, type Terminal } from "./terminal.ts";
import { shownText } from "./view/text-width.ts";

const EXIT_FAILED = 1;
const EXIT_WRONG_USE = 2;

const terminal = nodeTerminal(process);
const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  version: string;
};

// If a reader closes the pipe early (`longhaul … | head`), that is not an error of longhaul.
process.stdout.on("error", (error: NodeJS.ErrnoException) =>
  process.exit(error.code === "EPIPE" ? 0 : EXIT_FAILED),
);

// The system sends this signal when a file reaches its size limit (`ulimit -f`). Without a listener, the
// signal ends the process. With a listener, the write fails with an error that says why.
if (process.platform !== "win32") process.on("SIGXFSZ", () => undefined);

process.exitCode = await run(process.argv);

async function run(argv: readonly string[]): Promise<number> {
  const program = createProgram(version, async () =>
    (await import("./composition.ts")).compose(terminal, process.env),
  );
  for (const command of [program, ...program.commands]) {
    command.exitOverride();
    // The message quotes arguments, which must not control the terminal.
    command.configureOutput({ writeErr: (text) => process.stderr.write(foldedForPerson(shownText(text))) });
  }
  try {
    await program.parseAsync([...argv]);
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_WRONG_USE;
    report(error, argv.includes("--json"), terminal);
    return EXIT_FAILED;
  }
}

/** Wraps messages about wrong usage, but only for a person. The help already fits the terminal. */
function foldedForPerson(text: string): string {
  const { isTTY, columns } = process.stderr;
  return isTTY ? foldLines(text, Math.max(NARROWEST_VIEW, columns)) : text;
}

/** Prints the error, its meaning and its remedy. Prints a stack only for unexpected errors. */
function report(error: unknown, asJson: boolean, { note, print, colors }: Terminal): void {
  if (!(error instanceof LonghaulError)) {
    note(`${colors.red("longhaul failed unexpectedly.")} Please report this:`);
    note(error instanceof Error ? (error.stack ?? error.message) : String(error));
    return;
  }
  const { code, message, remedy, facts } = error;
  if (asJson) print(JSON.stringify({ error: { code, message, remedy: remedy ?? null, facts } }));
  // Messages quote names and lines of files, which must not control the terminal.
  note(`${colors.red("longhaul:")} ${shownText(message)}`);
  if (remedy !== undefined) note(shownText(remedy));
}
