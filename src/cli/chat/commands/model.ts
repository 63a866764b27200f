import { formatCount } from "../../view/numbers.ts";
import { windowWords } from "../../view/window-gauge.ts";
import type { ChatCommand } from "./command.ts";

export const modelCommand: ChatCommand = {
  name: "/model",
  usage: "[name]",
  about: "show or switch the model: claude-…, or provider:name",
  needsIdle: true,
  run: async (argument, { agent, modelNamed, say }) => {
    if (argument !== "") await agent.setModel(await modelNamed(argument));
    const { thresholds } = agent.reading;
    const compacted = thresholds.autoCompactEnabled
      ? `compacted at ${formatCount(thresholds.autoCompact)}`
      : "never compacted automatically";
    say(`${agent.model.name}: a ${windowWords(thresholds)}, ${compacted}.`);
  },
};
