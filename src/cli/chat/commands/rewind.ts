import type { PromptAt } from "../../../agent/index.ts";
import { sizeUp } from "../../../compact/sized.ts";
import { indexOfMessage } from "../../../conversation/copies.ts";
import { type Entry, isCompactBoundary } from "../../../conversation/entry.ts";
import { countMessages } from "../../../conversation/flatten/flatten.ts";
import { plural } from "../../view/numbers.ts";
import { fitText, foldText } from "../../view/text-width.ts";
import { ageWords, figureWords } from "../rounds.ts";
import type { ChoiceOption } from "../screen/screen.ts";
import type { ChatCommand, CommandContext } from "./command.ts";

/** A list of more is not read; who wants to go further back does it in two steps. */
const MOST_LISTED = 15;
const PROMPT_WIDTH = 60;
const GONE_BACK = "The conversation is as it was before that prompt. It can be changed and sent again:";
const NEXT =
  "The next question is whether to go back to right before it, or to summarize from it on or up to it.";
const NOT_IN_CONTEXT = "It is no longer in the context, so it cannot be summarized.";

type Action = "go-back" | "from" | "up-to";

export const rewindCommand: ChatCommand = {
  name: "/rewind",
  about: "choose one of your prompts: go back to before it, or summarize from it on or up to it",
  needsIdle: true,
  run: async (_, chat) => {
    const { agent, screen, signal, say } = chat;
    const prompt = await choosePrompt(chat);
    const action = prompt && (await chooseAction(prompt, chat));
    if (prompt === undefined || action === undefined) return;
    // Forced: a person who picks a place wants it summarized, also where little is saved. /undo takes it back.
    if (action === "from") await agent.compact({ from: prompt.uuid, force: true, signal });
    else if (action === "up-to") await agent.compact({ upTo: prompt.uuid, force: true, signal });
    else {
      await agent.rewind(prompt.uuid);
      say(screen.colours.dim(foldText(GONE_BACK, screen.width)));
      screen.suggest(prompt.text);
    }
  },
};

async function choosePrompt(chat: CommandContext): Promise<PromptAt | undefined> {
  const { agent, screen, composition, signal, say } = chat;
  const prompts = (await agent.prompts()).slice(0, MOST_LISTED);
  if (prompts.length === 0) {
    say("There is nothing to go back to yet.");
    return undefined;
  }
  const now = composition.now().getTime();
  const chosen = await screen.choose({
    title: "Which of your prompts?",
    detail: foldText(NEXT, screen.width - 2),
    options: prompts.map((prompt) => ({
      label: fitText(prompt.text, Math.min(PROMPT_WIDTH, screen.width - 6)),
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

async function chooseAction(prompt: PromptAt, chat: CommandContext): Promise<Action | undefined> {
  const { agent, screen, signal } = chat;
  const actions = actionsFor(prompt, agent.conversation);
  const isInContext = actions.length > 1;
  const chosen = await screen.choose({
    title: `"${fitText(prompt.text, Math.min(PROMPT_WIDTH, screen.width - 2))}"`,
    ...(isInContext ? {} : { detail: foldText(NOT_IN_CONTEXT, screen.width - 2) }),
    options: actions.map(({ option }) => option),
    signal,
  });
  return actions[chosen?.picked[0] ?? -1]?.action;
}

/** Summarizing is for what is in the context, and up to a message only for what has something before it. */
function actionsFor(
  { uuid }: PromptAt,
  conversation: readonly Entry[],
): readonly { readonly action: Action; readonly option: ChoiceOption }[] {
  const goBack = { label: "Go back to right before it", description: "Files stay as they are now." };
  const { entries, tokens } = sizeUp({ entries: conversation }, {});
  const index = indexOfMessage(entries, uuid);
  const part = (from: number, to: number): { readonly messages: number; readonly tokens: number } => ({
    messages: countMessages(entries.slice(from, to).filter((entry) => !isCompactBoundary(entry))),
    tokens: Math.round(tokens.slice(from, to).reduce((sum, each) => sum + each, 0)),
  });
  const [before, after] = [part(0, Math.max(0, index)), part(Math.max(0, index), entries.length)];
  const from = { label: "Summarize from here", description: `it and all after it: ${figureWords(after)}` };
  const upTo = { label: "Summarize up to here", description: `all before it: ${figureWords(before)}` };
  return [
    { action: "go-back", option: goBack },
    ...(index === -1 ? [] : [{ action: "from", option: from } as const]),
    ...(index === -1 || before.messages === 0 ? [] : [{ action: "up-to", option: upTo } as const]),
  ];
}
