import { type Command, InvalidArgumentError, Option } from "commander";
import { NOTES_WRITERS, OUTPUT_FORMATS, PERMISSION_MODES } from "./chat/settings.ts";
import type { ChatCommandOptions } from "./commands/chat.ts";
import type { Composition } from "./composition.ts";
import { atLeastOne, examples, parsePath, parseUrl, parseWindow } from "./option-values.ts";

const HELP = `\nA session is written as it goes and can be resumed at any time, also after a\ncrash. Commands such as /compact, /context, /rewind and /help work within it. It\nasks before it edits a file, runs a command or fetches a page. --allow takes keys\nsuch as "shell:npm test" or "web:example.org", and "shell:git *" for all that\nbegin like it. ~/.longhaul/AGENTS.md is added to the instructions. Over a pipe,\nwhat is piped is added to the prompt.\n${examples(
  "chat",
  'chat "what does this project do?"',
  "chat --continue",
  "chat --resume 70d782f7",
  "chat --model openai:gpt-5",
  'chat -p "run the tests and fix what fails" --allow "shell:npm test" --permission-mode accept-edits',
  'git diff | longhaul chat -p "review this" --output-format json',
  "chat --demo",
)}`;

const collect = (value: string, so: readonly string[] = []): readonly string[] => {
  if (value.trim() === "") throw new InvalidArgumentError("It must not be empty.");
  return [...so, value];
};

const permissionMode = (): Option =>
  new Option(
    "--permission-mode <mode>",
    "accept-edits edits ordinary files without asking, allow-all never asks",
  ).choices(PERMISSION_MODES);

export function addChat(program: Command, compose: () => Promise<Composition>): void {
  const chat = program
    .command("chat")
    .description("talk with an agent that works in this folder, for as long as you like")
    .argument("[prompt]", "what to say first")
    .option("-p, --print <prompt>", "say this, print the answer and end; no terminal is needed")
    .addOption(new Option("--output-format <format>", "how -p prints").choices(OUTPUT_FORMATS))
    .option(
      "--model <name>",
      "claude-…, or provider:name (default: the model of a resumed session, else claude-sonnet-5-5)",
    )
    .option("--base-url <url>", "where to reach the model's API (default: that of its SDK)", parseUrl)
    .option("--small-model <name>", "for small tasks of tools (default: the same)")
    .addOption(
      new Option("-c, --continue", "continue the newest chat of this folder's project").conflicts(["resume"]),
    )
    .option(
      "--resume [session]",
      "continue a session: its id or the beginning of it, a file, or 'latest'; without one you choose from a list",
    )
    .option("--window <tokens>", "size of the model's window (default: its own)", parseWindow)
    .option("--max-turns <count>", "model calls for one prompt at most", atLeastOne(""))
    .addOption(permissionMode())
    .option("--allow <key>", "what needs no question (repeatable)", collect)
    .option(
      "--allow-path <path>",
      "a folder or file outside that is as good as inside (repeatable)",
      (path, so: readonly string[] | undefined) => collect(parsePath(path), so),
    )
    .option("--plan", "start in plan mode: look and plan, change nothing")
    .addOption(
      new Option("--notes <writer>", "who takes notes along the way (default: off)").choices(NOTES_WRITERS),
    )
    .option("--instructions <text>", "what is added to the system prompt")
    .option("--no-hooks", "do not run the hooks of your settings")
    .option("--demo", "a guided tour with a stand-in for the model: no key, no network")
    .addOption(
      new Option("--turns <count>", "with --demo: nobody watches, until so many model calls were made")
        .argParser(atLeastOne(""))
        .implies({ demo: true }),
    )
    .addHelpText("after", HELP);
  chat.action(async (prompt: string | undefined, options: ChatCommandOptions) => {
    const { chat: run } = await import("./commands/chat.ts");
    await run(prompt, options, await compose(), {
      version: program.version() ?? "",
      wrongUse: (message) => chat.error(`error: ${message}`),
    });
  });
}
