import { oneLine } from "../../view/text-width.ts";
import { titled } from "../../view/titled-table.ts";
import type { ChatCommand } from "./command.ts";

export const agentsCommand: ChatCommand = {
  name: "/agents",
  about: "agents in the background, and the kinds there are",
  run: (_, { agent, terminal, say }) => {
    const rows = agent.agents
      .list()
      .map(({ id, status, description }) => [oneLine(id), status, oneLine(description)]);
    const kinds = agent.agents.types.map(({ name, description }) => [oneLine(name), oneLine(description)]);
    const columns = [{ title: "id" }, { title: "state" }, { title: "what for" }];
    const running = titled("In the background", columns, rows, terminal) || "No agents in the background.";
    const types = titled("Kinds of agents", [{ title: "name" }, { title: "when" }], kinds, terminal);
    say([running, types].filter((part) => part !== "").join("\n\n"));
  },
};
