import { foldText } from "../../view/text-width.ts";
import type { ChatCommand } from "./command.ts";
import { described } from "./described.ts";

const KEYS = [
  "Ctrl-C or Esc stops the agent. Ctrl-D leaves, and so does Ctrl-C twice at rest.",
  "Ctrl-O shows the last call or summary whole. Tab completes a command. Alt-Enter begins a new line.",
  "What you write while it works waits for its turn.",
];

export const helpCommand = (commands: () => readonly ChatCommand[]): ChatCommand => ({
  name: "/help",
  about: "this",
  run: (_, { screen, say }) => {
    const rows = commands().map(({ name, usage = "", about }) => [`${name} ${usage}`, about] as const);
    const keys = KEYS.map((line) => foldText(line, screen.width, "  ")).join("\n");
    say(`${described(rows, screen)}\n\n${screen.colours.dim(keys)}`);
  },
});
