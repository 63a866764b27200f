import type { PromptAt } from "../../../agent/index.ts";
import { formatAge, plural } from "../../view/numbers.ts";
import { fitText, foldText } from "../../view/text-width.ts";
import type { ChatCommand } from "./command.ts";

/** A list of more is not read; who wants to go further back does it in two steps. */
const MOST_LISTED = 15;
const PROMPT_WIDTH = 60;
const GONE_BACK = "The conversation is as it was before that prompt. It can be changed and sent again:";

export const rewindCommand: ChatCommand = {
  name: "/rewind",
  about: "go back to before one of your prompts; files stay as they are",
  needsIdle: true,
  run: async (_, { agent, screen, composition, signal, say }) => {
    const prompts = (await agent.prompts()).slice(0, MOST_LISTED);
    if (prompts.length === 0) {
      say("There is nothing to go back to yet.");
      return;
    }
    const now = composition.now().getTime();
    const chosen = await screen.choose({
      title: "Go back to right before which prompt?",
      detail: "Files stay as they are now.",
      options: prompts.map((prompt) => ({
        label: fitText(prompt.text, Math.min(PROMPT_WIDTH, screen.width - 6)),
        description: whenWords(prompt, now),
      })),
      signal,
    });
    const prompt = prompts[chosen?.picked[0] ?? -1];
    if (prompt === undefined) return;
    await agent.rewind(prompt.uuid);
    say(screen.colours.dim(foldText(GONE_BACK, screen.width)));
    screen.suggest(prompt.text);
  },
};

function whenWords({ timestamp, compactionsSince }: PromptAt, now: number): string {
  const age = Date.parse(timestamp);
  const when = Number.isNaN(age) ? "" : formatAge(now - age);
  const across = compactionsSince === 0 ? "" : `before ${plural(compactionsSince, "compaction")}`;
  return [when, across].filter((part) => part !== "").join(", ");
}
