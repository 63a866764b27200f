import { todoLines } from "../show/todo-lines.ts";
import type { ChatCommand } from "./command.ts";

export const todosCommand: ChatCommand = {
  name: "/todos",
  about: "the agent's to-do list",
  run: (_, { agent, screen, say }) => {
    const lines = todoLines(agent.todos, screen.width, screen.colours);
    say(lines.length === 0 ? "There are no to-dos." : lines.join("\n"));
  },
};
