import { type Command, Option } from "commander";
import type { UndoCommandOptions } from "./commands/undo.ts";
import type { Composition } from "./composition.ts";
import {
  examples,
  modelWindowOption,
  parsePath,
  parseStep,
  SESSION_ARGUMENT,
  windowOption,
} from "./option-values.ts";

export function addUndo(program: Command, compose: () => Promise<Composition>): void {
  program
    .command("undo")
    .description("take back the newest compaction of a session: as it was before, plus what came since")
    .argument("<session>", SESSION_ARGUMENT)
    .addOption(new Option("--in-place", "append the undo to the session itself").conflicts(["out"]))
    .option("--out <file>", "write the conversation as a new session", parsePath)
    .option("--dry-run", "only show what would happen, whatever else is given")
    .addOption(new Option("--redo", "take the last undo back instead").conflicts(["to"]))
    .addOption(
      new Option("--to <step>", "take back this step, and with it all that are newer").argParser(parseStep),
    )
    .addOption(
      new Option("--list", "only list the steps that led to the conversation, newest first").conflicts([
        "inPlace",
        "out",
        "redo",
        "to",
      ]),
    )
    .addOption(windowOption())
    .addOption(modelWindowOption())
    .option("--json", "print the report as JSON")
    .addHelpText(
      "after",
      `\nSteps are compactions (also the agent's own, and those of clear --in-place),\ncommits of collapsed spans, and removals of messages. Undo again to go further\nback. Without --in-place or --out nothing is written. Nothing is ever removed\nfrom a session file.\n${examples(
        "undo latest",
        "undo latest --in-place",
        "undo latest --redo --in-place",
        "undo 70d782f7 --list",
        "undo 70d782f7 --to e1db58b1 --out before.jsonl",
      )}`,
    )
    .action(async (session: string, options: UndoCommandOptions) =>
      (await import("./commands/undo.ts")).undo(session, options, await compose()),
    );
}
