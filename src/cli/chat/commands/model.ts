import { formatCount } from "../../view/numbers.ts";
import type { ChatCommand } from "./command.ts";

export const modelCommand: ChatCommand = {
  name: "/model",
  usage: "[name]",
  about: "show or switch the model: claude-…, or provider:name",
  needsIdle: true,
  run: async (argument, { agent, modelNamed, say }) => {
    if (argument !== "") await agent.setModel(await modelNamed(argument));
    const { size, autoCompact } = agent.reading.thresholds;
    say(
      `${agent.model.name}: a window of ${formatCount(size)} tokens, compacted at ${formatCount(autoCompact)}.`,
    );
  },
};
