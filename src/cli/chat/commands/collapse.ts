import type { Agent } from "../../../agent/index.ts";
import { collapsedIn, type SpanReport } from "../../../compact/collapse/report.ts";
import { formatCount, plural } from "../../view/numbers.ts";
import { fitText, foldText } from "../../view/text-width.ts";
import type { ChatCommand, CommandContext } from "./command.ts";
import { described } from "./described.ts";
import { misused, numbersIn } from "./misused.ts";

const ON =
  "Context collapse is on: old spans are summarized one by one, in place of compacting everything at once.";
const OFF = "Context collapse is off: the conversation is compacted as a whole.";
const HOW = "/collapse on and /collapse off switch it for this chat.";
const BACK = "Their messages come back into the context. /undo collapses them again.";
const NO_SPANS = "No span is collapsed.";
const LABEL_WIDTH = 60;

export const collapseCommand: ChatCommand = {
  name: "/collapse",
  usage: "[on|off|expand [spans]]",
  about: "collapse old spans one by one in place of compacting; list the spans, or expand them again",
  values: ["on", "off", "expand"],
  needsIdle: (argument) => argument !== "",
  run: async (argument, chat) => {
    const [, word = "", rest = ""] = /^(\S*)\s*([\s\S]*)$/.exec(argument) ?? [];
    if (word === "expand") await expand(rest, chat);
    else if (rest !== "" || !["", "on", "off"].includes(word)) throw misused(collapseCommand, argument);
    else {
      if (word !== "") await chat.agent.setCollapse(word === "on");
      show(chat);
    }
  },
};

/** Oldest first; those that a compaction took over can no longer be expanded. */
const spansOf = ({ conversation }: Pick<Agent, "conversation">): readonly SpanReport[] =>
  collapsedIn(conversation).filter(({ canBeExpanded }) => canBeExpanded);

function show({ agent, screen, say }: CommandContext): void {
  const { bold, dim } = screen.colours;
  const spans = spansOf(agent);
  const state = foldText(`${agent.isCollapseOn ? ON : OFF} ${HOW}`, screen.width);
  if (spans.length === 0) {
    say(`${state}\n${dim(NO_SPANS)}`);
    return;
  }
  const rows = spans.map(
    (span, index) => [`${index + 1}. ${figures(span)}`, fitText(span.firstLine, LABEL_WIDTH)] as const,
  );
  const heading = `${bold(plural(spans.length, "collapsed span"))} ${dim("/collapse expand 1 shows one again")}`;
  say(`${state}\n\n${heading}\n${described(rows, screen)}`);
}

const figures = ({ messages, tokensBefore, tokensAfter }: SpanReport): string =>
  `${plural(messages, "message")}, ${formatCount(tokensBefore)} → ${formatCount(tokensAfter)} tokens`;

async function expand(argument: string, chat: CommandContext): Promise<void> {
  const spans = spansOf(chat.agent);
  if (spans.length === 0 && argument === "") {
    chat.say(NO_SPANS);
    return;
  }
  const numbered = { command: collapseCommand, noun: "span", count: spans.length };
  const numbers = argument === "" ? await chooseSpans(spans, chat) : numbersIn(argument, numbered);
  const ids = numbers.flatMap((number) => spans[number - 1]?.spanId ?? []);
  if (ids.length > 0) await chat.agent.expand(ids);
}

async function chooseSpans(
  spans: readonly SpanReport[],
  { screen, signal }: CommandContext,
): Promise<readonly number[]> {
  const chosen = await screen.choose({
    title: "Expand which spans?",
    detail: foldText(BACK, screen.width - 2),
    options: spans.map((span) => ({
      label: fitText(span.firstLine, Math.min(LABEL_WIDTH, screen.width - 10)),
      description: figures(span),
    })),
    mayChooseSeveral: true,
    signal,
  });
  return (chosen?.picked ?? []).map((index) => index + 1);
}
