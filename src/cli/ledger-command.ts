import { type Command, Option } from "commander";
import { FACT_KINDS } from "../conversation/fact-ledger.ts";
import type { LedgerOptions } from "./commands/ledger.ts";
import type { Composition } from "./composition.ts";
import { examples, parseBoundary, SESSION_ARGUMENT } from "./option-values.ts";

export function addLedger(program: Command, compose: () => Promise<Composition>): void {
  program
    .command("ledger")
    .description("show what the compactions of a session left in its context, and where the rest is")
    .argument("<session>", SESSION_ARGUMENT)
    .addOption(
      new Option(
        "--boundary <uuid>",
        "show this compaction (default: the newest in full, and a line for each before it)",
      ).argParser(parseBoundary),
    )
    .addOption(new Option("--kind <kind>", "list only facts of this kind").choices(FACT_KINDS))
    .option("--all", "list every fact, also those that are in the context")
    .option("--json", "print the ledger as JSON")
    .addHelpText(
      "after",
      `\nFacts are what people said, files, commands, errors, decisions, open questions and\nto-dos: found without a model. Where a compaction left no ledger, as those of other\nagents, it is computed from what the file has. Nothing is written.\n${examples(
        "ledger latest",
        "ledger latest --kind directive --all",
        "ledger 70d782f7 --boundary 1f0c9d2e",
        "ledger latest --json",
      )}`,
    )
    .action(async (session: string, options: LedgerOptions) =>
      (await import("./commands/ledger.ts")).ledger(session, options, await compose()),
    );
}
