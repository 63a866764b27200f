import { fitText, oneLine, textWidth } from "../../view/text-width.ts";
import { titled } from "../../view/titled-table.ts";
import type { ChatCommand } from "./command.ts";

export const agentsCommand: ChatCommand = {
  name: "/agents",
  about: "agents in the background, and the kinds there are",
  run: (_, { agent, terminal, say }) => {
    const rows = agent.agents
      .list()
      .map(({ id, status, description }) => [
        oneLine(id),
        status,
        fitText(description, terminal.width - oneLine(id).length - 16),
      ]);
    const { types: all } = agent.agents;
    const room = terminal.width - Math.max(0, ...all.map(({ name }) => textWidth(name))) - 4;
    const kinds = all.map(({ name, description }) => [oneLine(name), fitText(description, room)]);
    const columns = [{ title: "id" }, { title: "state" }, { title: "what for" }];
    const running = titled("In the background", columns, rows, terminal) || "No agents in the background.";
    const types = titled("Kinds of agents", [{ title: "name" }, { title: "when" }], kinds, terminal);
    say([running, types].filter((part) => part !== "").join("\n\n"));
  },
};
