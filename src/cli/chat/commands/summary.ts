import { plural } from "../../view/numbers.ts";
import { ageWords } from "../rounds.ts";
import { wrapped } from "../show/word-wrap.ts";
import { compactedWords, summariesOf } from "../summaries.ts";
import type { ChatCommand } from "./command.ts";
import { liveSession } from "./live-session.ts";
import { misused } from "./misused.ts";

export const summaryCommand: ChatCommand = {
  name: "/summary",
  usage: "[n]",
  about: "show the summary of the newest compaction, or of the n-th before the end",
  run: async (argument, { agent, screen, composition, say }) => {
    if (!/^(?:[1-9]\d*)?$/.test(argument)) throw misused(summaryCommand, argument);
    const session = await liveSession(agent);
    const summaries = session === undefined ? [] : summariesOf(session);
    const nth = Number(argument || 1);
    const found = summaries[nth - 1];
    if (found === undefined) {
      say(
        summaries.length === 0
          ? "No compaction led to this conversation."
          : `There are only ${plural(summaries.length, "compaction")}.`,
      );
      return;
    }
    const { boundary, text } = found;
    const age = ageWords(boundary.timestamp, composition.now().getTime());
    const which = summaries.length === 1 ? "" : `${nth} of ${summaries.length}`;
    const facts = [compactedWords(boundary), which, age].filter((part) => part !== "").join(" · ");
    say(`${screen.colours.bold(wrapped(facts, screen.width))}\n${wrapped(text, screen.width)}`);
  },
};
