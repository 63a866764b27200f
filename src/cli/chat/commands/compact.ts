import type { ChatCommand } from "./command.ts";

export const compactCommand: ChatCommand = {
  name: "/compact",
  usage: "[what to look after]",
  about: "summarise the conversation now",
  needsIdle: true,
  run: async (argument, { agent, signal }) =>
    agent.compact({ signal, ...(argument === "" ? {} : { instructions: argument }) }),
};
