import type { Todo } from "@longhaul/core/messages";
import { z } from "zod";
import { defineTool, type Tool } from "../../tool.ts";
import type { Workplace } from "../../workplace.ts";

/** A list that nobody can keep in view is no list; it stands in the conversation with each change. */
const MOST_TODOS = 100;
const LONGEST_TODO = 500;

const todo = z.object({
  content: z
    .string()
    .trim()
    .min(1)
    .max(LONGEST_TODO)
    .describe("What is to be done, as an order: Run the tests"),
  status: z.enum(["pending", "in_progress", "completed"]),
  activeForm: z
    .string()
    .max(LONGEST_TODO)
    .optional()
    .describe("The same while it is being done: Running the tests"),
});

const input = z.object({
  todos: z.array(todo).max(MOST_TODOS).describe("The whole list; it takes the place of the one before."),
});

const DESCRIPTION = `Writes the list of what is to be done, for you and for the user, who sees it.

Use it for work of three steps or more, or when the user asks for several things. Not for one small thing.
Give the whole list each time. Have one item in progress at a time. Mark an item as completed as soon as it is done and verified, never before: what is blocked or half done stays open. Add what comes up on the way, and leave out what has become pointless. The list is kept when the conversation is compacted.`;

/** Nothing but the list changes, so it may be written in plan mode, too. */
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
  if (current > 1) return " Have only one in progress at a time.";
  return current === 0 && open > 0 ? " Mark the one that you work on as in progress." : "";
}
