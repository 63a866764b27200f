import { Command } from "commander";
import { expect, it } from "vitest";
import { addEval } from "./program.ts";

it.each([",", " ", "0", "1,many"])("numbers of compactions that are none are refused: %j", async (counts) => {
  const program = new Command();
  addEval(program, () => Promise.reject(new Error("nothing is to be done")));
  for (const command of [program, ...program.commands]) {
    command.exitOverride().configureOutput({ writeErr: () => undefined });
  }
  const run = program.parseAsync(["node", "longhaul", "eval", "--generated", "--compactions", counts]);
  await expect(run).rejects.toMatchObject({ code: "commander.invalidArgument" });
});
