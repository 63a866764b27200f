import { besideSession } from "../../beside-report.ts";
import { memorySection } from "../../view/beside-view.ts";
import { foldText } from "../../view/text-width.ts";
import { ownInstructions } from "../own-instructions.ts";
import type { ChatCommand } from "./command.ts";
import { liveSession } from "./live-session.ts";

const NONE =
  "No memory files are attached. AGENTS.md or CLAUDE.md of this folder is attached with your first prompt, one of a folder below as soon as the agent touches a file there.";

const NONE_AT_HOME =
  "Memory files are not attached here: this is your home folder, or it contains it. Start in a project folder to use them.";

export const memoryCommand: ChatCommand = {
  name: "/memory",
  about: "memory files that are attached, and those that would be",
  run: async (_, { agent, screen, terminal, composition, say }) => {
    const session = await liveSession(agent);
    const beside =
      session &&
      (await besideSession(session, {
        thresholds: agent.reading.thresholds,
        project: { folder: agent.isWideFolder ? undefined : agent.cwd, cwd: agent.cwd },
      }));
    const section = beside && memorySection(beside.memory, agent.cwd, terminal);
    const own = await ownInstructions(composition.places);
    const words =
      own.text === ""
        ? `What you write into ${own.path} is told to the agent in every folder.`
        : `Your own instructions, in the system prompt since the start: ${own.path}`;
    const none = agent.isWideFolder ? NONE_AT_HOME : NONE;
    say(`${section || foldText(none, screen.width)}\n\n${screen.colours.dim(foldText(words, screen.width))}`);
  },
};
