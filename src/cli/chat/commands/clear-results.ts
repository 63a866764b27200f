import { LonghaulError } from "../../../errors.ts";
import type { ChatCommand } from "./command.ts";

export const clearResultsCommand: ChatCommand = {
  name: "/clear-results",
  usage: "[how many to keep]",
  about: "empty old results of tools that can be run again",
  needsIdle: true,
  run: async (argument, { agent, say }) => {
    if (!/^\d*$/.test(argument)) throw notANumber(argument);
    const cleared = await agent.clearResults(argument === "" ? {} : { keep: Number(argument) });
    if (cleared === 0) say("There is nothing to clear.");
  },
};

const notANumber = (argument: string): LonghaulError =>
  new LonghaulError("nothing-to-clear", `${JSON.stringify(argument)} is not a number of results.`, {
    remedy: "/clear-results 5 empties all but the newest five.",
  });
