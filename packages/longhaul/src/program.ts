import { KEEP_RECENT_TOKENS } from "@longhaul/core/compaction";
import { CLEARING_TARGET_TOKENS } from "@longhaul/core/internal/clear";
import { FACT_KINDS } from "@longhaul/core/internal/messages";
import { POLICY_NAMES, REPLAY_POLICIES } from "@longhaul/lab";
import { type Argument, Command, Option } from "commander";

import type { ChatCommandOptions } from "./commands/chat-command.ts";
import type { Composition } from "./composition.ts";
import { refuseMovedFlags } from "./moved-flags.ts";
import {
  atLeastOne,
  collect,
  OUTPUT_FORMATS,
  PERMISSION_MODES,
  parseCounts,
  parseIdOf,
  parseNames,
  parsePath,
  parsePort,
  parsePricedModel,
  parseProject,
  parseTokens,
  parseUrl,
  parseWindow,
  parseWindowOrModel,
  requireAny,
} from "./option-values.ts";

type Compose = () => Promise<Composition>;

/** The command line. A command and what it stands on are loaded only when it runs, so that --help is instant. */
export function createProgram(version: string, compose: Compose): Command {
  const program = new Command("longhaul")
    .description("Keeps an LLM agent's conversation going when it outgrows the model's window.")
    .version(version, "-v, --version")
    .showHelpAfterError("(longhaul --help shows how it is used)")
    .configureHelp({
      subcommandTerm: (command) =>
        [command.name(), ...command.registeredArguments.map(argumentTerm)].join(" "),
    })
    .addHelpText(
      "after",
      "\nExit codes: 0 done, 1 failed, 2 wrong use.\nColours switch off with NO_COLOR or without a terminal.",
    );
  for (const page of PAGES) declare(program, page, compose);
  return program;
}

const argumentTerm = (argument: Argument): string => {
  const name = `${argument.name()}${argument.variadic ? "..." : ""}`;
  return argument.required ? `<${name}>` : `[${name}]`;
};

interface Page {
  readonly name: string;
  readonly about: string;
  readonly arguments?: readonly (readonly [name: string, about: string])[];
  readonly options?: readonly Option[];
  /** Paragraphs below the options, in lines of 80 columns at most. */
  readonly notes?: string;
  /** Without the name of the program, where that is all they start with. */
  readonly examples?: readonly string[];
  /** Ends the program where the arguments and options do not go together. */
  readonly check?: (...given: never[]) => void;
  /** The function of the command: it gets the arguments, the options, and the composition. */
  readonly load: (command: Command) => Promise<(...given: never[]) => Promise<void>>;
}

/** A command with its help. All of it fits 40 lines of 80 columns: a test says so. */
function declare(program: Command, page: Page, compose: Compose): void {
  const { name, about, options = [], notes, examples = [] } = page;
  const command = program.command(name).description(about);
  for (const argument of page.arguments ?? []) command.argument(...argument);
  for (const one of options) command.addOption(one);
  refuseMovedFlags(command);
  const lines = examples.map((line) => `  ${line.includes("longhaul") ? line : `longhaul ${line}`}`);
  if (notes !== undefined) command.addHelpText("after", `\n${notes}`);
  if (lines.length > 0) command.addHelpText("after", ["\nExamples:", ...lines].join("\n"));
  command.action(async (...given) => {
    page.check?.(...(given as never[]));
    const run = await page.load(command);
    await run(...([...given.slice(0, -1), await compose()] as never[]));
  });
}

const option = (flags: string, about: string, parse?: (text: string) => unknown): Option =>
  parse === undefined ? new Option(flags, about) : new Option(flags, about).argParser(parse);

const SESSION = ["<session>", "a file, an id or its beginning, or 'latest' (this project's first)"] as const;
const SESSIONS = ["[sessions...]", "files, ids or their beginnings, or 'latest'"] as const;
const JSON_REPORT = option("--json", "print the report as JSON");
const DRY_RUN = option("--dry-run", "only show what would happen, whatever else is given");
const OUT = option("--out <file>", "write the result as a new session", parsePath);
const IN_PLACE = option("--in-place", "append the result to the session itself").conflicts(["out"]);
const NO_HOOKS = option("--no-hooks", "do not run the hooks of your settings");
const GENERATED = option("--generated", "use a generated session, alone or beside others");
const BASE_URL = option("--base-url <url>", "address of its API (default: that of its SDK)", parseUrl);
const WINDOW = option(
  "--window <size>",
  "in tokens, or that of a model (default: its own)",
  parseWindowOrModel,
);
const PROJECT = option(
  "--project <folder>",
  "take files only from here (default: its project)",
  parseProject,
);
/** What a chat talks with, in words. */
const CHAT_MODEL = "that of a resumed session, else claude-sonnet-5-5";
const KEPT_VERBATIM = `newest messages to keep verbatim (default: ${KEEP_RECENT_TOKENS})`;
const LEFT_UNCLEARED = `leave about so much (default: ${CLEARING_TARGET_TOKENS})`;
const REPLAYED_WINDOW = "size of the window (default: the session's own; 50000 for the generated one)";
/** Options that exclude each other, by the names of their values. */
const OTHER_ENDS = ["upTo", "keepRecent"];
const OTHER_SUMMARIES = ["instructions", "model", "from", ...OTHER_ENDS];
const SEARCHES = ["exact", "pattern", "file", "tool", "limit"];
const parseMessage = parseIdOf("the uuid of a message");
const policies = (about: string, names: readonly string[]): Option =>
  option("--policies <names>", `${about}: ${names.join(", ")}`, parseNames(names));

const PAGES: readonly Page[] = [
  {
    name: "chat",
    about: "talk with an agent that works in this folder, for as long as you like",
    arguments: [["[prompt]", "what to say first"]],
    options: [
      option("-p, --print <prompt>", "say this, print the answer and end"),
      option("--output-format <format>", "how -p prints").choices(OUTPUT_FORMATS),
      option("--model <name>", `claude-…, or provider:name (default: ${CHAT_MODEL})`),
      BASE_URL,
      option("-c, --continue", "continue this project's newest chat").conflicts(["resume"]),
      option("--resume [session]", "continue a session; you choose where none is named"),
      option("--window <tokens>", "size of its window (default: its own)", parseWindow),
      option("--permission-mode <mode>", "accept-edits edits unasked, allow-all never asks").choices(
        PERMISSION_MODES,
      ),
      option("--allow <key>", "allow this without asking (repeatable)", collect),
      option("--plan", "start in plan mode: look and plan, change nothing"),
      option("--instructions <text>", "add this to the system prompt"),
      NO_HOOKS,
      option("--demo", "a guided tour with a stand-in for the model"),
      option("--turns <count>", "with --demo: unattended, so many calls", atLeastOne()).implies({
        demo: true,
      }),
    ],
    notes: `It asks before it edits a file, runs a command or fetches a page. --allow takes
keys such as "shell:npm test" or "web:example.org", and "shell:git *" for all
that begin like it. Sessions are written as they go: resume one at any time,
also after a crash. ~/.longhaul/AGENTS.md is added to the instructions, and
piped text to the prompt. More is in settings.json, under "chat".`,
    examples: [
      "chat --continue",
      'chat "what does this project do?"',
      'chat -p "run the tests" --allow "shell:npm test"',
      'git diff | longhaul chat -p "review this" --output-format json',
      "chat --demo",
    ],
    load: async (command) => {
      const { chat } = await import("./commands/chat-command.ts");
      return (prompt: string | undefined, options: ChatCommandOptions, composition: Composition) =>
        chat(prompt, options, composition, {
          version: command.parent?.version() ?? "",
          wrongUse: (message) => command.error(`error: ${message}`),
        });
    },
  },
  {
    name: "inspect",
    about: "show how large a session's context is, and where its tokens went",
    arguments: [SESSION],
    options: [
      WINDOW,
      PROJECT,
      option("--prompts", "list the user's prompts, by names that compact --from takes"),
      option("--span <id>", "show a collapsed span, whole", parseIdOf("the id of a span")).conflicts(
        "prompts",
      ),
      JSON_REPORT,
    ],
    examples: [
      "inspect latest",
      "inspect latest --prompts",
      "inspect latest --span 3fa9c1d0",
      "inspect 70d782f7 --json",
      "inspect ./session.jsonl --window 32000",
    ],
    load: async () => (await import("./commands/inspect-command.ts")).inspect,
  },
  {
    name: "compact",
    about: "summarise the older part of a session so that it fits its window again",
    arguments: [SESSION],
    options: [
      IN_PLACE,
      OUT,
      DRY_RUN,
      option("--keep-recent <tokens>", KEPT_VERBATIM, parseTokens),
      option("--from <message>", "summarise this and all after it", parseMessage).conflicts(OTHER_ENDS),
      option("--up-to <message>", "summarise all before this message", parseMessage).conflicts("keepRecent"),
      option("--from-notes", "take the session's notes as the summary").conflicts(OTHER_SUMMARIES),
      option("--instructions <text>", "what the summary must focus on; implies --force"),
      option("--force", "compact even if it saves too little to pay"),
      option("--model <name>", "who writes the summary (default: longhaul itself)"),
      BASE_URL,
      PROJECT,
      option("--no-restore", "put nothing back: no files, to-dos, plan, skills"),
      NO_HOOKS,
      WINDOW,
      option("--summary", "show the whole summary"),
      JSON_REPORT,
    ],
    notes: `Without --in-place or --out nothing is written. Nothing is ever removed from a
session file. \`longhaul inspect SESSION --prompts\` lists messages to choose.
A compaction that saves too little fails with exit code 1, and changes nothing.
Files are put back from one folder only: --project, else the project that the
session's place in your agent's store stands for, else the current folder. Your
home folder counts only with --project. Well-known secrets are never put back.`,
    examples: [
      "compact latest --dry-run --summary",
      "compact 70d782f7 --in-place",
      "compact latest --in-place --model claude-sonnet-5-5",
      'compact old.jsonl --out new.jsonl --instructions "keep the decisions"',
    ],
    load: async () => (await import("./commands/compact-command.ts")).compact,
  },
  {
    name: "clear",
    about: "empty stale tool results of a session; everything that was said stays",
    arguments: [SESSION],
    options: [
      IN_PLACE,
      OUT,
      DRY_RUN,
      option(
        "--keep <count>",
        "clear all but this many of the newest, whatever it saves",
        atLeastOne(": the newest result always stays"),
      ),
      option("--target <tokens>", LEFT_UNCLEARED, parseTokens).conflicts("keep"),
      WINDOW,
      JSON_REPORT,
    ],
    notes: `Only results of tools that can be run again are emptied (files, shell, search,
web), and only if that saves enough to be worth it. Without --in-place or --out
nothing is written. Nothing is ever removed from a session file.`,
    examples: [
      "clear latest",
      "clear latest --in-place",
      "clear latest --in-place --target 10000",
      "clear old.jsonl --out new.jsonl --keep 5",
    ],
    load: async () => (await import("./commands/clear-command.ts")).clear,
  },
  {
    name: "undo",
    about: "take back the newest compaction of a session: as it was before, plus what came since",
    arguments: [SESSION],
    options: [
      IN_PLACE,
      OUT,
      DRY_RUN,
      option("--redo", "take the last undo back instead").conflicts(["to"]),
      option(
        "--to <step>",
        "take back this step, and with it all that are newer",
        parseIdOf("the uuid of a step"),
      ),
      option("--list", "only list the steps that led here").conflicts(["inPlace", "out", "redo", "to"]),
      WINDOW,
      JSON_REPORT,
    ],
    notes: `Steps are compactions (also the agent's own, and those of clear --in-place),
commits of collapsed spans, and removals of messages. Undo again to go further
back. Without --in-place or --out nothing is written. Nothing is ever removed
from a session file.`,
    examples: [
      "undo latest",
      "undo latest --in-place",
      "undo latest --redo --in-place",
      "undo 70d782f7 --list",
      "undo 70d782f7 --to e1db58b1 --out before.jsonl",
    ],
    load: async () => (await import("./commands/undo-command.ts")).undo,
  },
  {
    name: "notes",
    about: "show the notes of a session: its goal, state, files, errors, results; builds them if needed",
    arguments: [SESSION],
    options: [
      option("--update", "bring them up to date with what is new in the session"),
      option("--rebuild", "build them anew from the whole session").conflicts(["update"]),
      option("--model <name>", "who writes them (default: longhaul itself, without a model)"),
      BASE_URL,
      option("--dry-run", "print them and write nothing, whatever else is given"),
      option("--path", "only print where they are").conflicts(["update", "rebuild", "dryRun"]),
      option("--json", "print them as JSON"),
    ],
    notes: `Notes are a markdown file beside the session, ID.notes.md; it is yours to edit.
They are about the whole session, also what was compacted away, and compact
--from-notes makes a summary of them. The session itself is never touched.`,
    examples: [
      "notes latest",
      "notes latest --update",
      "notes 70d782f7 --dry-run",
      "notes latest --rebuild --model claude-haiku-4-5",
      "notes latest --json",
      'less "$(longhaul notes latest --path)"',
    ],
    load: async () => (await import("./commands/notes-command.ts")).notes,
  },
  {
    name: "ledger",
    about: "show what the compactions of a session left in its context, and where the rest is",
    arguments: [SESSION],
    options: [
      option(
        "--boundary <uuid>",
        "show this compaction (default: the newest in full, and a line for each before it)",
        parseIdOf("the uuid of a compaction's boundary"),
      ),
      option("--kind <kind>", "list only facts of this kind").choices(FACT_KINDS),
      option("--all", "list every fact, also those that are in the context"),
      option("--json", "print the ledger as JSON"),
    ],
    notes: `Facts are what people said, files, commands, errors, decisions, open questions
and to-dos: found without a model. Where a compaction left no ledger, as those
of other agents, it is computed from what the file has. Nothing is written.`,
    examples: [
      "ledger latest",
      "ledger latest --kind directive --all",
      "ledger 70d782f7 --boundary 1f0c9d2e",
      "ledger latest --json",
    ],
    load: async () => (await import("./commands/ledger-command.ts")).ledger,
  },
  {
    name: "recall",
    about: "search what a session no longer has in its context, and read it word for word",
    arguments: [SESSION, ["[query...]", "words to look for, the rarer the better"]],
    options: [
      option("--exact", "look for the query as it stands"),
      option("--pattern", "the query is a regular expression").conflicts(["exact"]),
      option("--ignore-case", "with --pattern: capitals and small letters are the same"),
      option("--file <path>", "only what was done with this file; a part of its path will do"),
      option("--tool <name>", "only calls and results of this tool"),
      option("--id <id>", "read what it stands for: an entry, a call, a fact", parseMessage).conflicts(
        SEARCHES,
      ),
      option("--page <number>", "which page (default: 1)", atLeastOne()),
      option("--limit <count>", "how many hits a page has (default: 8)", atLeastOne()),
      option("--all", "also what is still in the context, and summaries"),
      option("--json", "print the hits as JSON"),
    ],
    notes: `Without --all only what is no longer in the context is searched: what was
compacted, cleared, collapsed or removed. Hits say by which id they can be read
whole. An index is kept beside the session (ID.recall); it can be deleted at any
time. The session itself is never touched.`,
    examples: [
      "recall latest rate limit decision",
      'recall latest --exact "TypeError: cannot read"',
      "recall latest --pattern 'error TS\\d+' --tool Bash",
      "recall latest --file src/server.ts",
      "recall latest --id 1f0c9d2e",
      "recall 70d782f7 deadlock --page 2 --json",
    ],
    load: async () => (await import("./commands/recall-command.ts")).recall,
  },
  {
    name: "eval",
    about: "measure how much of a session is still known after compactions, by several ways to compact",
    arguments: [SESSIONS],
    options: [
      GENERATED,
      policies("which ways to compare", POLICY_NAMES),
      option("--compactions <counts>", "how many compactions in a row (default: 1,10)", parseCounts),
      option("--window <tokens>", "size of the window (default: 50000)", parseWindow),
      option("--missing", "list what is not in the context any more"),
      JSON_REPORT,
    ],
    notes: `Nothing is written and no model is called. Costs are those of the calls that
a model would have been asked.`,
    examples: [
      "eval --generated",
      "eval latest",
      "eval latest --policies drop-oldest,keep-last --missing",
      "eval *.jsonl --compactions 10 --json",
    ],
    check: requireAny,
    load: async () => (await import("./commands/eval-command.ts")).evaluate,
  },
  {
    name: "replay",
    about: "replay a session under several policies: what it costs, how often it breaks the prompt cache",
    arguments: [SESSIONS],
    options: [
      GENERATED,
      policies("which to compare", REPLAY_POLICIES),
      option("--window <tokens>", REPLAYED_WINDOW, parseWindow),
      option("--cache-ttl <time>", "how long the prompt cache lasts (default: 5m)").choices(["5m", "1h"]),
      option("--model <name>", "take the prices of this model (default: the session's)", parsePricedModel),
      option("--svg <file>", "draw a chart of contexts and costs into this file", parsePath),
      option("--force", "overwrite the chart if there is one"),
      JSON_REPORT,
    ],
    notes: `No model is called, and nothing is written but the chart. The session is taken
as it was recorded, call by call, with what was compacted away.`,
    examples: [
      "replay --generated",
      "replay latest --window 100000",
      "replay latest --svg chart.svg",
      "longhaul replay *.jsonl --policies longhaul,plain-summary --json",
    ],
    check: requireAny,
    load: async () => (await import("./commands/replay-command.ts")).replay,
  },
  {
    name: "sessions",
    about: "list the sessions of Claude Code and longhaul on this machine, newest first",
    options: [
      option("--limit <count>", "how many to list (default: 20)", atLeastOne()),
      option("--all", "list every one"),
      option("--json", "print the list as JSON"),
    ],
    examples: ["sessions", "sessions --all --json"],
    load: async () => (await import("./commands/sessions-command.ts")).sessions,
  },
  {
    name: "sim",
    about: "run a strict local stand-in for the Anthropic API, for tests and for looking at clients",
    options: [
      option("--port <number>", "where to listen on this machine (default: any free port)", parsePort),
      option("--window <tokens>", "give every model a window of this size (default: its own)", parseWindow),
      option("--turns <count>", "turns of the built-in coder for each task (default: 12)", parseTokens),
      option("--script <file>", "answer the first calls with the turns in this JSON file", parsePath),
      option("--config <file>", "read all other settings from this JSON file", parsePath),
      option("--json", "print one line of JSON for each request"),
    ],
    notes: `Nothing leaves this machine, and any key will do. Ctrl-C ends it and prints the
totals. To a real client such as Claude Code:
  ANTHROPIC_BASE_URL=http://127.0.0.1:8080 ANTHROPIC_API_KEY=any claude
The built-in coder plays the model, and the client carries its calls out. In the
folder that the client says it works in, it reads files that the client has
shown, and writes only into the folder longhaul-sim there. Its shell commands
only show names and parts of files. It calls no tools for the web, and tools
that it does not know only when the client has no others. It starts subagents,
which start no others. It stops after --turns. When the client names no folder,
it writes nothing. docs/simulator.md describes the file of --config.`,
    examples: [
      "sim --port 8080",
      "sim --window 32000 --turns 40",
      "sim --script turns.json --config sim.json --json",
    ],
    load: async () => (await import("./commands/sim-command.ts")).sim,
  },
  {
    name: "demo",
    about: "show compaction at work on a generated session",
    load: async () => {
      const { demo } = await import("./commands/demo-command.ts");
      return (_: unknown, composition: Composition) => demo(composition);
    },
  },
];
