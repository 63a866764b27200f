import { Command, Option } from "commander";
import { CLEARING_TARGET_TOKENS } from "../clear/by-size.ts";
import { KEEP_RECENT_TOKENS } from "../compaction/plan/keep-recent.ts";
import { addChat } from "./chat-command.ts";
import type { ClearCommandOptions } from "./commands/clear.ts";
import type { CompactCommandOptions } from "./commands/compact.ts";
import type { InspectOptions } from "./commands/inspect.ts";
import type { NotesCommandOptions } from "./commands/notes.ts";
import type { SessionsOptions } from "./commands/sessions.ts";
import type { SimOptions } from "./commands/sim.ts";
import type { Composition } from "./composition.ts";
import { addEval } from "./eval-command.ts";
import { addLedger } from "./ledger-command.ts";
import {
  addTimeouts,
  atLeastOne,
  examples,
  modelWindowOption,
  parseMessage,
  parsePath,
  parsePort,
  parseSpan,
  parseTokens,
  parseUrl,
  parseWindow,
  projectOption,
  SESSION_ARGUMENT,
  windowOption,
} from "./option-values.ts";
import { addRecall } from "./recall-command.ts";
import { addReplay } from "./replay-command.ts";
import { addUndo } from "./undo-command.ts";

/** The command line. A command and what it stands on are loaded only when it runs, so that --help is instant. */
export function createProgram(version: string, compose: () => Promise<Composition>): Command {
  const program = new Command("longhaul")
    .description("Keeps an LLM agent's conversation going when it outgrows the model's window.")
    .version(version, "-v, --version")
    .showHelpAfterError("(longhaul --help shows how it is used)")
    .addHelpText(
      "after",
      "\nExit codes: 0 done, 1 failed, 2 wrong use.\nColours switch off with NO_COLOR or without a terminal.",
    );
  addChat(program, compose);
  addInspect(program, compose);
  addCompact(program, compose);
  addClear(program, compose);
  addUndo(program, compose);
  addNotes(program, compose);
  addLedger(program, compose);
  addRecall(program, compose);
  addEval(program, compose);
  addReplay(program, compose);
  addSessions(program, compose);
  addSim(program, compose);
  program
    .command("demo")
    .description("show compaction at work on a generated session")
    .action(async () => (await import("./commands/demo.ts")).demo(await compose()));
  return program;
}

function addInspect(program: Command, compose: () => Promise<Composition>): void {
  program
    .command("inspect")
    .description("show how large a session's context is, and where its tokens went")
    .argument("<session>", SESSION_ARGUMENT)
    .addOption(windowOption())
    .addOption(modelWindowOption())
    .addOption(projectOption())
    .option("--prompts", "list what the user wrote, with the names that compact --from and --up-to take")
    .addOption(
      new Option("--span <id>", "show the messages of a collapsed span, whole")
        .argParser(parseSpan)
        .conflicts(["prompts"]),
    )
    .option("--json", "print the report as JSON")
    .addHelpText(
      "after",
      examples(
        "inspect latest",
        "inspect latest --prompts",
        "inspect latest --span 3fa9c1d0",
        "inspect 70d782f7 --json",
        "inspect ./session.jsonl --window 32000",
      ),
    )
    .action(async (session: string, options: InspectOptions) =>
      (await import("./commands/inspect.ts")).inspect(session, options, await compose()),
    );
}

const COMPACT_HELP = `\nA compaction that saves too little to pay fails with exit code 1 (error code\ncompaction-ineffective) and changes nothing, unless you pass --force or\n--instructions. A preview says so and exits with 0.\n\nWithout --in-place or --out nothing is written. Nothing is ever removed from a\nsession file. A message is named by its uuid or the beginning of it;\n\`longhaul inspect SESSION --prompts\` lists them.\n\nFiles are put back from one folder only: --project, or the project that the\nsession's place in your agent's store stands for, or the current folder. Your home\nfolder counts only with --project. Well-known secrets are never put back.\n${examples(
  "compact latest --dry-run --summary",
  "compact 70d782f7 --in-place",
  "compact old.jsonl --out new.jsonl --keep-recent 20000",
  "compact old.jsonl --out new.jsonl --project ~/code/harbour",
  "compact latest --in-place --model claude-sonnet-5-5",
  "compact latest --model openai:gpt-5 --summary",
  'compact latest --in-place --instructions "keep the database decisions"',
  "compact latest --in-place --from-notes",
  "compact latest --in-place --up-to 1f0c9d2e",
  "compact latest --from 1f0c9d2e --out shorter.jsonl",
)}`;

function addCompact(program: Command, compose: () => Promise<Composition>): void {
  addTimeouts(program.command("compact"))
    .description("summarise the older part of a session so that it fits its window again")
    .argument("<session>", SESSION_ARGUMENT)
    .addOption(new Option("--in-place", "append the compaction to the session itself").conflicts(["out"]))
    .option("--out <file>", "write the compacted conversation as a new session", parsePath)
    .option("--dry-run", "only show what would happen, whatever else is given")
    .option(
      "--keep-recent <tokens>",
      `keep about this many tokens of the newest messages verbatim (default: ${KEEP_RECENT_TOKENS}, at most a quarter of the session)`,
      parseTokens,
    )
    .addOption(
      new Option("--from <message>", "summarise this message and all after it; keep what came before")
        .argParser(parseMessage)
        .conflicts(["upTo", "keepRecent"]),
    )
    .addOption(
      new Option("--up-to <message>", "summarise what came before this message; keep it and the rest")
        .argParser(parseMessage)
        .conflicts(["keepRecent"]),
    )
    .addOption(
      new Option(
        "--from-notes",
        "use the session's notes as the summary; they are built if there are none",
      ).conflicts(["instructions", "model", "from", "upTo", "keepRecent"]),
    )
    .option("--instructions <text>", "what the summary must focus on; implies --force")
    .option("--force", "compact even if it saves too little to pay")
    .option("--model <name>", "have this model write the summary (default: the built-in summariser)")
    .option("--base-url <url>", "where to reach the model's API (default: that of its SDK)", parseUrl)
    .addOption(projectOption())
    .option("--no-restore", "put nothing back: no files, to-dos, plan, skills")
    .option("--no-hooks", "do not run the hooks of your settings")
    .addOption(windowOption())
    .addOption(modelWindowOption())
    .option("--summary", "show the whole summary")
    .option("--json", "print the report as JSON")
    .addHelpText("after", COMPACT_HELP)
    .action(async (session: string, options: CompactCommandOptions) =>
      (await import("./commands/compact.ts")).compact(session, options, await compose()),
    );
}

function addClear(program: Command, compose: () => Promise<Composition>): void {
  program
    .command("clear")
    .description("empty stale tool results of a session; everything that was said stays")
    .argument("<session>", SESSION_ARGUMENT)
    .addOption(
      new Option("--in-place", "append the cleared conversation to the session itself").conflicts(["out"]),
    )
    .option("--out <file>", "write the cleared conversation as a new session", parsePath)
    .option("--dry-run", "only show what would happen, whatever else is given")
    .option(
      "--keep <count>",
      "clear all but this many of the newest results, whatever it saves",
      atLeastOne(": the newest result always stays"),
    )
    .addOption(
      new Option(
        "--target <tokens>",
        `leave about this many tokens of results (default: ${CLEARING_TARGET_TOKENS})`,
      )
        .argParser(parseTokens)
        .conflicts(["keep"]),
    )
    .addOption(windowOption())
    .addOption(modelWindowOption())
    .option("--json", "print the report as JSON")
    .addHelpText(
      "after",
      `\nOnly results of tools that can be run again are emptied (files, shell, search,\nweb), and only if that saves enough to be worth it. Without --in-place or --out\nnothing is written. Nothing is ever removed from a session file.\n${examples(
        "clear latest",
        "clear latest --in-place",
        "clear latest --in-place --target 10000",
        "clear old.jsonl --out new.jsonl --keep 5",
      )}`,
    )
    .action(async (session: string, options: ClearCommandOptions) =>
      (await import("./commands/clear.ts")).clear(session, options, await compose()),
    );
}

function addNotes(program: Command, compose: () => Promise<Composition>): void {
  addTimeouts(program.command("notes"))
    .description(
      "show the notes of a session: its goal, state, files, errors, results; builds them if needed",
    )
    .argument("<session>", SESSION_ARGUMENT)
    .option("--update", "bring them up to date with what is new in the session")
    .addOption(
      new Option(
        "--rebuild",
        "build them anew from the whole session, in place of those there are",
      ).conflicts(["update"]),
    )
    .option("--model <name>", "have this model write them (default: they are written without any model)")
    .option("--base-url <url>", "where to reach the model's API (default: that of its SDK)", parseUrl)
    .option("--template <file>", "sections of your own: headings, each with a line in italics", parsePath)
    .option("--dry-run", "print them and write nothing, whatever else is given")
    .addOption(
      new Option("--path", "only print where they are, or would be").conflicts([
        "update",
        "rebuild",
        "dryRun",
      ]),
    )
    .option("--json", "print them as JSON")
    .addHelpText(
      "after",
      `\nNotes are a markdown file beside the session, ID.notes.md; it is yours to edit.\nThey are about the whole session, also what was compacted away, and compact\n--from-notes makes a summary of them. The session itself is never touched.\n${examples(
        "notes latest",
        "notes latest --update",
        "notes 70d782f7 --dry-run",
        "notes latest --rebuild --model claude-haiku-4-5",
        "notes latest --json",
        'less "$(longhaul notes latest --path)"',
      )}`,
    )
    .action(async (session: string, options: NotesCommandOptions) =>
      (await import("./commands/notes.ts")).notes(session, options, await compose()),
    );
}

function addSessions(program: Command, compose: () => Promise<Composition>): void {
  program
    .command("sessions")
    .description("list the sessions of Claude Code and longhaul on this machine, newest first")
    .option("--limit <count>", "how many to list (default: 20)", atLeastOne(""))
    .option("--all", "list every one")
    .option("--json", "print the list as JSON")
    .addHelpText("after", examples("sessions", "sessions --all --json"))
    .action(async (options: SessionsOptions) =>
      (await import("./commands/sessions.ts")).sessions(options, await compose()),
    );
}

const SIM_NOTES = `
Nothing leaves this machine, and any key will do. Ctrl-C ends it and prints the totals.

To a real client such as Claude Code:
  ANTHROPIC_BASE_URL=http://127.0.0.1:8080 ANTHROPIC_API_KEY=any claude
The built-in coder plays the model, and the client carries its calls out. In the folder that the client says it
works in, it reads files that the client has shown, and writes only into the folder longhaul-sim there. Its shell
commands only show names and parts of files. It calls no tools for the web, and tools that it does not know only
when the client has no others. It starts subagents, which start no others. It stops after --turns. When the client
names no folder, it writes nothing.

All other settings are in the file of --config; docs/simulator.md describes them.
`;

function addSim(program: Command, compose: () => Promise<Composition>): void {
  program
    .command("sim")
    .description("run a strict local stand-in for the Anthropic API, for tests and for looking at clients")
    .option("--port <number>", "where to listen on this machine (default: any free port)", parsePort)
    .option("--window <tokens>", "give every model a window of this size (default: its own)", parseWindow)
    .option(
      "--turns <count>",
      "end each task of the built-in coder after so many turns (default: 12)",
      parseTokens,
    )
    .option("--binding", "refuse thinking that comes back after a changed history, as new accounts do")
    .addOption(
      new Option(
        "--betas <mode>",
        "accept unknown betas with a warning, or refuse them (default: warn)",
      ).choices(["warn", "strict"]),
    )
    .option("--script <file>", "answer the first calls with the turns in this JSON file", parsePath)
    .option("--config <file>", "read all other settings from this JSON file", parsePath)
    .option("--json", "print one line of JSON for each request")
    .addHelpText(
      "after",
      `${SIM_NOTES}${examples(
        "sim --port 8080",
        "sim --window 32000 --turns 40 --binding",
        "sim --script turns.json --config sim.json --json",
      )}`,
    )
    .action(async (options: SimOptions) => (await import("./commands/sim.ts")).sim(options, await compose()));
}
