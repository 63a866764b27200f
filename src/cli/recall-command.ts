import { type Command, Option } from "commander";
import type { RecallCommandOptions } from "./commands/recall-run.ts";
import type { Composition } from "./composition.ts";
import { atLeastOne, examples, parseMessage, SESSION_ARGUMENT } from "./option-values.ts";

const HELP = `\nWithout --all only what is no longer in the context is searched: what was compacted,\ncleared, collapsed or removed. Hits say by which id they can be read whole.\nAn index is kept beside the session (ID.recall); it can be deleted at any time. The\nsession itself is never touched.\n${examples(
  "recall latest rate limit decision",
  'recall latest --exact "TypeError: cannot read"',
  "recall latest --pattern 'error TS\\d+' --tool Bash",
  "recall latest --file src/server.ts",
  "recall latest --id 1f0c9d2e",
  "recall 70d782f7 deadlock --page 2 --json",
)}`;

export function addRecall(program: Command, compose: () => Promise<Composition>): void {
  program
    .command("recall")
    .description("search what a session no longer has in its context, and read it word for word")
    .argument("<session>", SESSION_ARGUMENT)
    .argument("[query...]", "words to look for, the rarer the better")
    .option("--exact", "look for the query as it stands")
    .addOption(new Option("--pattern", "the query is a regular expression").conflicts(["exact"]))
    .option("--ignore-case", "with --pattern: capitals and small letters are the same")
    .option("--file <path>", "only what was done with this file; a part of its path will do")
    .option("--tool <name>", "only calls and results of this tool")
    .addOption(
      new Option("--id <id>", "read what this id stands for: an entry, a call, a fact of the ledger")
        .argParser(parseMessage)
        .conflicts(["exact", "pattern", "file", "tool", "limit"]),
    )
    .option("--page <number>", "which page (default: 1)", atLeastOne(""))
    .option("--limit <count>", "how many hits a page has (default: 8)", atLeastOne(""))
    .option("--all", "also what is still in the context, and summaries")
    .option("--json", "print the hits as JSON")
    .addHelpText("after", HELP)
    .action(async (session: string, query: readonly string[], options: RecallCommandOptions) =>
      (await import("./commands/recall-run.ts")).recall(session, query.join(" "), options, await compose()),
    );
}
