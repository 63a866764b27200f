import { withForceHint } from "../../force-hint.ts";
import type { ChatCommand } from "./command.ts";
import { misused } from "./misused.ts";

export const compactCommand: ChatCommand = {
  name: "/compact",
  usage: "[--force] [what to look after]",
  about: "summarise the conversation now",
  needsIdle: true,
  run: async (argument, { agent, signal, composition }) => {
    const [, flag, instructions = ""] = /^(--force(?!\S))?\s*(.*)$/s.exec(argument) ?? [];
    if (/^--\S/.test(instructions)) throw misused(compactCommand, instructions.split(/\s/)[0] ?? "");
    const wish = instructions === "" ? {} : { instructions };
    try {
      await agent.compact({ signal, force: flag !== undefined, ...wish });
    } catch (error) {
      const advice = "To compact anyway, use /compact --force or give instructions.";
      throw withForceHint(error, advice, composition.prices);
    }
  },
};
