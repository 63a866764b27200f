import { parseArgs } from "node:util";
import { LonghaulError } from "../../../errors.ts";
import { openRecall } from "../../../recall/recall.ts";
import { ESTIMATORS } from "../../../tokens/measure.ts";
import { notRead, READING_TOKENS } from "../../commands/recall.ts";
import { recallQuery, recallReport } from "../../recall-report.ts";
import { readingView, recallView } from "../../view/recall-view.ts";
import type { ChatCommand, CommandContext } from "./command.ts";

/** The options that the command line has, as its hints name them. */
const OPTIONS = {
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
  about: "search what is no longer in the context",
  run: async (argument, chat) => {
    const { values, positionals } = parsed(argument);
    const { id, page: wanted, "ignore-case": ignoreCase, ...options } = values;
    const page = /^[1-9]\d*$/.test(wanted ?? "") ? { page: Number(wanted) } : {};
    if (id !== undefined) {
      await read(id, page, chat);
      return;
    }
    const query = recallQuery(positionals.join(" "), {
      ...options,
      ...page,
      ...(ignoreCase === undefined ? {} : { ignoreCase }),
    });
    const { sessionPath } = chat.agent;
    chat.say(
      recallView(
        recallReport(sessionPath, query, await openRecall(sessionPath).search(query)),
        chat.terminal,
      ),
    );
  },
};

async function read(
  id: string,
  { page }: { readonly page?: number },
  { agent, terminal, say }: CommandContext,
): Promise<void> {
  const path = agent.sessionPath;
  const opened = openRecall(path, { countTokens: ESTIMATORS.o200k });
  const reading = await opened.read(id, { page, budgetTokens: READING_TOKENS });
  if (reading.pieces.length === 0) throw notRead(id, reading);
  say(readingView({ session: { path }, id, ...reading }, terminal));
}

function parsed(
  argument: string,
): ReturnType<typeof parseArgs<{ options: typeof OPTIONS; allowPositionals: true }>> {
  const args = argument.split(/\s+/).filter((part) => part !== "");
  try {
    return parseArgs({ args, options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new LonghaulError("command-misused", error instanceof Error ? error.message : String(error), {
      remedy: "Such as: /recall rate limit, /recall --all rate limit, /recall --id ID",
    });
  }
}
