import { Command, InvalidArgumentError, Option } from "commander";
import { CLEARING_TARGET_TOKENS } from "../clear/by-size.ts";
import { KEEP_RECENT_TOKENS } from "../compaction/plan/keep-recent.ts";
import { FACT_KINDS } from "../conversation/fact-ledger.ts";
import { POLICY_NAMES, type PolicyName } from "../evaluate/policy.ts";
import { REPLAY_POLICIES, type ReplayPolicyName } from "../evaluate/replay/replay-result.ts";
import { pricesOf } from "../window/prices.ts";
import { NOTES_WRITERS, OUTPUT_FORMATS, PERMISSION_MODES } from "./chat/settings.ts";
import type { ChatCommandOptions } from "./commands/chat-command.ts";
import type { ClearCommandOptions } from "./commands/clear-command.ts";
import type { CompactCommandOptions } from "./commands/compact-command.ts";
import type { EvalOptions } from "./commands/eval-command.ts";
import type { InspectOptions } from "./commands/inspect-command.ts";
import type { LedgerOptions } from "./commands/ledger-command.ts";
import type { NotesCommandOptions } from "./commands/notes-command.ts";
import type { RecallCommandOptions } from "./commands/recall-command.ts";
import type { ReplayCommandOptions } from "./commands/replay-command.ts";
import type { SessionsOptions } from "./commands/sessions-command.ts";
import type { SimOptions } from "./commands/sim-command.ts";
import type { UndoCommandOptions } from "./commands/undo-command.ts";
import type { Composition } from "./composition.ts";
import {
  addTimeouts,
  atLeastOne,
  examples,
  listed,
  modelWindowOption,
  parseBoundary,
  parseMessage,
  parseNames,
  parsePath,
  parsePort,
  parseSpan,
  parseStep,
  parseTokens,
  parseUrl,
  parseWindow,
  projectOption,
  SESSION_ARGUMENT,
  windowOption,
} from "./option-values.ts";

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
    .action(async () => (await import("./commands/demo-command.ts")).demo(await compose()));
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
      (await import("./commands/inspect-command.ts")).inspect(session, options, await compose()),
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
      (await import("./commands/compact-command.ts")).compact(session, options, await compose()),
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
      (await import("./commands/clear-command.ts")).clear(session, options, await compose()),
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
      (await import("./commands/notes-command.ts")).notes(session, options, await compose()),
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
      (await import("./commands/sessions-command.ts")).sessions(options, await compose()),
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
    .action(async (options: SimOptions) =>
      (await import("./commands/sim-command.ts")).sim(options, await compose()),
    );
}

const CHAT_HELP = `\nA session is written as it goes and can be resumed at any time, also after a\ncrash. Commands such as /compact, /context, /rewind and /help work within it. It\nasks before it edits a file, runs a command or fetches a page. --allow takes keys\nsuch as "shell:npm test" or "web:example.org", and "shell:git *" for all that\nbegin like it. ~/.longhaul/AGENTS.md is added to the instructions. Over a pipe,\nwhat is piped is added to the prompt.\n${examples(
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

function addChat(program: Command, compose: () => Promise<Composition>): void {
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
    .addHelpText("after", CHAT_HELP);
  chat.action(async (prompt: string | undefined, options: ChatCommandOptions) => {
    const { chat: run } = await import("./commands/chat-command.ts");
    await run(prompt, options, await compose(), {
      version: program.version() ?? "",
      wrongUse: (message) => chat.error(`error: ${message}`),
    });
  });
}

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
      await (await import("./commands/eval-command.ts")).evaluate(sessions, options, await compose());
    });
}

const parsePolicies = (text: string): readonly PolicyName[] => parseNames(text, POLICY_NAMES);

function parseCounts(text: string): readonly number[] {
  const counts = listed(text).map(atLeastOne(""));
  if (counts.length === 0) throw new InvalidArgumentError("It must be a list of numbers.");
  return [...new Set(counts)];
}

function addLedger(program: Command, compose: () => Promise<Composition>): void {
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
      (await import("./commands/ledger-command.ts")).ledger(session, options, await compose()),
    );
}

const RECALL_HELP = `\nWithout --all only what is no longer in the context is searched: what was compacted,\ncleared, collapsed or removed. Hits say by which id they can be read whole.\nAn index is kept beside the session (ID.recall); it can be deleted at any time. The\nsession itself is never touched.\n${examples(
  "recall latest rate limit decision",
  'recall latest --exact "TypeError: cannot read"',
  "recall latest --pattern 'error TS\\d+' --tool Bash",
  "recall latest --file src/server.ts",
  "recall latest --id 1f0c9d2e",
  "recall 70d782f7 deadlock --page 2 --json",
)}`;

function addRecall(program: Command, compose: () => Promise<Composition>): void {
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
    .addHelpText("after", RECALL_HELP)
    .action(async (session: string, query: readonly string[], options: RecallCommandOptions) =>
      (await import("./commands/recall-command.ts")).recall(
        session,
        query.join(" "),
        options,
        await compose(),
      ),
    );
}

function addReplay(program: Command, compose: () => Promise<Composition>): void {
  program
    .command("replay")
    .description(
      "replay a session under several policies: what it costs, how often it breaks the prompt cache",
    )
    .argument("[sessions...]", "session files, ids or their beginnings, or 'latest'")
    .option("--generated", "use a generated session, alone or beside others")
    .option("--policies <names>", `which to compare: ${REPLAY_POLICIES.join(", ")}`, parseReplayPolicies)
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
      await (await import("./commands/replay-command.ts")).replay(sessions, options, await compose());
    });
}

const parseReplayPolicies = (text: string): readonly ReplayPolicyName[] => parseNames(text, REPLAY_POLICIES);

function parsePricedModel(name: string): string {
  if (pricesOf(name) === undefined) {
    throw new InvalidArgumentError("Its prices are not known. Try claude-sonnet-4-5, or claude-opus-5.");
  }
  return name;
}

function addUndo(program: Command, compose: () => Promise<Composition>): void {
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
      (await import("./commands/undo-command.ts")).undo(session, options, await compose()),
    );
}
