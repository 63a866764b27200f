import { readTextFile } from "../../../host/text-file.ts";
import { shownText } from "../../view/text-width.ts";
import { wrapped } from "../show/word-wrap.ts";
import type { ChatCommand } from "./command.ts";
import { misused } from "./misused.ts";

const PLAN_MODE_ON = "Plan mode: the agent looks and plans, and changes nothing until you have agreed.";
const PLAN_MODE_OFF = "Plan mode is over: the agent may change things again.";

export const planCommand: ChatCommand = {
  name: "/plan",
  usage: "[on|off]",
  about: "show the plan, or switch plan mode, in which nothing is changed",
  values: ["on", "off"],
  run: async (argument, { agent, screen, say }) => {
    if (argument === "on" || argument === "off") {
      agent.setPlanMode(argument === "on");
      say(wrapped(argument === "on" ? PLAN_MODE_ON : PLAN_MODE_OFF, screen.width));
      return;
    }
    if (argument !== "") throw misused(planCommand, argument, "What is to be planned is your next prompt.");
    const file = await readTextFile(agent.planPath);
    const plan = file.state === "read" && file.text.trim() !== "" ? shownText(file.text.trim()) : undefined;
    const mode = `Plan mode is ${agent.isPlanMode ? "on" : "off"}. /plan on and /plan off switch it.`;
    say(`${wrapped(plan ?? "There is no plan.", screen.width)}\n\n${screen.colours.dim(mode)}`);
  },
};
