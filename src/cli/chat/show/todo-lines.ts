import type { Todo } from "../../../conversation/todo-ledger.ts";
import type { Colours } from "../../terminal.ts";
import { fitText } from "../../view/text-width.ts";

export function todoLines(todos: readonly Todo[], width: number, colours: Colours): readonly string[] {
  return todos.map(({ content, status }) => {
    const text = fitText(content, Math.max(1, width - 4));
    if (status === "completed") return colours.dim(`  ✓ ${text}`);
    return status === "in_progress" ? colours.bold(`  ▸ ${text}`) : `  ○ ${text}`;
  });
}
