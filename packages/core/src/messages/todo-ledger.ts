import { asList, field, firstString, listField, stringField } from "./untrusted.ts";

export interface Todo {
  readonly content: string;
  readonly status: "pending" | "in_progress" | "completed";
  readonly id?: string;
}

/** A to-do reconstructed from the conversation. */
export interface TrackedTodo extends Todo {
  readonly detail?: string;
  /** Position of the last call that listed the item. Absent if no call of these entries did. */
  readonly at?: number;
  /** Number of earlier compactions in a row that did not mention the item. */
  readonly unmentioned?: number;
}

export interface TodoCall {
  readonly name: string;
  /** Position of the call in the conversation. */
  readonly at?: number;
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
  #list: readonly TrackedTodo[] = [];
  readonly #tasks = new Map<string, TrackedTodo>();
  /** Pending items that a newer list does not contain, by their words. */
  readonly #dropped = new Map<string, TrackedTodo>();

  /** Reads a tool call. Returns true if the call was about to-dos. A failed call changes nothing. */
  call({ name, at, input, isError, outcome, resultText }: TodoCall): boolean {
    if (isError) return isTodoTool(name);
    const place = at === undefined ? {} : { at };
    if (name === "TodoWrite") {
      this.#replaceList(readAll(listField(input, "todos")).map((todo) => ({ ...withoutId(todo), ...place })));
    } else if (name === "TaskUpdate") this.#update(input, place);
    else if (name === "TaskCreate") {
      const id = firstString(field(outcome, "task"), "id") ?? /#(\w+)/.exec(resultText())?.[1];
      this.#create(input, id, place);
    }
    return isTodoTool(name);
  }

  /** Starts with items that were open before the first call. */
  resume(todos: readonly TrackedTodo[]): void {
    this.#list = todos.filter(({ id }) => id === undefined);
    for (const todo of todos) if (todo.id !== undefined) this.#tasks.set(todo.id, todo);
  }

  /**
   * Reads the to-do list that an agent may attach to a prompt. An empty list means that the agent attached no
   * list.
   */
  prompt(todos: unknown): void {
    const list = readAll(asList(todos)).map(withoutId);
    if (list.length > 0) this.#list = this.#withKnown(list);
  }

  /** Reads a reminder, which contains the whole list. An empty reminder changes nothing. */
  attachment(attachment: unknown): void {
    if (!REMINDERS.has(stringField(attachment, "type") ?? "")) return;
    const all = readAll(listField(attachment, "content"));
    const tasks = all.filter(({ id }) => id !== undefined);
    const listed = this.#withKnown(tasks);
    if (tasks.length > 0) this.#tasks.clear();
    for (const task of listed) this.#tasks.set(task.id ?? "", task);
    if (tasks.length < all.length) this.#list = this.#withKnown(all.filter(({ id }) => id === undefined));
  }

  /**
   * Adds what is known about items with the same words. A reminder repeats a list, so it is no mention of its
   * items.
   */
  #withKnown(list: readonly Todo[]): readonly TrackedTodo[] {
    const known = new Map(this.todos().map((todo) => [todo.content, todo]));
    return list.map((todo) => {
      const { at, unmentioned } = known.get(todo.content) ?? {};
      return {
        ...todo,
        ...(at === undefined ? {} : { at }),
        ...(unmentioned === undefined ? {} : { unmentioned }),
      };
    });
  }

  todos(): readonly TrackedTodo[] {
    return [...this.#list, ...this.#tasks.values()];
  }

  /** Returns pending items of earlier lists that the agent left out when it wrote the list again. */
  dropped(): readonly TrackedTodo[] {
    return [...this.#dropped.values()];
  }

  #replaceList(list: readonly TrackedTodo[]): void {
    for (const todo of this.#list) if (todo.status === "pending") this.#dropped.set(todo.content, todo);
    for (const { content } of list) this.#dropped.delete(content);
    this.#list = list;
  }

  /**
   * Adds a task. If its id is unknown, the task is tracked under its most likely id, but `id` stays unset.
   */
  #create(input: unknown, id: string | undefined, place: Place): void {
    const created = readTodo({ subject: firstString(input, "subject", "content") });
    if (created === undefined) return;
    const detail = firstString(input, "description");
    this.#tasks.set(id ?? String(this.#tasks.size + 1), {
      ...created,
      ...place,
      ...(id === undefined ? {} : { id }),
      ...(detail === undefined ? {} : { detail }),
    });
  }

  #update(input: unknown, place: Place): void {
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
      ...place,
      ...(detail === undefined ? {} : { detail }),
    });
  }
}

type Place = Pick<TrackedTodo, "at">;

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
