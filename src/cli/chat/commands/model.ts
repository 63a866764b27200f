import type { Thresholds } from "../../../window/thresholds.ts";
import { formatCount } from "../../view/numbers.ts";
import { windowWords } from "../../view/window-gauge.ts";
import type { ChatCommand } from "./command.ts";

function headroomWords({ headroomBy, autoCompact }: Thresholds): string {
  if (headroomBy === "auto-compact") return `compacted at ${formatCount(autoCompact)}`;
  if (headroomBy === "collapse") return "with context collapse";
  return headroomBy === "overflow" ? "compacted only after an overflow" : "never compacted automatically";
}

export const modelCommand: ChatCommand = {
  name: "/model",
  usage: "[name]",
  about: "show or switch the model: claude-…, or provider:name",
  needsIdle: true,
  run: async (argument, { agent, modelNamed, say }) => {
    if (argument !== "") await agent.setModel(await modelNamed(argument));
    const { thresholds } = agent.reading;
    say(`${agent.model.name}: a ${windowWords(thresholds)}, ${headroomWords(thresholds)}.`);
  },
};
