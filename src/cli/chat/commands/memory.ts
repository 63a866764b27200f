import { besideSession } from "../../beside-report.ts";
import { memorySection } from "../../view/beside-view.ts";
import type { ChatCommand } from "./command.ts";
import { liveSession, NOTHING_SAID } from "./live-session.ts";

const NONE =
  "No memory files are attached. CLAUDE.md or AGENTS.md in a folder is, as soon as the agent touches a file in it.";

export const memoryCommand: ChatCommand = {
  name: "/memory",
  about: "memory files that are attached, and those that would be",
  run: async (_, { agent, terminal, say }) => {
    const session = await liveSession(agent);
    const beside = session && (await besideSession(session, agent.reading.thresholds));
    const section = beside && memorySection(beside.memory, agent.cwd, terminal);
    say(session === undefined ? NOTHING_SAID : section || NONE);
  },
};
