import { describe, expect, it } from "vitest";
import { TodoLedger } from "./todo-ledger.ts";

function ledgerAfter(...calls: readonly (readonly [name: string, input: object, result?: string])[]) {
  const ledger = new TodoLedger();
  for (const [name, input, result = ""] of calls)
    ledger.call({ name, input, isError: false, outcome: undefined, resultText: () => result });
  return ledger;
}

describe("TodoLedger", () => {
  it("returns the to-dos of the newest list, and none after an empty list", () => {
    const ledger = ledgerAfter(
      ["TodoWrite", { todos: [{ content: "old", status: "pending" }] }],
      ["TodoWrite", { todos: [{ content: "new", status: "in_progress", id: "1" }, { nonsense: 1 }] }],
    );
    expect(ledger.todos()).toEqual([{ content: "new", status: "in_progress" }]);
    ledger.prompt([]);
    ledger.prompt("nonsense");
    ledger.attachment({ type: "todo_reminder", content: [] });
    expect(ledger.todos()).toHaveLength(1);
    expect(ledgerAfter(["TodoWrite", { todos: [{ content: "x" }] }], ["TodoWrite", {}]).todos()).toEqual([]);
  });

  it("tracks a task by its id from creation to completion, with its description", () => {
    const ledger = ledgerAfter(
      ["TaskCreate", { subject: "a", description: "with care" }, "Task #7 created successfully: a"],
      ["TaskCreate", { subject: "c" }, "Task #9 created"],
    );
    const input = { subject: "b" };
    const outcome = { task: { id: "8" } };
    ledger.call({ name: "TaskCreate", input, isError: false, outcome, resultText: () => "" });
    for (const update of [
      { taskId: "7", status: "completed" },
      { taskId: "8", status: "in_progress", subject: "B" },
      { taskId: "9", status: "deleted" },
    ]) {
      const call = { name: "TaskUpdate", input: update, isError: false, outcome: undefined };
      ledger.call({ ...call, resultText: () => "" });
    }
    expect(ledger.todos()).toEqual([
      { id: "7", content: "a", status: "completed", detail: "with care" },
      { id: "8", content: "B", status: "in_progress" },
    ]);
  });

  it("lists a task even if its id is unknown, and assigns the id that a later call uses for the task", () => {
    const ledger = ledgerAfter(["TaskCreate", { subject: "a" }, "created"]);
    expect(ledger.todos()).toEqual([{ content: "a", status: "pending" }]);
    const input = { taskId: "1", status: "completed" };
    ledger.call({ name: "TaskUpdate", input, isError: false, outcome: undefined, resultText: () => "" });
    expect(ledger.todos()).toEqual([{ id: "1", content: "a", status: "completed" }]);
  });

  it("failed calls and calls of other tools do not change the to-dos", () => {
    const ledger = ledgerAfter(["TodoWrite", { todos: [{ content: "a" }] }]);
    const call = { input: { todos: [] }, outcome: undefined, resultText: () => "" };
    expect(ledger.call({ ...call, name: "TodoWrite", isError: true })).toBe(true);
    expect(ledger.call({ ...call, name: "Read", isError: false })).toBe(false);
    expect(ledger.todos()).toHaveLength(1);
  });

  it("returns only the tasks that the newest task reminder names", () => {
    const ledger = ledgerAfter(["TaskCreate", { subject: "forgotten" }, "Task #1 created"]);
    ledger.attachment({ type: "task_reminder", content: [{ id: "2", subject: "left", status: "pending" }] });
    ledger.attachment({ type: "plan_mode", content: [{ content: "no reminder" }] });
    expect(ledger.todos()).toEqual([{ id: "2", content: "left", status: "pending" }]);
  });
});
