import type { ChatCommand } from "./command.ts";
import { described } from "./described.ts";

export const agentsCommand: ChatCommand = {
  name: "/agents",
  about: "agents in the background, and the kinds there are",
  run: (_, { agent, screen, say }) => {
    const { bold } = screen.colours;
    const agents = agent.agents
      .list()
      .map(({ id, status, description }) => [`${id} ${status}`, description] as const);
    const kinds = agent.agents.types.map(({ name, description }) => [name, description] as const);
    const parts = [
      agents.length === 0
        ? "No agents in the background."
        : `${bold("In the background")}\n${described(agents, screen)}`,
      ...(kinds.length === 0 ? [] : [`${bold("Kinds of agents")}\n${described(kinds, screen)}`]),
    ];
    say(parts.join("\n\n"));
  },
};
