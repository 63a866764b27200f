import type { Attachment } from "../conversation/entry.ts";
import { isTodoTool, readTodo, type Todo, TodoLedger } from "../conversation/todo-ledger.ts";
import { contentText, field, firstString, stringField } from "../conversation/untrusted.ts";
import type { Plan } from "./host-state.ts";
import {
  fitEach,
  type Gather,
  hostOr,
  NOTHING,
  type RestoredItem,
  readList,
  restoredItem,
  skipping,
} from "./restored.ts";
import type { SessionEvent } from "./session-events.ts";

/** The to-do list as it stands. Where it does not fit, what is done already is left out first. */
export const gatherTodos: Gather = hostOr(
  "todos",
  "todos",
  ({ events }) => todosIn(events),
  (list, { input }) => {
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
    const lists = [forms("todo list", withoutId, todoList), forms("task list", withId, taskList)];
    return (budgetTokens) => fitEach(lists, budgetTokens, skipped);
  },
);

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
export function todosIn(events: Iterable<SessionEvent>): readonly Todo[] {
  const ledger = new TodoLedger();
  for (const event of events) {
    if (event.what === "message") ledger.prompt(field(event.entry, "todos"));
    else if (event.what === "attachment") ledger.attachment(event.attachment);
    else if (isTodoTool(event.call.name)) {
      const { name, input, isError, outcome, result } = event.call;
      ledger.call({ name, input, isError, outcome, resultText: () => contentText(result.content) });
    }
  }
  return ledger.todos();
}

/** The plan whole, with its path; where it does not fit, the path alone. */
export const gatherPlan: Gather = hostOr(
  "plan",
  "plan",
  ({ events }) => planIn(events),
  (value, { input }) => {
    if (value === undefined || value === null) return () => NOTHING;
    const path = firstString(value, "path");
    const content = stringField(value, "content");
    if (path === undefined || content === undefined || content.trim() === "")
      return () => skipping("plan", "invalid");
    const form = (planContent: string, isTruncated: boolean) => (): RestoredItem => {
      const attachment = { type: "plan_file_reference", planFilePath: path, planContent };
      return restoredItem("plan", path, attachment, input.countTokens, isTruncated);
    };
    return (budgetTokens) => {
      const restored = fitEach([[form(content, false), form("", true)]], budgetTokens);
      if (!restored.items.some(({ isTruncated }) => isTruncated)) return restored;
      return { ...restored, skipped: [{ kind: "plan", name: path, reason: "over-budget" }] };
    };
  },
);

const PLAN_FILES: ReadonlySet<string> = new Set(["plan_file", "plan_file_reference"]);

/** The plan that was put back or pointed out last. */
function planIn(events: Iterable<SessionEvent>): Plan | undefined {
  let plan: Plan | undefined;
  for (const event of events) {
    if (event.what !== "attachment" || !PLAN_FILES.has(event.type)) continue;
    const path = firstString(event.attachment, "planFilePath", "filename", "path");
    const content = firstString(event.attachment, "planContent", "content");
    if (path !== undefined && content !== undefined) plan = { path, content };
  }
  return plan;
}

/** A summary does not bind as a mode does: without this the agent would start to change things. */
export const gatherPlanMode: Gather = hostOr(
  "plan-mode",
  "isPlanMode",
  ({ events }) => isPlanModeIn(events),
  (answer, gathering) => {
    const isOn = answer ?? false;
    if (typeof isOn !== "boolean") return () => skipping("plan-mode", "invalid");
    if (!isOn) return () => NOTHING;
    const { planFilePath } = planModeIn(gathering.events);
    const attachment = {
      type: "plan_mode",
      reminderType: "full",
      isSubAgent: false,
      ...(planFilePath === undefined ? {} : { planFilePath, planExists: true }),
    };
    const form = () => restoredItem("plan-mode", "plan-mode", attachment, gathering.input.countTokens);
    return (budgetTokens) => fitEach([[form]], budgetTokens);
  },
);

export function isPlanModeIn(events: Iterable<SessionEvent>): boolean {
  return planModeIn(events).isOn;
}

/** The mode of the newest prompt, and what tools and reminders made of it since. */
function planModeIn(events: Iterable<SessionEvent>): {
  readonly isOn: boolean;
  readonly planFilePath: string | undefined;
} {
  let isOn = false;
  let planFilePath: string | undefined;
  for (const event of events) {
    if (event.what === "message") {
      const mode = stringField(event.entry, "permissionMode");
      if (mode !== undefined) isOn = mode === "plan";
    } else if (event.what === "call") {
      const { name, isError } = event.call;
      if (name === "EnterPlanMode" && !isError) isOn = true;
      if (name === "ExitPlanMode" && !isError) isOn = false;
    } else if (event.type === "plan_mode") {
      isOn = true;
      planFilePath = firstString(event.attachment, "planFilePath") ?? planFilePath;
    } else if (event.type === "plan_mode_exit") isOn = false;
  }
  return { isOn, planFilePath };
}
