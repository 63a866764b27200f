import type { ChatCommand } from "./command.ts";
import { misused } from "./misused.ts";

export const clearResultsCommand: ChatCommand = {
  name: "/clear-results",
  usage: "[how many to keep]",
  about: "empty old results of tools that can be run again",
  needsIdle: true,
  run: async (argument, { agent, say }) => {
    if (!/^\d*$/.test(argument)) throw misused(clearResultsCommand, argument);
    const cleared = await agent.clearResults(argument === "" ? {} : { keep: Number(argument) });
    if (cleared === 0) say("There is nothing to clear.");
  },
};
