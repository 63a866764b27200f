import { type Command, CommanderError } from "commander";
import { describe, expect, it } from "vitest";
import { MOVED_FLAGS } from "./moved-flags.ts";
import { createProgram } from "./program.ts";

const HELP_LINES = 40;
const COLUMNS = 80;

/** Creates the program with its output. Any action of the program is an error. */
function program(): { readonly program: Command; readonly printed: string[] } {
  const printed: string[] = [];
  const created = createProgram("0.0.0", () => Promise.reject(new Error("nothing is to be done")));
  for (const command of [created, ...created.commands])
    command.exitOverride().configureOutput({
      writeOut: (text) => void printed.push(text),
      writeErr: (text) => void printed.push(text),
      getOutHelpWidth: () => COLUMNS,
    });
  return { program: created, printed };
}

const commandNames = program().program.commands.map((command) => command.name());

async function refused(
  ...args: readonly string[]
): Promise<{ readonly error: unknown; readonly text: string }> {
  const { program: created, printed } = program();
  const error = await created.parseAsync(["node", "longhaul", ...args]).catch((reason: unknown) => reason);
  return { error, text: printed.join("") };
}

describe("help of each command", () => {
  it.each(["", ...commandNames])("longhaul %s --help fits 40 lines of 80 columns", (name) => {
    const { program: created, printed } = program();
    const command = name === "" ? created : created.commands.find((one) => one.name() === name);
    command?.outputHelp();
    const lines = printed.join("").trimEnd().split("\n");
    expect(lines.length).toBeLessThanOrEqual(HELP_LINES);
    expect(lines.filter((line) => [...line].length > COLUMNS)).toEqual([]);
  });
});

it.each(commandNames.filter((name) => !name.startsWith("_")))(
  "the error for an unknown option of longhaul %s names the help of that command",
  async (name) => {
    const { error, text } = await refused(name, "--no-such-option");
    expect(error).toMatchObject({ code: "commander.unknownOption" });
    expect(text).toContain(`Run \`longhaul ${name} --help\` to see how to use it.`);
  },
);

it("the error for an unknown command names the help of longhaul", async () => {
  const { text } = await refused("inspct");
  expect(text).toContain("Did you mean inspect?");
  expect(text).toContain("Run `longhaul --help` to see how to use it.");
});

it("help for an unknown command is an error", async () => {
  const { error, text } = await refused("help", "inspct");
  expect(error).toMatchObject({ code: "commander.unknownCommand" });
  expect(text).toContain("unknown command 'inspct'");
});

it("every example in the help begins with longhaul, even if an argument contains that name too", () => {
  const { program: created, printed } = program();
  for (const command of created.commands) command.outputHelp();
  const examples = printed
    .join("")
    .split(/^Examples:$/m)
    .slice(1)
    .map((part) => part.split(/^(?:Usage|\S)/m)[0] ?? "");
  const lines = examples.flatMap((part) => part.split("\n").filter((line) => line.trim() !== ""));
  expect(lines.length).toBeGreaterThan(20);
  expect(lines.filter((line) => !/^ {2}(?:.*[|(] ?)?longhaul /.test(line))).toEqual([]);
  expect(lines).toContain("  longhaul replay *.jsonl --policies longhaul,plain-summary --json");
});

describe("removed flags that have a replacement", () => {
  const moved = Object.entries(MOVED_FLAGS).flatMap(([command, flags]) =>
    Object.entries(flags).map(([flag, remedy]) => [command, flag, remedy] as const),
  );

  it.each(moved)("longhaul %s rejects %s and names the replacement", async (command, flag, remedy) => {
    for (const args of [[flag], [flag, "5"], [`${flag}=5`]]) {
      const { error, text } = await refused(command, "session", ...args);
      expect(error).toBeInstanceOf(CommanderError);
      expect(text).toContain(`error: ${flag} does not exist anymore. ${remedy}`);
    }
  });

  it("no help text mentions a flag that was removed", () => {
    const { program: created } = program();
    for (const [command, flag] of moved)
      expect(created.commands.find((one) => one.name() === command)?.helpInformation()).not.toContain(
        `${flag} `,
      );
  });
});

it.each([",", " ", "0", "1,many"])("longhaul eval rejects the value %j for --compactions", async (counts) => {
  const { error } = await refused("eval", "--generated", "--compactions", counts);
  expect(error).toMatchObject({ code: "commander.invalidArgument" });
});

it.each([
  [["--record", "https://api.anthropic.com"], "name the file to record"],
  [["--record", "https://api.anthropic.com", "--replay", "a.jsonl", "b.jsonl"], "not both"],
  [["--record", "api.anthropic.com", "a.jsonl"], "It must be an address"],
  [["--replay"], "argument missing"],
  [["a.jsonl"], "the file a.jsonl needs --record <upstream>"],
  [["--replay", "a.jsonl", "--script", "b.json"], "--script has no effect with --replay"],
  [["--record", "http://127.0.0.1:1", "a.jsonl", "--turns", "5"], "--turns has no effect with --record"],
])("longhaul sim %j is wrong usage, and the error says what to change", async (args, reason) => {
  const { error, text } = await refused("sim", ...args);
  expect(error).toBeInstanceOf(CommanderError);
  expect(text).toContain(reason);
  expect(text).toContain("Run `longhaul sim --help` to see how to use it.");
});
