import { plural } from "../../view/numbers.ts";
import { fitText, foldText } from "../../view/text-width.ts";
import { ageWords, figureWords, type Round, roundsIn } from "../rounds.ts";
import type { ChatCommand, CommandContext } from "./command.ts";
import { numbersIn } from "./misused.ts";

/** A longer list is not read; the argument reaches all of them. */
const MOST_LISTED = 30;
const PROMPT_WIDTH = 60;
const KEPT = "(kept by the last compaction)";
const ABOUT_ROUNDS =
  "A round is a prompt of yours and all that followed it. The session file keeps it, /undo restores it and /recall finds it.";

export const snipCommand: ChatCommand = {
  name: "/snip",
  usage: "[rounds, such as 2 or 1-3]",
  about: "remove rounds of the conversation from the context, 1 is the oldest; from a list without numbers",
  needsIdle: true,
  run: async (argument, chat) => {
    const { agent, say, screen } = chat;
    const rounds = roundsIn(agent.conversation);
    if (rounds.length === 0 && argument === "") {
      say("There is nothing to remove yet.");
      return;
    }
    const numbered = { command: snipCommand, noun: "round", count: rounds.length };
    const chosen = argument === "" ? await chooseRounds(rounds, chat) : numbersIn(argument, numbered);
    const ids = chosen.flatMap((number) => rounds[number - 1]?.ids ?? []);
    if (ids.length === 0) return;
    const { messages, added } = await agent.snip({ ids });
    const also = added === 0 ? "" : `${plural(added, "message")} of other rounds belonged to them. `;
    const words = messages === 0 ? "Nothing was removed." : `${also}/undo restores them, /recall finds them.`;
    say(screen.colours.dim(foldText(words, screen.width)));
  },
};

async function chooseRounds(
  rounds: readonly Round[],
  { screen, composition, signal }: CommandContext,
): Promise<readonly number[]> {
  const now = composition.now().getTime();
  const listed = rounds.slice(0, MOST_LISTED);
  const more = rounds.length - listed.length;
  const rest = more === 0 ? "" : ` The list has the oldest ${MOST_LISTED}; /snip FROM-TO reaches the rest.`;
  const chosen = await screen.choose({
    title: "Remove which rounds from the context?",
    detail: foldText(`${ABOUT_ROUNDS}${rest}`, screen.width - 2),
    options: listed.map((round) => ({
      label: fitText(round.text ?? KEPT, Math.min(PROMPT_WIDTH, screen.width - 10)),
      description: [figureWords(round), ageWords(round.timestamp, now)].filter(Boolean).join(", "),
    })),
    mayChooseSeveral: true,
    signal,
  });
  return (chosen?.picked ?? []).map((index) => index + 1);
}
