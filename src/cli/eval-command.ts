import { type Command, InvalidArgumentError } from "commander";
import type { PolicyName } from "../evaluate/policy.ts";
import { POLICY_NAMES } from "../evaluate/policy.ts";
import type { EvalOptions } from "./commands/eval.ts";
import type { Composition } from "./composition.ts";
import { atLeastOne, examples, listed, parseNames, parseWindow } from "./option-values.ts";

export function addEval(program: Command, compose: () => Promise<Composition>): void {
  program
    .command("eval")
    .description("measure how much of a session is still known after compactions, by several ways to compact")
    .argument("[sessions...]", "session files, ids or their beginnings, or 'latest'")
    .option("--generated", "use a generated session, alone or beside others")
    .option("--policies <names>", `which ways to compare: ${POLICY_NAMES.join(", ")}`, parsePolicies)
    .option("--compactions <counts>", "how many compactions in a row (default: 1,10)", parseCounts)
    .option("--window <tokens>", "size of the window (default: 50000)", parseWindow)
    .option("--missing", "list what is not in the context any more")
    .option("--json", "print the report as JSON")
    .addHelpText(
      "after",
      `\nNothing is written and no model is called. Costs are those of the calls that\na model would have been asked.\n${examples(
        "eval --generated",
        "eval latest",
        "eval latest --policies drop-oldest,keep-last --missing",
        "eval *.jsonl --compactions 10 --json",
      )}`,
    )
    .action(async (sessions: readonly string[], options: EvalOptions, command: Command) => {
      if (sessions.length === 0 && !options.generated) {
        command.error("error: name a session, or use --generated", { exitCode: 2 });
      }
      await (await import("./commands/eval.ts")).evaluate(sessions, options, await compose());
    });
}

const parsePolicies = (text: string): readonly PolicyName[] => parseNames(text, POLICY_NAMES);

function parseCounts(text: string): readonly number[] {
  const counts = listed(text).map(atLeastOne(""));
  if (counts.length === 0) throw new InvalidArgumentError("It must be a list of numbers.");
  return [...new Set(counts)];
}
