import { type Command, InvalidArgumentError, Option } from "commander";
import { REPLAY_POLICIES, type ReplayPolicyName } from "../evaluate/replay/result.ts";
import { pricesOf } from "../window/prices.ts";
import type { ReplayCommandOptions } from "./commands/replay.ts";
import type { Composition } from "./composition.ts";
import { examples, parseNames, parsePath, parseWindow } from "./option-values.ts";

export function addReplay(program: Command, compose: () => Promise<Composition>): void {
  program
    .command("replay")
    .description(
      "replay a session under several policies: what it costs, how often it breaks the prompt cache",
    )
    .argument("[sessions...]", "session files, ids or their beginnings, or 'latest'")
    .option("--generated", "use a generated session, alone or beside others")
    .option("--policies <names>", `which to compare: ${REPLAY_POLICIES.join(", ")}`, parsePolicies)
    .option(
      "--window <tokens>",
      "size of the window (default: the session's own; 50000 for the generated one)",
      parseWindow,
    )
    .addOption(
      new Option("--cache-ttl <time>", "how long the provider keeps the prompt cache (default: 5m)").choices([
        "5m",
        "1h",
      ]),
    )
    .option("--model <name>", "take the prices of this model (default: the session's)", parsePricedModel)
    .option("--svg <file>", "draw a chart of contexts and costs into this file", parsePath)
    .option("--force", "overwrite the chart if there is one")
    .option("--json", "print the report as JSON")
    .addHelpText(
      "after",
      `\nNo model is called, and nothing is written but the chart. The session is taken\nas it was recorded, call by call, with what was compacted away.\n${examples(
        "replay --generated",
        "replay latest --window 100000",
        "replay latest --svg chart.svg",
        "longhaul replay *.jsonl --policies longhaul,plain-summary --json",
      )}`,
    )
    .action(async (sessions: readonly string[], options: ReplayCommandOptions, command: Command) => {
      if (sessions.length === 0 && !options.generated) {
        command.error("error: name a session, or use --generated", { exitCode: 2 });
      }
      await (await import("./commands/replay.ts")).replay(sessions, options, await compose());
    });
}

const parsePolicies = (text: string): readonly ReplayPolicyName[] => parseNames(text, REPLAY_POLICIES);

function parsePricedModel(name: string): string {
  if (pricesOf(name) === undefined) {
    throw new InvalidArgumentError("Its prices are not known. Try claude-sonnet-4-5, or claude-opus-5.");
  }
  return name;
}
