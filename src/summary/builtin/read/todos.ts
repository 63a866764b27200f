import { asList, field, firstString, stringField } from "../../../conversation/fields.ts";

type TodoStatus = "pending" | "in_progress" | "completed";

export interface Todo {
  readonly subject: string;
  readonly status: TodoStatus;
  readonly detail?: string | undefined;
}

/** Follows both forms of to-do keeping: whole lists written anew, and tasks with ids. */
export class TodoLedger {
  #list: readonly Todo[] = [];
  readonly #tasks = new Map<string, Todo>();

  /** A whole list replaces the one before; an empty one is a reminder without content, not a wipe. */
  replaceList(todos: unknown): void {
    const list = asList(todos).flatMap((item) => {
      const subject = firstString(item, "content", "subject");
      return subject === undefined ? [] : [{ subject, status: toStatus(stringField(item, "status")) }];
    });
    if (list.length > 0) this.#list = list;
  }

  create(input: unknown, resultText: string, toolUseResult: unknown): void {
    const subject = stringField(input, "subject");
    if (subject === undefined) return;
    const reported = stringField(field(toolUseResult, "task"), "id") ?? /#(\w+)/.exec(resultText)?.[1];
    const id = reported ?? String(this.#tasks.size + 1);
    this.#tasks.set(id, { subject, status: "pending", detail: stringField(input, "description") });
  }

  update(input: unknown): void {
    const id = firstString(input, "taskId", "id");
    if (id === undefined) return;
    const status = stringField(input, "status");
    if (status === "deleted") {
      this.#tasks.delete(id);
      return;
    }
    const known = this.#tasks.get(id);
    this.#tasks.set(id, {
      subject: stringField(input, "subject") ?? known?.subject ?? `Task #${id}`,
      status: status === undefined ? (known?.status ?? "pending") : toStatus(status),
      detail: stringField(input, "description") ?? known?.detail,
    });
  }

  todos(): readonly Todo[] {
    return [...this.#list, ...this.#tasks.values()];
  }
}

function toStatus(status: string | undefined): TodoStatus {
  return status === "in_progress" || status === "completed" ? status : "pending";
}
