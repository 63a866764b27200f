import type { Agent, PromptAt } from "@longhaul/agent";
import { collapsedIn, type SpanReport } from "@longhaul/core/internal/collapse";
import { measureConversation } from "@longhaul/core/internal/compaction";
import {
  indexOfMessage,
  isCompactBoundary,
  isSnipMarker,
  isSummaryEntry,
  timeOf,
} from "@longhaul/core/internal/messages";
import { countMessages } from "@longhaul/core/internal/request";
import type { Entry } from "@longhaul/core/messages";
import { spokenIn } from "@longhaul/sessions/internal";
import { withForceHint } from "../../hints.ts";
import { ageWords, formatCount, plural } from "../../view/numbers.ts";
import { fitText, foldText } from "../../view/text-width.ts";
import type { Choice, ChoiceOption, Screen } from "../screen/screen.ts";
import { type ChatCommand, type CommandContext, described, misused, numbersIn } from "./command.ts";

/** Width of a prompt or a span in a list. */
const LABEL_WIDTH = 60;

const labelOf = (text: string, { width }: Screen, lead: number): string =>
  fitText(text, Math.min(LABEL_WIDTH, width - lead));

export const compactCommand: ChatCommand = {
  name: "/compact",
  usage: "[--force] [instructions]",
  about: "summarize the conversation now",
  needsIdle: true,
  run: async (argument, { agent, signal, composition }) => {
    const [, flag, instructions = ""] = /^(--force(?!\S))?\s*(.*)$/s.exec(argument) ?? [];
    if (/^--\S/.test(instructions)) throw misused(compactCommand, instructions.split(/\s/)[0] ?? "");
    const guidance = instructions === "" ? {} : { instructions };
    try {
      await agent.compact({ signal, force: flag !== undefined, ...guidance });
    } catch (error) {
      const advice = "To compact anyway, use /compact --force or give instructions.";
      throw withForceHint(error, advice, composition.prices);
    }
  },
};

export const clearResultsCommand: ChatCommand = {
  name: "/clear-results",
  usage: "[how many to keep]",
  about: "clear old results of tools that the agent can run again",
  needsIdle: true,
  run: async (argument, { agent, say }) => {
    if (!/^\d*$/.test(argument)) throw misused(clearResultsCommand, argument);
    const cleared = await agent.clearResults(argument === "" ? {} : { keep: Number(argument) });
    if (cleared === 0) say("There is nothing to clear.");
  },
};

export const undoCommand: ChatCommand = {
  name: "/undo",
  about: "undo the newest compaction, snip, collapse or expansion",
  needsIdle: true,
  run: async (_, { agent, signal }) => agent.undo({ signal }),
};

export const redoCommand: ChatCommand = {
  name: "/redo",
  about: "redo the last undone step",
  needsIdle: true,
  run: async (_, { agent, signal }) => agent.redo({ signal }),
};

/**
 * Maximum rounds in the list, because nobody reads a longer list. The argument of the command can still name
 * any round.
 */
const MAX_ROUNDS_LISTED = 30;
const KEPT = "(kept by the last compaction)";
const ABOUT_ROUNDS =
  "A round is one of your prompts and everything until the next one. The session file keeps removed rounds. /undo restores them, and /recall finds them.";

export const snipCommand: ChatCommand = {
  name: "/snip",
  usage: "[rounds, such as 2 or 1-3]",
  about: "remove rounds from the context (1 is the oldest), or choose them from a list",
  needsIdle: true,
  run: async (argument, chat) => {
    const { agent, say, screen } = chat;
    const rounds = roundsIn(agent.conversation);
    if (rounds.length === 0 && argument === "") {
      say("There is nothing to remove yet.");
      return;
    }
    const numbered = { command: snipCommand, noun: "round", count: rounds.length };
    const chosen =
      argument === "" ? await pickNumbers(roundChoice(rounds, chat), chat) : numbersIn(argument, numbered);
    const ids = chosen.flatMap((number) => rounds[number - 1]?.ids ?? []);
    if (ids.length === 0) return;
    const { messages, added } = await agent.snip({ ids });
    const also = added === 0 ? "" : `${plural(added, "message")} of other rounds had to be removed too. `;
    const words = messages === 0 ? "Nothing was removed." : `${also}/undo restores them, /recall finds them.`;
    say(screen.colors.dim(foldText(words, screen.width)));
  },
};

/** A prompt in the context and everything after it, up to the next prompt. */
interface Round extends Size {
  /** The prompt. Undefined for messages that a compaction kept before the first prompt. */
  readonly text: string | undefined;
  readonly timestamp: string | undefined;
  readonly ids: readonly string[];
}

/**
 * Finds the rounds of a conversation, oldest first. A boundary, a summary and a snip marker belong to no
 * round.
 */
function roundsIn(conversation: readonly Entry[]): readonly Round[] {
  const { entries, tokens } = measureConversation({ entries: conversation }, {});
  let round = { text: undefined as string | undefined, entries: [] as Entry[], tokens: 0 };
  const rounds = [round];
  for (const [index, entry] of entries.entries()) {
    if (isCompactBoundary(entry) || isSummaryEntry(entry) || isSnipMarker(entry)) continue;
    const text = spokenIn(entry);
    if (text !== undefined) {
      round = { text, entries: [], tokens: 0 };
      rounds.push(round);
    }
    round.entries.push(entry);
    round.tokens += tokens[index] ?? 0;
  }
  return rounds
    .map((one) => ({
      text: one.text,
      timestamp: one.entries[0] && timeOf(one.entries[0]),
      ids: one.entries.flatMap(({ uuid }) => uuid ?? []),
      messages: countMessages(one.entries),
      tokens: Math.round(one.tokens),
    }))
    .filter(({ messages }) => messages > 0);
}

function roundChoice(rounds: readonly Round[], { screen, composition }: CommandContext): Choice {
  const now = composition.now().getTime();
  const more = rounds.length - MAX_ROUNDS_LISTED;
  const rest =
    more > 0 ? ` The list shows the oldest ${MAX_ROUNDS_LISTED}. /snip FROM-TO removes others.` : "";
  return {
    title: "Which rounds do you want to remove from the context?",
    detail: foldText(`${ABOUT_ROUNDS}${rest}`, screen.width - 2),
    options: rounds.slice(0, MAX_ROUNDS_LISTED).map((round) => ({
      label: labelOf(round.text ?? KEPT, screen, 10),
      description: [figureWords(round), ageWords(round.timestamp, now)].filter(Boolean).join(", "),
    })),
  };
}

/** Returns the numbers of the options that the person selects. The first option has the number 1. */
async function pickNumbers(choice: Choice, { screen, signal }: CommandContext): Promise<readonly number[]> {
  const chosen = await screen.choose({ ...choice, mayChooseSeveral: true, signal });
  return (chosen?.picked ?? []).map((index) => index + 1);
}

interface Size {
  readonly messages: number;
  readonly tokens: number;
}

const figureWords = ({ messages, tokens }: Size): string =>
  `${plural(messages, "message")}, about ${formatCount(tokens)} tokens`;

const COLLAPSE_ON =
  "Context collapse is on: the agent summarizes old spans one by one, instead of compacting everything at once.";
const COLLAPSE_OFF = "Context collapse is off: the agent compacts the conversation as a whole.";
const COLLAPSE_SWITCH = "/collapse on and /collapse off change it for this chat.";
const EXPANDED = "Their messages return to the context. /undo collapses them again.";
const NO_SPANS = "No span is collapsed.";

export const collapseCommand: ChatCommand = {
  name: "/collapse",
  usage: "[on|off|expand [spans]]",
  about: "turn context collapse on or off, or list and expand collapsed spans",
  values: ["on", "off", "expand"],
  needsIdle: (argument) => argument !== "",
  run: async (argument, chat) => {
    const [, word = "", rest = ""] = /^(\S*)\s*([\s\S]*)$/.exec(argument) ?? [];
    if (word === "expand") await expand(rest, chat);
    else if (rest !== "" || !["", "on", "off"].includes(word)) throw misused(collapseCommand, argument);
    else {
      if (word !== "") await chat.agent.setCollapse(word === "on");
      showSpans(chat);
    }
  },
};

/**
 * Returns the spans that can be expanded, oldest first. Spans that a compaction has summarized can no longer
 * be expanded.
 */
const spansOf = ({ conversation }: Pick<Agent, "conversation">): readonly SpanReport[] =>
  collapsedIn(conversation).filter(({ canBeExpanded }) => canBeExpanded);

function showSpans({ agent, screen, say }: CommandContext): void {
  const { bold, dim } = screen.colors;
  const spans = spansOf(agent);
  const state = foldText(
    `${agent.isCollapseOn ? COLLAPSE_ON : COLLAPSE_OFF} ${COLLAPSE_SWITCH}`,
    screen.width,
  );
  if (spans.length === 0) {
    say(`${state}\n${dim(NO_SPANS)}`);
    return;
  }
  const rows = spans.map(
    (span, index) => [`${index + 1}. ${spanFigures(span)}`, fitText(span.firstLine, LABEL_WIDTH)] as const,
  );
  const heading = `${bold(plural(spans.length, "collapsed span"))} ${dim("/collapse expand 1 expands the first")}`;
  say(`${state}\n\n${heading}\n${described(rows, screen)}`);
}

const spanFigures = ({ messages, tokensBefore, tokensAfter }: SpanReport): string =>
  `${plural(messages, "message")}, ${formatCount(tokensBefore)} → ${formatCount(tokensAfter)} tokens`;

async function expand(argument: string, chat: CommandContext): Promise<void> {
  const spans = spansOf(chat.agent);
  if (spans.length === 0 && argument === "") {
    chat.say(NO_SPANS);
    return;
  }
  const numbered = { command: collapseCommand, noun: "span", count: spans.length };
  const choice: Choice = {
    title: "Which spans do you want to expand?",
    detail: foldText(EXPANDED, chat.screen.width - 2),
    options: spans.map((span) => ({
      label: labelOf(span.firstLine, chat.screen, 10),
      description: spanFigures(span),
    })),
  };
  const numbers = argument === "" ? await pickNumbers(choice, chat) : numbersIn(argument, numbered);
  const ids = numbers.flatMap((number) => spans[number - 1]?.spanId ?? []);
  if (ids.length > 0) await chat.agent.expand(ids);
}

/** Maximum prompts in the list, because nobody reads a longer list. To go back further, rewind twice. */
const MAX_PROMPTS_LISTED = 15;
const REWOUND = "The conversation now ends before that prompt. You can change the prompt and send it again:";
const NEXT_QUESTION = "Next you choose: go back, summarize from the prompt, or summarize up to it.";
const NOT_IN_CONTEXT = "This prompt is no longer in the context, so you can only go back to it.";

export const rewindCommand: ChatCommand = {
  name: "/rewind",
  about: "go back to one of your prompts, or summarize the part before or after it",
  needsIdle: true,
  run: async (_, chat) => {
    const { agent, screen, signal, say } = chat;
    const prompt = await choosePrompt(chat);
    const action = prompt && (await chooseAction(prompt, chat));
    if (prompt === undefined || action === undefined) return;
    // Forces the compaction, even if it saves little, because the person selected this prompt for a summary.
    // /undo reverts the compaction.
    if (action === "from") await agent.compact({ from: prompt.uuid, force: true, signal });
    else if (action === "up-to") await agent.compact({ upTo: prompt.uuid, force: true, signal });
    else {
      await agent.rewind(prompt.uuid);
      say(screen.colors.dim(foldText(REWOUND, screen.width)));
      screen.suggest(prompt.text);
    }
  },
};

async function choosePrompt(chat: CommandContext): Promise<PromptAt | undefined> {
  const { agent, screen, composition, signal, say } = chat;
  const prompts = (await agent.prompts()).slice(0, MAX_PROMPTS_LISTED);
  if (prompts.length === 0) {
    say("There is no prompt to go back to yet.");
    return undefined;
  }
  const now = composition.now().getTime();
  const chosen = await screen.choose({
    title: "Which prompt do you want to choose?",
    detail: foldText(NEXT_QUESTION, screen.width - 2),
    options: prompts.map((prompt) => ({
      label: labelOf(prompt.text, screen, 6),
      description: whenWords(prompt, now),
    })),
    signal,
  });
  return prompts[chosen?.picked[0] ?? -1];
}

function whenWords({ timestamp, compactionsSince }: PromptAt, now: number): string {
  const across = compactionsSince === 0 ? "" : `before ${plural(compactionsSince, "compaction")}`;
  return [ageWords(timestamp, now), across].filter((part) => part !== "").join(", ");
}

type RewindAction = "go-back" | "from" | "up-to";

async function chooseAction(
  prompt: PromptAt,
  { agent, screen, signal }: CommandContext,
): Promise<RewindAction | undefined> {
  const actions = actionsFor(prompt, agent.conversation);
  const isInContext = actions.length > 1;
  const chosen = await screen.choose({
    title: `"${labelOf(prompt.text, screen, 2)}"`,
    ...(isInContext ? {} : { detail: foldText(NOT_IN_CONTEXT, screen.width - 2) }),
    options: actions.map(([, option]) => option),
    signal,
  });
  return actions[chosen?.picked[0] ?? -1]?.[0];
}

/**
 * Returns the possible actions. Only messages in the context can be summarized. The action "up to here" is
 * possible only if there are messages before the prompt.
 */
function actionsFor(
  { uuid }: PromptAt,
  conversation: readonly Entry[],
): readonly (readonly [RewindAction, ChoiceOption])[] {
  const { entries, tokens } = measureConversation({ entries: conversation }, {});
  const index = indexOfMessage(entries, uuid);
  const part = (from: number, to: number): Size => ({
    messages: countMessages(entries.slice(from, to).filter((entry) => !isCompactBoundary(entry))),
    tokens: Math.round(tokens.slice(from, to).reduce((sum, each) => sum + each, 0)),
  });
  const option = (label: string, description: string): ChoiceOption => ({ label, description });
  const goBack = [
    "go-back",
    option("Go back", "to the point before this prompt. Files do not change."),
  ] as const;
  if (index === -1) return [goBack];
  const [before, after] = [part(0, index), part(index, entries.length)];
  const from = option("Summarize from here", `this prompt and everything after it: ${figureWords(after)}`);
  const upTo = option("Summarize up to here", `everything before this prompt: ${figureWords(before)}`);
  return [goBack, ["from", from], ...(before.messages === 0 ? [] : [["up-to", upTo] as const])];
}
