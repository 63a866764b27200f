import type { Attachment } from "../conversation/entry.ts";
import { isTodoTool, readTodo, type Todo, TodoLedger } from "../conversation/todo-ledger.ts";
import { contentText, field } from "../conversation/untrusted.ts";
import type { Happening } from "./happenings.ts";
import { type Fit, fitEach, type Gathering, readList, restoredItem, skipping } from "./kind.ts";
import type { RestoredItem } from "./restored.ts";

/** The list as it stands. Where not even that fits, what is done already is left out first. */
export async function gatherTodos({ input, state, ask, happenings }: Gathering): Promise<Fit> {
  const answer = await ask(state, "todos");
  if (answer.state === "unanswered") return () => skipping("todos", answer.reason);
  const list = answer.state === "absent" ? todosIn(happenings) : answer.value;
  const { values, skipped } = readList("todos", list, readTodo);
  const withId = values.filter(({ id }) => id !== undefined);
  const withoutId = values.filter(({ id }) => id === undefined);
  const forms = (name: string, todos: readonly Todo[], attach: (todos: readonly Todo[]) => Attachment) => {
    const open = todos.filter(({ status }) => status !== "completed");
    const form =
      (shown: readonly Todo[]): (() => RestoredItem) =>
      () =>
        restoredItem("todos", name, attach(shown), input.countTokens, shown.length < todos.length);
    if (todos.length === 0) return [];
    return open.length === 0 || open.length === todos.length ? [form(todos)] : [form(todos), form(open)];
  };
  return (budgetTokens) =>
    fitEach(
      [forms("todo list", withoutId, todoList), forms("task list", withId, taskList)],
      budgetTokens,
      skipped,
    );
}

/** As Claude Code reminds of a list that is written whole each time. */
const todoList = (todos: readonly Todo[]): Attachment => ({
  type: "todo_reminder",
  content: todos.map(({ content, status }) => ({ content, status })),
  itemCount: todos.length,
});

/** As Claude Code reminds of tasks that are changed one by one, each by its id. */
const taskList = (todos: readonly Todo[]): Attachment => ({
  type: "task_reminder",
  content: todos.map(({ id, content, status }) => ({ id, subject: content, status })),
  itemCount: todos.length,
});

/** The list as the conversation leaves it: as last written whole, or built up and changed task by task. */
export function todosIn(happenings: Iterable<Happening>): readonly Todo[] {
  const ledger = new TodoLedger();
  for (const happening of happenings) {
    if (happening.what === "told") ledger.prompt(field(happening.entry, "todos"));
    else if (happening.what === "attachment") ledger.attachment(happening.attachment);
    else if (isTodoTool(happening.call.name)) {
      const { name, input, isError, outcome, result } = happening.call;
      ledger.call({ name, input, isError, outcome, resultText: () => contentText(result.content) });
    }
  }
  return ledger.todos();
}
