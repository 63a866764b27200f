import { asList, field, firstString, listField, stringField } from "./untrusted.ts";

export interface Todo {
  readonly content: string;
  readonly status: "pending" | "in_progress" | "completed";
  readonly id?: string;
}

/** A to-do reconstructed from the conversation. */
export interface TrackedTodo extends Todo {
  readonly detail?: string;
}

export interface TodoCall {
  readonly name: string;
  readonly input: unknown;
  readonly isError: boolean;
  /** The agent's own copy of the tool result, if the agent keeps a copy. */
  readonly outcome: unknown;
  /**
   * Returns the text of the tool result. Called only when needed, because most results are long and unrelated
   * to to-dos.
   */
  readonly resultText: () => string;
}

const TODO_TOOLS: ReadonlySet<string> = new Set(["TodoWrite", "TaskCreate", "TaskUpdate"]);
const REMINDERS: ReadonlySet<string> = new Set(["todo", "todo_reminder", "task_reminder"]);

export const isTodoTool = (name: string): boolean => TODO_TOOLS.has(name);

/** Tracks both kinds of to-do tools: one rewrites the whole list, the other changes single tasks. */
export class TodoLedger {
  #list: readonly Todo[] = [];
  readonly #tasks = new Map<string, TrackedTodo>();

  /** Reads a tool call. Returns true if the call was about to-dos. A failed call changes nothing. */
  call({ name, input, isError, outcome, resultText }: TodoCall): boolean {
    if (isError) return isTodoTool(name);
    if (name === "TodoWrite") this.#list = readAll(listField(input, "todos")).map(withoutId);
    else if (name === "TaskUpdate") this.#update(input);
    else if (name === "TaskCreate") {
      this.#create(input, firstString(field(outcome, "task"), "id") ?? /#(\w+)/.exec(resultText())?.[1]);
    }
    return isTodoTool(name);
  }

  /**
   * Reads the to-do list that an agent may attach to a prompt. An empty list means that the agent attached no
   * list.
   */
  prompt(todos: unknown): void {
    const list = readAll(asList(todos)).map(withoutId);
    if (list.length > 0) this.#list = list;
  }

  /** Reads a reminder, which contains the whole list. An empty reminder changes nothing. */
  attachment(attachment: unknown): void {
    if (!REMINDERS.has(stringField(attachment, "type") ?? "")) return;
    const all = readAll(listField(attachment, "content"));
    const tasks = all.filter(({ id }) => id !== undefined);
    if (tasks.length > 0) this.#tasks.clear();
    for (const task of tasks) this.#tasks.set(task.id ?? "", task);
    if (tasks.length < all.length) this.#list = all.filter(({ id }) => id === undefined);
  }

  todos(): readonly TrackedTodo[] {
    return [...this.#list, ...this.#tasks.values()];
  }

  /**
   * Adds a task. If its id is unknown, the task is tracked under its most likely id, but `id` stays unset.
   */
  #create(input: unknown, id: string | undefined): void {
    const created = readTodo({ subject: firstString(input, "subject", "content") });
    if (created === undefined) return;
    const detail = firstString(input, "description");
    this.#tasks.set(id ?? String(this.#tasks.size + 1), {
      ...created,
      ...(id === undefined ? {} : { id }),
      ...(detail === undefined ? {} : { detail }),
    });
  }

  #update(input: unknown): void {
    const id = firstString(input, "taskId", "id");
    if (id === undefined) return;
    const status = field(input, "status");
    if (status === "deleted") {
      this.#tasks.delete(id);
      return;
    }
    const known = this.#tasks.get(id);
    const detail = firstString(input, "description") ?? known?.detail;
    this.#tasks.set(id, {
      content: firstString(input, "subject") ?? known?.content ?? `Task #${id}`,
      status: status === undefined ? (known?.status ?? "pending") : statusOf(status),
      id,
      ...(detail === undefined ? {} : { detail }),
    });
  }
}

export function readTodo(item: unknown): Todo | undefined {
  const content = firstString(item, "content", "subject");
  if (content === undefined || content.trim() === "") return undefined;
  const id = firstString(item, "id");
  return { content, status: statusOf(field(item, "status")), ...(id === undefined ? {} : { id }) };
}

const readAll = (items: readonly unknown[]): readonly Todo[] =>
  items.map(readTodo).filter((todo) => todo !== undefined);

const statusOf = (status: unknown): Todo["status"] =>
  status === "in_progress" || status === "completed" ? status : "pending";

/** Removes the id, which has no meaning in a rewritten list and would look like a task id. */
const withoutId = ({ content, status }: Todo): Todo => ({ content, status });
