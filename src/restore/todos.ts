import type { Attachment, Entry } from "../conversation/entry.ts";
import { asList, contentText, field, firstString, listField, stringField } from "../conversation/fields.ts";
import { isRecord } from "../conversation/untrusted.ts";
import { type AnsweredCall, happeningsIn } from "./happenings.ts";
import type { Todo } from "./host-state.ts";
import { type Fit, fitEach, type Gathering, readList, restoredItem, skipping } from "./kind.ts";
import type { RestoredItem } from "./restored.ts";

/** The list as it stands. Where not even that fits, what is done already is left out first. */
export async function gatherTodos({ input, state, ask, entries }: Gathering): Promise<Fit> {
  const answer = await ask(state, "todos");
  if (answer.state === "unanswered") return () => skipping("todos", answer.reason);
  const list = answer.state === "absent" ? todosIn(entries) : answer.value;
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

function readTodo(item: unknown): Todo | undefined {
  const content = firstString(item, "content", "subject");
  if (content === undefined || content.trim() === "") return undefined;
  const id = firstString(item, "id");
  return { content, status: statusOf(field(item, "status")), ...(id === undefined ? {} : { id }) };
}

const statusOf = (status: unknown): Todo["status"] =>
  status === "in_progress" || status === "completed" ? status : "pending";

/** The list as the conversation leaves it: as last written whole, or built up and changed task by task. */
export function todosIn(entries: readonly Entry[]): readonly Todo[] {
  const ledger = new TodoLedger();
  for (const happening of happeningsIn(entries)) {
    if (happening.what === "call") ledger.call(happening.call);
    else if (happening.what === "told") ledger.listed(asList(field(happening.entry, "todos")));
    else if (REMINDERS.has(happening.type)) ledger.reminded(listField(happening.attachment, "content"));
  }
  return ledger.todos();
}

const REMINDERS: ReadonlySet<string> = new Set(["todo", "todo_reminder", "task_reminder"]);

class TodoLedger {
  #list: readonly Todo[] = [];
  readonly #tasks = new Map<string, Todo>();

  call({ name, input, isError, result, outcome }: AnsweredCall): void {
    if (isError) return;
    if (name === "TodoWrite") this.#list = readAll(listField(input, "todos")).map(withoutId);
    else if (name === "TaskUpdate") this.#update(input);
    else if (name === "TaskCreate") {
      const created = readTodo(input);
      const id = stringField(field(outcome, "task"), "id") ?? /#(\w+)/.exec(contentText(result.content))?.[1];
      if (created && id !== undefined) this.#tasks.set(id, { ...created, id });
    }
  }

  /** A prompt may carry the list as it stood then. */
  listed(items: readonly unknown[]): void {
    const list = readAll(items).map(withoutId);
    if (list.length > 0) this.#list = list;
  }

  /** A reminder holds the whole list; an empty one only says that there is none to remind of. */
  reminded(items: readonly unknown[]): void {
    const all = readAll(items);
    const tasks = all.filter(({ id }) => id !== undefined);
    if (tasks.length > 0) this.#tasks.clear();
    for (const task of tasks) this.#tasks.set(task.id ?? "", task);
    if (tasks.length < all.length) this.#list = all.filter(({ id }) => id === undefined);
  }

  todos(): readonly Todo[] {
    return [...this.#list, ...this.#tasks.values()];
  }

  #update(input: unknown): void {
    const id = firstString(input, "taskId", "id");
    if (id === undefined || !isRecord(input)) return;
    if (input.status === "deleted") {
      this.#tasks.delete(id);
      return;
    }
    const known = this.#tasks.get(id);
    const content = firstString(input, "subject") ?? known?.content ?? `Task #${id}`;
    const status = input.status === undefined ? (known?.status ?? "pending") : statusOf(input.status);
    this.#tasks.set(id, { content, status, id });
  }
}

/** In a list that is always written whole an id means nothing; it would pass for that of a task. */
const withoutId = ({ content, status }: Todo): Todo => ({ content, status });

const readAll = (items: readonly unknown[]): readonly Todo[] =>
  items.map(readTodo).filter((todo) => todo !== undefined);
