import { asList, field, firstString, listField, stringField } from "./untrusted.ts";

export interface Todo {
  readonly content: string;
  readonly status: "pending" | "in_progress" | "completed";
  readonly id?: string;
}

/** As a conversation tells of it. */
export interface FollowedTodo extends Todo {
  readonly detail?: string;
}

export interface TodoCall {
  readonly name: string;
  readonly input: unknown;
  readonly isError: boolean;
  /** The agent's own copy of the outcome, if it keeps one. */
  readonly outcome: unknown;
  /** Asked for only where it is needed: most results are long, and none of ours. */
  readonly resultText: () => string;
}

const TODO_TOOLS: ReadonlySet<string> = new Set(["TodoWrite", "TaskCreate", "TaskUpdate"]);
const REMINDERS: ReadonlySet<string> = new Set(["todo", "todo_reminder", "task_reminder"]);

export const isTodoTool = (name: string): boolean => TODO_TOOLS.has(name);

/** Follows both forms of to-do keeping: whole lists written anew, and tasks that are changed one by one. */
export class TodoLedger {
  #list: readonly Todo[] = [];
  readonly #tasks = new Map<string, FollowedTodo>();

  /** Whether the call was about to-dos. One that failed changes nothing. */
  call({ name, input, isError, outcome, resultText }: TodoCall): boolean {
    if (isError) return isTodoTool(name);
    if (name === "TodoWrite") this.#list = readAll(listField(input, "todos")).map(asListed);
    else if (name === "TaskUpdate") this.#update(input);
    else if (name === "TaskCreate") {
      this.#create(input, firstString(field(outcome, "task"), "id") ?? /#(\w+)/.exec(resultText())?.[1]);
    }
    return isTodoTool(name);
  }

  /** A prompt may carry the list as it stood then; none means that nobody put it there. */
  prompt(todos: unknown): void {
    const list = readAll(asList(todos)).map(asListed);
    if (list.length > 0) this.#list = list;
  }

  /** A reminder holds the whole list; an empty one only says that there is none to remind of. */
  attachment(attachment: unknown): void {
    if (!REMINDERS.has(stringField(attachment, "type") ?? "")) return;
    const all = readAll(listField(attachment, "content"));
    const tasks = all.filter(({ id }) => id !== undefined);
    if (tasks.length > 0) this.#tasks.clear();
    for (const task of tasks) this.#tasks.set(task.id ?? "", task);
    if (tasks.length < all.length) this.#list = all.filter(({ id }) => id === undefined);
  }

  todos(): readonly FollowedTodo[] {
    return [...this.#list, ...this.#tasks.values()];
  }

  /** Where nobody tells the id, it is followed under the one that it most likely has, but is not given that. */
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

/** In a list that is always written whole an id means nothing; it would pass for that of a task. */
const asListed = ({ content, status }: Todo): Todo => ({ content, status });
