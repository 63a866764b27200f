import type { Todo } from "@longhaul/core/messages";
import { z } from "zod";
import { defineTool, type Tool } from "../../tool.ts";
import type { Workplace } from "../../workplace.ts";

/** Maximum number of to-dos. A longer list is not useful, and every change repeats it in the conversation. */
const MAX_TODOS = 100;
const LONGEST_TODO = 500;

const todo = z.object({
  content: z.string().trim().min(1).max(LONGEST_TODO).describe("The task, in the imperative: Run the tests"),
  status: z.enum(["pending", "in_progress", "completed"]),
  activeForm: z
    .string()
    .max(LONGEST_TODO)
    .optional()
    .describe("The same task while it is in progress: Running the tests"),
});

const input = z.object({
  todos: z.array(todo).max(MAX_TODOS).describe("The whole list. It replaces the previous list."),
});

const DESCRIPTION = `Writes the to-do list for you and for the user, who sees it.

Use it for work with three steps or more, or if the user requests several things. Do not use it for one small task.
Pass the whole list each time. Keep one item in progress at a time. Mark an item as completed as soon as it is done and verified, never before. An item that is blocked or half done stays open. Add new items when you find them, and remove items that are no longer needed. The list survives when the conversation is compacted.`;

/** Creates the tool. It changes only the list, so it is allowed in plan mode. */
export function todoWriteTool({ state }: Pick<Workplace, "state">): Tool {
  return defineTool({
    name: "TodoWrite",
    description: DESCRIPTION,
    input,
    isReadOnly: true,
    title: ({ todos }) => todos.find(({ status }) => status === "in_progress")?.content ?? "",
    call: ({ todos: written }) => {
      const todos = written.map(({ content, status }): Todo => ({ content, status }));
      state.setTodos(todos);
      const count = (status: Todo["status"]): number => todos.filter((each) => each.status === status).length;
      const [open, current, done] = [count("pending"), count("in_progress"), count("completed")];
      return {
        content: `The list is written: ${done} completed, ${current} in progress, ${open} pending.${hint(current, open)}`,
        summary: todos.length === 0 ? "empty" : `${done} of ${todos.length} done`,
        display: todos.map(({ content, status }) => `${MARKS[status]} ${content}`).join("\n"),
      };
    },
  });
}

const MARKS: Readonly<Record<Todo["status"], string>> = {
  pending: "[ ]",
  in_progress: "[>]",
  completed: "[x]",
};

function hint(current: number, open: number): string {
  if (current > 1) return " Keep only one in progress at a time.";
  return current === 0 && open > 0 ? " Mark the item that you work on as in progress." : "";
}
