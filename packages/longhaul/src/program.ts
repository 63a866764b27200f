// This file has more than 500 lines, because it is one table: it declares all commands and their options.
import { KEEP_RECENT_TOKENS } from "@longhaul/core/compaction";
import { CLEARING_TARGET_TOKENS } from "@longhaul/core/internal/clear";
import { FACT_KINDS } from "@longhaul/core/internal/messages";
import { POLICY_NAMES, REPLAY_POLICIES } from "@longhaul/lab";
import { Argument, Command, Option } from "commander";

import type { ChatCommandOptions } from "./commands/chat-command.ts";
import type { SimOptions } from "./commands/sim-command.ts";
import { declareCompletion, SHELLS } from "./completions.ts";
import type { Composition } from "./composition.ts";
import { afterHelp, HELP } from "./help.ts";
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
  requireOneSource,
  requireSession,
} from "./option-values.ts";

/** Options of `sim`. Without a recording, the simulator plays the model. */
interface SimSource extends SimOptions {
  readonly record?: string;
  readonly replay?: string;
}

type Compose = () => Promise<Composition>;

/** Creates the command line. Loads a command and its modules only when it runs, so that --help is instant. */
export function createProgram(version: string, compose: Compose): Command {
  const program = new Command("longhaul")
    .description("Context compaction for LLM agents: inspect, compact, search and undo long sessions.")
    .version(version, "-v, --version", "print the version")
    .helpOption("-h, --help", "show help")
    .helpCommand(false)
    .showHelpAfterError(usageHint("longhaul"))
    .configureHelp(HELP)
    .addHelpText("after", afterHelp({ notes: [COMPLETIONS_HINT, EXIT_CODES, COLORS_HINT] }));
  for (const page of PAGES) declare(program, page, compose);
  declareHelp(program);
  declareCompletion(program);
  return program;
}

/**
 * Adds our own command `help`. Commander's `help` reports no error for an unknown name: it prints the general
 * help.
 */
function declareHelp(program: Command): void {
  program
    .command("help")
    .argument("[command]")
    .description("show the help of a command")
    .showHelpAfterError(usageHint("longhaul help"))
    .action((name?: string) => {
      const command = name === undefined ? program : program.commands.find((each) => each.name() === name);
      if (command === undefined)
        program.error(`error: unknown command '${name}'`, { code: "commander.unknownCommand" });
      else command.outputHelp();
    });
}

const usageHint = (command: string): string => `Run \`${command} --help\` to see how to use it.`;

const COMPLETIONS_HINT = "Tab completion: see longhaul completions --help.";
const EXIT_CODES = "Exit codes: 0 success, 1 failure, 2 wrong usage.";
const COLORS_HINT = "Colors are off with NO_COLOR and outside a terminal.";

interface Page {
  readonly name: string;
  readonly about: string;
  readonly arguments?: readonly Argument[];
  readonly options?: readonly Option[];
  /** Paragraphs below the options. Indented lines are not wrapped. */
  readonly notes?: readonly string[];
  /** Command lines, with or without the name of the program at their start. */
  readonly examples?: readonly string[];
  /** Exits if the arguments and options contradict each other. */
  readonly check?: (...given: never[]) => void;
  /** Loads the function of the command. It gets the arguments, the options, and the composition. */
  readonly load: (command: Command) => Promise<(...given: never[]) => Promise<void>>;
}

/** Adds a command with its help. A test checks that each help fits 40 lines of 80 columns. */
function declare(program: Command, page: Page, compose: Compose): void {
  const { name, about, options = [] } = page;
  const command = program
    .command(name)
    .description(about)
    .showHelpAfterError(usageHint(`longhaul ${name}`));
  for (const one of page.arguments ?? []) command.addArgument(one);
  for (const one of options) command.addOption(one);
  refuseMovedFlags(command);
  command.addHelpText("after", afterHelp(page));
  command.action(async (...given) => {
    page.check?.(...(given as never[]));
    const run = await page.load(command);
    await run(...([...given.slice(0, -1), await compose()] as never[]));
  });
}

const option = (flags: string, about: string, parse?: (text: string) => unknown): Option =>
  parse === undefined ? new Option(flags, about) : new Option(flags, about).argParser(parse);

const SESSION_FORMS = "a file, an id or its start, or `latest`";
const argument = (name: string, about: string): Argument => new Argument(name, about);
const SESSION = argument("<session>", SESSION_FORMS);
const SESSION_OR_LATEST = argument("[session]", `${SESSION_FORMS} (default: latest)`);
const SESSIONS = argument("[sessions...]", "files, ids or their start, or `latest`");
const JSON_REPORT = option("--json", "print the report as JSON");
const DRY_RUN = option("--dry-run", "show the result and write nothing");
const OUT = option("--out <file>", "write the result as a new session", parsePath);
const IN_PLACE = option("--in-place", "append the result to the session").conflicts(["out"]);
const NO_HOOKS = option("--no-hooks", "do not run the hooks of your settings");
const GENERATED = option("--generated", "use a generated session, alone or with others");
const BASE_URL = option("--base-url <url>", "address of the model's API (default: the SDK's)", parseUrl);
const WINDOW = option(
  "--window <size>",
  "context window: tokens or a model (default: the session's)",
  parseWindowOrModel,
);
const PROJECT = option(
  "--project <folder>",
  "use only files of this folder (default: the session's)",
  parseProject,
);
/** Description of a chat's default model. */
const CHAT_MODEL = "the resumed session's, else claude-sonnet-5-5";
const KEPT_VERBATIM = `newest tokens to keep verbatim (default: ${KEEP_RECENT_TOKENS})`;
const LEFT_UNCLEARED = `tokens of results to keep (default: ${CLEARING_TARGET_TOKENS})`;
const REPLAYED_WINDOW = "context window (default: the session's, 50000 for --generated)";
/** Options that exclude each other, by the names of their values. */
const OTHER_ENDS = ["upTo", "keepRecent"];
const OTHER_SUMMARIES = ["instructions", "model", "from", ...OTHER_ENDS];
const SEARCHES = ["exact", "pattern", "file", "tool", "limit"];
const parseMessage = parseIdOf("the uuid of a message");
/** Creates a list option. The help and the completions show its choices. */
function policies(about: string, names: readonly string[]): Option {
  const listed = option("--policies <names>", `${about}, separated by commas`, parseNames(names));
  listed.argChoices = [...names];
  return listed;
}

const PAGES: readonly Page[] = [
  {
    name: "chat",
    about: "chat with a coding agent in this folder",
    arguments: [argument("[prompt]", "the first prompt")],
    options: [
      option("-p, --print <prompt>", "send this prompt, print the answer and exit"),
      option("--output-format <format>", "output of -p").choices(OUTPUT_FORMATS),
      option("--model <name>", `claude-… or provider:name (default: ${CHAT_MODEL})`),
      BASE_URL,
      option("-c, --continue", "resume the newest chat of this project").conflicts(["resume"]),
      option("--resume [session]", "resume this session, or choose one from a list"),
      option("--window <tokens>", "context window (default: the model's)", parseWindow),
      option("--permission-mode <mode>", "accept-edits: edit without asking, allow-all: never ask").choices(
        PERMISSION_MODES,
      ),
      option("--allow <key>", "allow this without asking (repeatable)", collect),
      option("--plan", "start in plan mode: read and plan, change nothing"),
      option("--instructions <text>", "add this to the system prompt"),
      NO_HOOKS,
      option("--demo", "guided tour with a stand-in for the model"),
      option("--turns <count>", "run the tour unattended, with this many calls", atLeastOne()).implies({
        demo: true,
      }),
    ],
    notes: [
      'The agent asks before it edits a file, runs a command or fetches a page. --allow takes keys such as "shell:npm test" and "web:example.org". "shell:git *" allows every command that starts with "git".',
      'longhaul adds piped text to the prompt, and ~/.longhaul/AGENTS.md to the instructions. For more settings, see "chat" in settings.json.',
    ],
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
    about: "show where the tokens of a session went",
    arguments: [SESSION_OR_LATEST],
    options: [
      WINDOW,
      PROJECT,
      option("--prompts", "list your prompts, with ids for compact --from and --up-to"),
      option("--span <id>", "show a collapsed span in full", parseIdOf("the id of a span")).conflicts(
        "prompts",
      ),
      JSON_REPORT,
    ],
    examples: [
      "inspect",
      "inspect latest --prompts",
      "inspect latest --span 3fa9c1d0",
      "inspect 70d782f7 --json",
      "inspect ./session.jsonl --window 32000",
    ],
    load: async () => (await import("./commands/inspect-command.ts")).inspect,
  },
  {
    name: "compact",
    about: "summarize the older part of a session",
    arguments: [SESSION],
    options: [
      IN_PLACE,
      OUT,
      DRY_RUN,
      option("--keep-recent <tokens>", KEPT_VERBATIM, parseTokens),
      option("--from <message>", "summarize this message and everything after it", parseMessage).conflicts(
        OTHER_ENDS,
      ),
      option("--up-to <message>", "summarize everything before this message", parseMessage).conflicts(
        "keepRecent",
      ),
      option("--from-notes", "use the session's notes as the summary").conflicts(OTHER_SUMMARIES),
      option("--instructions <text>", "what the summary should focus on (implies --force)"),
      option("--force", "compact even if it saves too little"),
      option("--model <name>", "model for the summary (default: built-in summarizer)"),
      BASE_URL,
      PROJECT,
      option("--no-restore", "do not restore files, to-dos, the plan or skills"),
      NO_HOOKS,
      WINDOW,
      option("--summary", "show the summary"),
      JSON_REPORT,
    ],
    notes: [
      "Without --in-place or --out, it writes nothing. It never removes anything from a session file. A compaction that saves too little fails and changes nothing. `longhaul inspect SESSION --prompts` lists the messages for --from and --up-to.",
      "It restores files from one folder: --project, else the session's project folder, else the current folder. Your home folder needs --project. It never restores files with well-known secrets.",
    ],
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
    about: "clear old tool results of a session",
    arguments: [SESSION],
    options: [
      IN_PLACE,
      OUT,
      DRY_RUN,
      option(
        "--keep <count>",
        "clear all but this many of the newest results",
        atLeastOne(": the newest result always stays"),
      ),
      option("--target <tokens>", LEFT_UNCLEARED, parseTokens).conflicts("keep"),
      WINDOW,
      JSON_REPORT,
    ],
    notes: [
      "All other content stays. The command clears only results of tools that the agent can run again (files, shell, search, web). Without --keep, it clears only if that saves enough. Without --in-place or --out, the command writes nothing. It never removes anything from a session file.",
    ],
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
    about: "undo the newest compaction of a session",
    arguments: [SESSION],
    options: [
      IN_PLACE,
      OUT,
      DRY_RUN,
      option("--redo", "redo the last undone step").conflicts(["to"]),
      option("--to <step>", "undo this step and all newer steps", parseIdOf("the uuid of a step")),
      option("--list", "list the steps").conflicts(["inPlace", "out", "redo", "to"]),
      WINDOW,
      JSON_REPORT,
    ],
    notes: [
      "The newer messages stay. A step is a compaction (by longhaul or by your agent), a clearing, a collapse of spans, or a removal of messages. Run undo again to undo the step before. Without --in-place or --out, the command writes nothing. It never removes anything from a session file.",
    ],
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
    about: "show or write the notes of a session",
    arguments: [SESSION],
    options: [
      option("--update", "add the new messages of the session to the notes"),
      option("--rebuild", "write the notes again from the whole session").conflicts(["update"]),
      option("--model <name>", "model for the notes (default: built-in note taker)"),
      BASE_URL,
      option("--dry-run", "show the notes and write nothing"),
      option("--path", "print the path of the notes").conflicts(["update", "rebuild", "dryRun"]),
      option("--json", "print the notes as JSON"),
    ],
    notes: [
      "The notes are a Markdown file next to the session file: ID.notes.md. You can edit it. If there are no notes, the command writes them. They cover the whole session, including the compacted part. `longhaul compact --from-notes` uses them as the summary. The session file never changes.",
    ],
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
    about: "show which facts the compactions kept",
    arguments: [SESSION_OR_LATEST],
    options: [
      option(
        "--boundary <uuid>",
        "show this compaction (default: the newest)",
        parseIdOf("the uuid of a compaction's boundary"),
      ),
      option("--kind <kind>", "list only facts of this kind").choices(FACT_KINDS),
      option("--all", "list all facts, including those in the context"),
      option("--json", "print the ledger as JSON"),
    ],
    notes: [
      "Facts are requests, files, commands, errors, causes, decisions, open questions and to-dos. longhaul finds them without a model. For compactions by other agents, it computes the ledger from the session file. Nothing is written.",
    ],
    examples: [
      "ledger",
      "ledger latest --kind directive --all",
      "ledger 70d782f7 --boundary 1f0c9d2e",
      "ledger latest --json",
    ],
    load: async () => (await import("./commands/ledger-command.ts")).ledger,
  },
  {
    name: "recall",
    about: "search messages that left the context",
    arguments: [
      argument("[session]", `${SESSION_FORMS} (omit it with --all-…)`),
      argument("[query...]", "a question, or words to search for"),
    ],
    options: [
      option("--all-sessions", "search all sessions of this project").conflicts(["id", "allProjects"]),
      option("--all-projects", "search all sessions on this machine").conflicts("id"),
      option("--exact", "search for the exact query"),
      option("--pattern", "the query is a regular expression").conflicts(["exact"]),
      option("--ignore-case", "with --pattern: treat upper and lower case as equal"),
      option("--file <path>", "only tool calls on this file (or a part of its path)"),
      option("--tool <name>", "only calls and results of this tool"),
      option("--id <id>", "show this entry, tool call or fact in full", parseMessage).conflicts(SEARCHES),
      option("--page <number>", "page to show (default: 1)", atLeastOne()),
      option("--limit <count>", "matches per page (default: 16)", atLeastOne()),
      option("--all", "also search the context and summaries"),
      option("--json", "print the matches as JSON"),
    ],
    notes: [
      "Finds messages that were compacted, cleared, collapsed or removed, and shows them word for word. Each match has an id for --id. longhaul keeps an index next to the session file (ID.recall), which you can delete at any time. The session file never changes.",
    ],
    examples: [
      "recall latest which rate limit did we agree on",
      "recall --all-sessions why did we drop redis",
      'recall latest --exact "TypeError: cannot read"',
      "recall latest --pattern 'error TS\\d+' --tool Bash",
      "recall latest --file src/server.ts",
      "recall latest --id 1f0c9d2e",
      "recall --all-projects --exact ECONNRESET --json",
    ],
    check: requireSession,
    load: async () => (await import("./commands/recall-command.ts")).recall,
  },
  {
    name: "eval",
    about: "measure what each compaction policy keeps",
    arguments: [SESSIONS],
    options: [
      GENERATED,
      policies("policies to compare", POLICY_NAMES),
      option("--compactions <counts>", "numbers of compactions in a row (default: 1,10)", parseCounts),
      option("--window <tokens>", "context window (default: 50000)", parseWindow),
      option("--missing", "list the probes that are not in the context, and false statements"),
      option("--judge <model>", "let a model answer the probes from each context alone"),
      BASE_URL,
      JSON_REPORT,
    ],
    notes: [
      "Writes nothing and calls no model, except with --judge. The costs are estimates for real model calls.",
    ],
    examples: [
      "eval --generated",
      "eval latest",
      "eval latest --policies drop-oldest,keep-last --missing",
      "eval latest --judge claude-haiku-4-5",
      "eval *.jsonl --compactions 10 --json",
    ],
    check: requireAny,
    load: async () => (await import("./commands/eval-command.ts")).evaluate,
  },
  {
    name: "replay",
    about: "compare the cost of policies on a session",
    arguments: [SESSIONS],
    options: [
      GENERATED,
      policies("policies to compare", REPLAY_POLICIES),
      option("--window <tokens>", REPLAYED_WINDOW, parseWindow),
      option("--cache-ttl <time>", "lifetime of the prompt cache (default: the session's)").choices([
        "5m",
        "1h",
      ]),
      option("--breakdown", "also show the costs by what they pay for"),
      option("--model <name>", "use the prices of this model (default: the session's)", parsePricedModel),
      option("--svg <file>", "write a chart of contexts and costs to this file", parsePath),
      option("--force", "overwrite an existing chart"),
      JSON_REPORT,
    ],
    notes: [
      "Calls no model, and writes only the chart. It replays the recorded calls one by one, including those from before a compaction.",
    ],
    examples: [
      "replay --generated",
      "replay latest --window 100000",
      "replay latest --svg chart.svg",
      "replay *.jsonl --policies longhaul,plain-summary --json",
    ],
    check: requireAny,
    load: async () => (await import("./commands/replay-command.ts")).replay,
  },
  {
    name: "sessions",
    about: "list the sessions on this machine",
    notes: ["Lists sessions of Claude Code and longhaul, newest first."],
    options: [
      option("--limit <count>", "number of sessions (default: 20)", atLeastOne()),
      option("--all", "list all sessions"),
      option("--json", "print the list as JSON"),
    ],
    examples: ["sessions", "sessions --all --json"],
    load: async () => (await import("./commands/sessions-command.ts")).sessions,
  },
  {
    name: "sim",
    about: "run a local simulator of the Anthropic and OpenAI APIs",
    arguments: [argument("[file]", "file to record, with --record")],
    options: [
      option("--port <number>", "port to listen on (default: any free port)", parsePort),
      option("--window <tokens>", "context window of every model (default: its own)", parseWindow),
      option("--turns <count>", "turns of the built-in coder per task (default: 12)", parseTokens),
      option("--script <file>", "answer the first calls with turns of this JSON file", parsePath),
      option("--config <file>", "read other settings from this JSON file", parsePath),
      option("--record <upstream>", "pass requests to this provider, and record them", parseUrl),
      option("--replay <file>", "answer from a recording, and call no provider", parsePath),
      option("--json", "print one line of JSON for each request"),
    ],
    notes: [
      "Without --record, nothing leaves this machine, and any API key works. Ctrl-C stops it and prints totals. To connect a client such as Claude Code, set two variables before you start it:",
      "  ANTHROPIC_BASE_URL=http://127.0.0.1:8080\n  ANTHROPIC_API_KEY=any",
      "For a client of OpenAI, set these two:",
      "  OPENAI_BASE_URL=http://127.0.0.1:8080/v1\n  OPENAI_API_KEY=any",
      "The built-in coder plays the model, and your client runs its tool calls. It reads files that the client has shown. It writes only to the folder longhaul-sim in the client's working folder. If the client names no working folder, it writes nothing. Its shell commands only show names and parts of files. It calls no web tools. It calls unknown tools only if the client has no others. Its subagents start no other subagents.",
      "docs/simulator.md describes the --config file.",
    ],
    examples: [
      "sim --port 8080",
      "sim --window 32000 --turns 40",
      "sim --script turns.json --config sim.json --json",
      "sim --record https://api.anthropic.com calls.jsonl",
      "sim --replay calls.jsonl",
    ],
    check: requireOneSource,
    load: async () => {
      const { sim } = await import("./commands/sim-command.ts");
      const { recordCalls, replayCalls } = await import("./commands/recording-command.ts");
      return (file: string, options: SimSource, composition: Composition) => {
        const { record, replay, ...rest } = options;
        if (record !== undefined) return recordCalls(file, { ...rest, record }, composition);
        if (replay !== undefined) return replayCalls({ ...rest, replay }, composition);
        return sim(rest, composition);
      };
    },
  },
  {
    name: "demo",
    about: "compact a generated session, step by step",
    load: async () => {
      const { demo } = await import("./commands/demo-command.ts");
      return (_: unknown, composition: Composition) => demo(composition);
    },
  },
  {
    name: "completions",
    about: "print a script for tab completion in your shell",
    arguments: [argument("<shell>", "your shell").choices(SHELLS)],
    notes: [
      "Tab completes commands, options, their values, and sessions. Add one line to your shell's startup file:",
    ],
    examples: [
      'eval "$(longhaul completions bash)"   # in ~/.bashrc',
      'eval "$(longhaul completions zsh)"    # in ~/.zshrc, after compinit',
      "longhaul completions fish | source    # in ~/.config/fish/config.fish",
    ],
    load: async () => (await import("./commands/completions-command.ts")).completions,
  },
];
