import { table } from "../../view/table.ts";
import { fitText, foldText, textWidth } from "../../view/text-width.ts";
import type { ChatCommand } from "./command.ts";

const KEYS = [
  "Ctrl-C or Esc stops the agent. Ctrl-D leaves, and so does Ctrl-C twice at rest.",
  "Ctrl-O shows the last call whole. Tab completes a command.",
  "What you write while it works waits for its turn.",
];

export const helpCommand = (commands: () => readonly ChatCommand[]): ChatCommand => ({
  name: "/help",
  about: "this",
  run: (_, { screen, say }) => {
    const { colours, width } = screen;
    const names = commands().map(({ name, usage = "" }) => `${name} ${usage}`.trimEnd());
    const nameWidth = Math.max(...names.map(textWidth));
    const room = width - nameWidth - 4;
    const isNarrow = room < 24;
    const rows = commands().map(({ about }, at): readonly [string, string] => [names[at] ?? "", about]);
    const listed = isNarrow
      ? rows.map(([name, about]) => `${name}\n${colours.dim(foldText(`  ${about}`, width, "  "))}`).join("\n")
      : table(
          [{ title: "command" }, { title: "what it does" }],
          rows.map(([name, about]) => [name, fitText(about, room)]),
          colours.dim,
          textWidth,
        );
    const keys = KEYS.map((line) => foldText(line, width, "  ")).join("\n");
    say(`${listed}\n\n${colours.dim(keys)}`);
  },
});
