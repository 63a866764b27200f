import { describe, expect, it } from "vitest";
import { ConversationBuilder, toolResult } from "../../../../../test/support/builders.ts";
import type { Attachment, Entry } from "../../messages/entry.ts";
import { contentText } from "../../messages/untrusted.ts";
import { attachmentContent } from "../../request/flatten/attachment-content.ts";
import { sessionEvents } from "./read-state.ts";
import { restoreAll } from "./restore-all.ts";
import type { Restored } from "./restored.ts";
import { todosIn } from "./work-state.ts";

const restore = (summarized: Entry[], todos?: unknown, budgetTokens = 10_000): Promise<Restored> =>
  restoreAll(
    { summarized, kept: [], countTokens: (text) => text.length, budgetTokens },
    todos === undefined ? {} : { todos: () => todos as never },
  );
const words = (attachment: Attachment | undefined): string =>
  contentText(attachmentContent(attachment ?? { type: "" }));

describe("restored to-do list", () => {
  it("restores all to-do items of the host with their status, including completed ones", async () => {
    const todos = [
      { content: "plan", status: "completed" },
      { content: "build", status: "in_progress" },
      { content: "ship", status: "pending" },
    ];
    const { items } = await restore([], todos);
    expect(items.map(({ kind, name, isTruncated }) => ({ kind, name, isTruncated }))).toEqual([
      { kind: "todos", name: "todo list", isTruncated: false },
    ]);
    expect(items[0]?.attachment).toEqual({ type: "todo_reminder", content: todos, itemCount: 3 });
    expect(words(items[0]?.attachment)).toContain(
      "- [completed] plan\n- [in_progress] build\n- [pending] ship",
    );
  });

  it("keeps the ids of tasks in a restored to-do list", async () => {
    const { items } = await restore([], [{ id: "7", content: "build", status: "in_progress" }]);
    expect(items[0]?.attachment).toEqual({
      type: "task_reminder",
      content: [{ id: "7", subject: "build", status: "in_progress" }],
      itemCount: 1,
    });
    expect(words(items[0]?.attachment)).toContain("- #7 [in_progress] build");
  });

  it("drops completed to-dos first when the budget is small, and drops the whole list when nothing fits", async () => {
    const todos = [
      { content: "x".repeat(500), status: "completed" },
      { content: "open", status: "pending" },
    ];
    const { items, skipped } = await restore([], todos, 200);
    expect(items[0]).toMatchObject({ isTruncated: true, attachment: { itemCount: 1 } });
    expect(words(items[0]?.attachment)).toContain("open");
    expect(skipped).toEqual([]);
    expect(await restore([], todos, 10)).toEqual({
      items: [],
      skipped: [{ kind: "todos", name: "todo list", reason: "over-budget" }],
    });
  });

  it("restores no to-do list when the host says that there is none", async () => {
    const c = new ConversationBuilder();
    c.tool("1", "TodoWrite", { todos: [{ content: "old", status: "pending" }] }, "ok");
    expect(await restore(c.entries, [])).toEqual({ items: [], skipped: [] });
  });

  it("reads the to-do list from the conversation when the host does not provide one", async () => {
    const c = new ConversationBuilder();
    c.tool("1", "TodoWrite", { todos: [{ content: "from the talk", status: "pending" }] }, "ok");
    expect(words((await restore(c.entries)).items[0]?.attachment)).toContain("from the talk");
  });
});

describe("todosIn", () => {
  const todo = (content: string, status = "pending") => ({ content, status });

  it("returns the last accepted to-do list, and no items after an empty list was written", () => {
    const c = new ConversationBuilder();
    c.tool("1", "TodoWrite", { todos: [todo("first")] }, "ok");
    c.tool("2", "TodoWrite", { todos: [{ ...todo("second", "in_progress"), id: "1" }] }, "ok");
    c.tool("3", "TodoWrite", { todos: [todo("refused")] });
    c.user([toolResult("3", "no", true)]);
    c.tool("4", "TodoWrite", { todos: [todo("unanswered")] });
    expect(todosIn(sessionEvents(c.entries))).toEqual([todo("second", "in_progress")]);
    c.tool("5", "TodoWrite", { todos: [] }, "ok");
    expect(todosIn(sessionEvents(c.entries))).toEqual([]);
  });

  it("builds the to-do list from tool calls that create and update tasks", () => {
    const c = new ConversationBuilder();
    c.tool("1", "TaskCreate", { subject: "types" }, "Task #1 created successfully: types");
    c.assistant([{ type: "tool_use", id: "2", name: "TaskCreate", input: { subject: "tests" } }]);
    c.user([toolResult("2", "created")], { toolUseResult: { task: { id: "2", subject: "tests" } } });
    c.tool("3", "TaskCreate", { subject: "gone" }, "Task #3 created successfully: gone");
    c.tool("4", "TaskUpdate", { taskId: "1", status: "completed" }, "Updated task #1 status");
    c.tool("5", "TaskUpdate", { taskId: "3", status: "deleted" }, "Updated task #3 status");
    c.tool("6", "TaskUpdate", { taskId: "2", subject: "more tests" }, "Updated task #2 subject");
    c.tool("7", "TaskUpdate", { taskId: "9", status: "in_progress" }, "Updated task #9 status");
    expect(todosIn(sessionEvents(c.entries))).toEqual([
      { id: "1", content: "types", status: "completed" },
      { id: "2", content: "more tests", status: "pending" },
      { id: "9", content: "Task #9", status: "in_progress" },
    ]);
  });

  it("continues the to-do list that an earlier compaction restored, and ignores an empty reminder", async () => {
    const before = new ConversationBuilder();
    before.tool("1", "TaskCreate", { subject: "types" }, "Task #1 created");
    before.tool("2", "TodoWrite", { todos: [todo("listed")] }, "ok");
    const after = new ConversationBuilder("after");
    for (const { attachment } of (await restore(before.entries)).items) after.attachment(attachment);
    after.tool("3", "TaskUpdate", { taskId: "1", status: "completed" }, "ok");
    after.attachment({ type: "task_reminder", content: [], itemCount: 0 });
    expect(todosIn(sessionEvents(after.entries))).toEqual([
      todo("listed"),
      { id: "1", content: "types", status: "completed" },
    ]);
    after.tool("4", "TodoWrite", { todos: [todo("written anew")] }, "ok");
    expect(todosIn(sessionEvents(after.entries)).map(({ content }) => content)).toEqual([
      "written anew",
      "types",
    ]);
  });

  it("applies a task call once even when a resumed session repeats its result", () => {
    const c = new ConversationBuilder();
    c.tool("1", "TaskCreate", { subject: "types" }, "Task #1 created");
    c.tool("2", "TaskUpdate", { taskId: "1", status: "completed" }, "ok");
    c.user([toolResult("1", "Task #1 created")]);
    expect(todosIn(sessionEvents(c.entries))).toEqual([{ id: "1", content: "types", status: "completed" }]);
  });

  it("keeps only the tasks that the agent's own reminder still names", () => {
    const c = new ConversationBuilder();
    c.tool("1", "TaskCreate", { subject: "forgotten" }, "Task #1 created");
    c.attachment({ type: "task_reminder", content: [{ id: "2", subject: "left", status: "pending" }] });
    expect(todosIn(sessionEvents(c.entries))).toEqual([{ id: "2", content: "left", status: "pending" }]);
  });

  it("reads a to-do list that is attached to a prompt", () => {
    const c = new ConversationBuilder();
    c.user("go on", { todos: [{ ...todo("carried"), id: "1" }] } as object);
    c.user("and on", { todos: [] } as object);
    expect(todosIn(sessionEvents(c.entries))).toEqual([todo("carried")]);
  });
});
