import { parseArgs } from "node:util";
import { LonghaulError } from "@longhaul/core/errors";
import type { PriceTable } from "@longhaul/core/measure";
import type { Session } from "@longhaul/sessions";
import { responses } from "@longhaul/sessions";
import { ledgerView } from "../../commands/ledger-command.ts";
import { recalled } from "../../commands/recall-command.ts";
import { costReport } from "../../cost-report.ts";
import { inspectSession, memoryOf } from "../../inspect-report.ts";
import { ledgerReport } from "../../ledger-report.ts";
import { atLeastOne } from "../../option-values.ts";
import { costSection } from "../../view/cost-view.ts";
import { inspectView, memorySection } from "../../view/inspect-view.ts";
import { ageWords, formatCount, formatDollars, plural } from "../../view/numbers.ts";
import { type Columns, joined, titled } from "../../view/sections.ts";
import { foldText } from "../../view/text-width.ts";
import { unfold } from "../folded.ts";
import { ownInstructions } from "../own-instructions.ts";
import { todoLines } from "../show/event-lines.ts";
import { wrapped } from "../show/word-wrap.ts";
import { compactedWords, summariesOf } from "../summaries.ts";
import { NO_CALLS, rowOf, summed, type Tally, type TallyRow } from "../tally.ts";
import { type ChatCommand, described, liveSession, misused } from "./command.ts";

const NOTHING_SAID = "There are no messages yet.";

/**
 * Label of the tokens that are not in the session file. It does not mention the file, because no text in a
 * chat mentions the session file.
 */
const OUTSIDE = { label: "System prompt and tools", note: "" };

/** The report of `longhaul inspect`, with the figures that the agent uses. */
export const contextCommand: ChatCommand = {
  name: "/context",
  about: "show where the tokens of the context are",
  run: async (_, { agent, terminal, say }) => {
    const session = await liveSession(agent);
    if (session === undefined) {
      say(NOTHING_SAID);
      return;
    }
    const { tokens, thresholds, window } = agent.reading;
    const report = inspectSession(session, thresholds);
    const { context, accounting } = report;
    const estimatedTokens = context.source === "usage" ? tokens - context.reportedTokens : tokens;
    const now = {
      ...report,
      session: { ...report.session, model: agent.model.name },
      context: { ...context, tokens, estimatedTokens },
      accounting: { ...accounting, notInFile: Math.max(0, tokens - accounting.total) },
      state: window,
    };
    say(inspectView(now, terminal, OUTSIDE));
  },
};

export const summaryCommand: ChatCommand = {
  name: "/summary",
  usage: "[n]",
  about: "show the summary of the newest compaction, or of the n-th newest",
  run: async (argument, { agent, screen, composition, say }) => {
    if (!/^(?:[1-9]\d*)?$/.test(argument)) throw misused(summaryCommand, argument);
    const session = await liveSession(agent);
    const summaries = session === undefined ? [] : summariesOf(session);
    const nth = Number(argument || 1);
    const found = summaries[nth - 1];
    if (found === undefined) {
      const count = plural(summaries.length, "compaction");
      say(summaries.length === 0 ? "This conversation has not been compacted." : `There are only ${count}.`);
      return;
    }
    const { boundary, text } = found;
    const age = ageWords(boundary.timestamp, composition.now().getTime());
    const which = summaries.length === 1 ? "" : `${nth} of ${summaries.length}`;
    const facts = [compactedWords(boundary), which, age].filter((part) => part !== "").join(" · ");
    say(`${screen.colors.bold(wrapped(facts, screen.width))}\n${wrapped(text, screen.width)}`);
  },
};

export const ledgerCommand: ChatCommand = {
  name: "/ledger",
  usage: "[all]",
  about: "show which facts the compactions kept, and where the others are",
  values: ["all"],
  run: async (argument, { agent, terminal, say }) => {
    if (argument !== "" && argument !== "all") throw misused(ledgerCommand, argument);
    const session = await liveSession(agent);
    if (session === undefined) {
      say(NOTHING_SAID);
      return;
    }
    const all = argument === "all";
    say(ledgerView(ledgerReport(session, { all }), { session: agent.sessionId, all }, terminal));
  },
};

/**
 * Options of `longhaul recall`. They have the same names in a chat, because the hints in the output name
 * them.
 */
const RECALL_OPTIONS = {
  all: { type: "boolean" },
  exact: { type: "boolean" },
  pattern: { type: "boolean" },
  "ignore-case": { type: "boolean" },
  file: { type: "string" },
  tool: { type: "string" },
  id: { type: "string" },
  page: { type: "string" },
} as const;

export const recallCommand: ChatCommand = {
  name: "/recall",
  usage: "WORDS | --id ID",
  about: "search messages that are no longer in the context",
  run: async (argument, { agent, terminal, say }) => {
    const args = argument.split(/\s+/).filter((part) => part !== "");
    const { values, positionals } = recallArguments(args);
    const { page, "ignore-case": ignoreCase, ...options } = values;
    const given = {
      ...options,
      ...(page === undefined ? {} : { page: pageNumber(page) }),
      ...(ignoreCase === undefined ? {} : { ignoreCase }),
    };
    say(await recalled(agent.sessionPath, positionals.join(" "), given, terminal));
  },
};

function recallArguments(
  args: readonly string[],
): ReturnType<typeof parseArgs<{ options: typeof RECALL_OPTIONS; allowPositionals: true }>> {
  try {
    return parseArgs({ args: [...args], options: RECALL_OPTIONS, allowPositionals: true });
  } catch (error) {
    throw recallMisused(error instanceof Error ? error.message : String(error));
  }
}

/** Parses a page number with the rules of the command line. */
function pageNumber(text: string): number {
  try {
    return atLeastOne()(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw recallMisused(`--page ${JSON.stringify(text)} is invalid. ${why}`);
  }
}

const recallMisused = (message: string): LonghaulError =>
  new LonghaulError("command-misused", `Invalid use of /recall: ${message}`, {
    remedy: "Usage: /recall rate limit, /recall --all rate limit, or /recall --id ID",
  });

const NO_MEMORY =
  "No memory files are attached. AGENTS.md or CLAUDE.md of this folder is attached with your first prompt. One in a subfolder is attached when the agent first uses a file there.";
const NO_MEMORY_AT_HOME =
  "Memory files are not attached here: this is your home folder, or a folder above it. Start in a project folder to use them.";

export const memoryCommand: ChatCommand = {
  name: "/memory",
  about: "list the attached memory files, and others that apply",
  run: async (_, { agent, screen, terminal, composition, say }) => {
    const session = await liveSession(agent);
    const project = { folder: agent.isWideFolder ? undefined : agent.cwd, cwd: agent.cwd };
    const section = session && memorySection(await memoryOf(session, project), agent.cwd, terminal);
    const own = await ownInstructions(composition.places);
    const words =
      own.text === ""
        ? `To give the agent instructions in every folder, write them to ${own.path}`
        : `Your own instructions are in the system prompt: ${own.path}`;
    const none = agent.isWideFolder ? NO_MEMORY_AT_HOME : NO_MEMORY;
    say(`${section || foldText(none, screen.width)}\n\n${screen.colors.dim(foldText(words, screen.width))}`);
  },
};

export const costCommand: ChatCommand = {
  name: "/cost",
  about: "show calls, tokens and dollars so far, and the cost of the next turns",
  run: async (_, { agent, tally, composition, terminal, say }) => {
    const { prices, now } = composition;
    const session = await liveSession(agent);
    const next =
      session &&
      costReport(session, {
        thresholds: agent.reading.thresholds,
        contextTokens: agent.reading.tokens,
        now: now(),
        prices,
        compaction: { summaryBy: agent.model.name },
      });
    const columns: Columns = [
      "",
      ">calls",
      { title: ">input", rank: 3 },
      { title: ">cache read", rank: 2 },
      { title: ">cache write", rank: 1 },
      { title: ">output", rank: 4 },
      ">cost",
    ];
    const used = titled("Used so far", columns, usedRows(session, tally, prices), terminal);
    say(joined([used, costSection(next, agent.model.name, terminal)]));
  },
};

/**
 * The conversation's usage comes from the whole file. All other usage is counted since the start of the
 * program.
 */
function usedRows(
  session: Session | undefined,
  tally: Tally,
  prices: PriceTable,
): readonly (readonly string[])[] {
  const others = [
    ["Subagents", tally.of("subagents")],
    ["Compactions", tally.of("compactions")],
    ["Notes", tally.of("notes")],
  ] as const;
  return [
    rowCells("This session", sessionRow(session, prices)),
    ...others.filter(([, row]) => row.calls > 0).map(([name, row]) => rowCells(name, row)),
    rowCells("Since the start", tally.total()),
  ];
}

function sessionRow(session: Session | undefined, prices: PriceTable): TallyRow {
  return responses(session?.entries ?? [])
    .flatMap(({ isSynthetic, usage, model }) =>
      isSynthetic || usage === undefined ? [] : [rowOf(usage, model ?? "", 1, prices)],
    )
    .reduce(summed, NO_CALLS);
}

const rowCells = (name: string, row: TallyRow): readonly string[] => [
  name,
  ...[row.calls, row.inputTokens, row.cacheReadTokens, row.cacheWriteTokens, row.outputTokens].map(
    formatCount,
  ),
  row.dollars === undefined ? "?" : formatDollars(row.dollars),
];

export const todosCommand: ChatCommand = {
  name: "/todos",
  about: "show the agent's to-do list",
  run: (_, { agent, screen, say }) => {
    const lines = todoLines(agent.todos, screen.width, screen.colors);
    say(lines.length === 0 ? "There are no to-dos." : lines.join("\n"));
  },
};

export const agentsCommand: ChatCommand = {
  name: "/agents",
  about: "list background agents and the types of agents",
  run: (_, { agent, screen, say }) => {
    const { bold } = screen.colors;
    const agents = agent.agents
      .list()
      .map(({ id, status, description }) => [`${id} ${status}`, description] as const);
    const kinds = agent.agents.types.map(({ name, description }) => [name, description] as const);
    const parts = [
      agents.length === 0
        ? "There are no background agents."
        : `${bold("Background agents")}\n${described(agents, screen)}`,
      ...(kinds.length === 0 ? [] : [`${bold("Types of agents")}\n${described(kinds, screen)}`]),
    ];
    say(parts.join("\n\n"));
  },
};

export const unfoldCommand: ChatCommand = {
  name: "/unfold",
  usage: "[n]",
  about: "show the last tool call or summary in full, or the n-th last (also Ctrl-O)",
  run: (argument, chat) => {
    if (!/^(?:[1-9]\d*)?$/.test(argument)) throw misused(unfoldCommand, argument);
    unfold(Number(argument || 1), chat);
  },
};
