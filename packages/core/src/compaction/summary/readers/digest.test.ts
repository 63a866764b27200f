import { currentConversation } from "@longhaul/sessions";
import { describe, expect, it } from "vitest";
import { ConversationBuilder, toolResult, toolUse } from "../../../../../../test/support/builders.ts";
import type { Entry } from "../../../messages/entry.ts";
import { earlierItems } from "./earlier-summary.ts";
import { digestSession } from "./readers.ts";

const messagesOf = (entries: readonly Entry[]): string[] =>
  digestSession(entries).exchanges.flatMap(({ message }) => (message ? [message.text] : []));
const queueOperation = (operation: string, content?: string): Entry =>
  ({ type: "queue-operation", operation, ...(content === undefined ? {} : { content }) }) as unknown as Entry;

describe("user messages in the digest of a session", () => {
  it("a digest counts prompts as user messages, but no tool results, meta entries or agent text", () => {
    const session = new ConversationBuilder();
    session.user("first");
    session.tool("t1", "Bash", { command: "ls" }, "second");
    session.user("meta", { isMeta: true });
    session.assistant("third");
    session.user("<task-notification><status>completed</status></task-notification>");
    expect(messagesOf(session.entries)).toEqual(["first"]);
  });

  it("a digest includes user text that was queued while the agent worked", () => {
    const session = new ConversationBuilder();
    session.user("first");
    session.attachment({ type: "queued_command", prompt: "and hurry", origin: { kind: "human" } });
    expect(messagesOf(session.entries)).toEqual(["first", "and hurry"]);
  });

  it("a digest includes text that only the session file's queue contains, unless the text still waits there", () => {
    const session = new ConversationBuilder();
    session.user("shown");
    session.attachment({ type: "queued_command", prompt: "shown too" });
    const operations = ["received", "waiting", "/model"].map((text) => queueOperation("enqueue", text));
    const lines = [...session.entries, ...operations, queueOperation("remove", "received")];
    expect(messagesOf(currentConversation(lines).entries)).toEqual(["shown", "shown too", "received"]);
  });

  it("a digest excludes queued text that did not come from the user", () => {
    const session = new ConversationBuilder();
    session.user("first");
    session.attachment({ type: "queued_command", prompt: "from a channel", origin: { kind: "channel" } });
    expect(messagesOf(session.entries)).toEqual(["first"]);
  });

  it("a digest marks images at their place in a user message", () => {
    const session = new ConversationBuilder();
    session.user([
      { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
      { type: "text", text: "what is this?" },
    ]);
    expect(messagesOf(session.entries)).toEqual(["[image]\nwhat is this?"]);
  });

  it("a digest records that the user interrupted the agent before a message", () => {
    const session = new ConversationBuilder();
    session.user("go");
    session.user([{ type: "text", text: "[Request interrupted by user]" }]);
    session.user("stop, other way");
    expect(
      digestSession(session.entries).exchanges.map((exchange) => exchange.message?.afterInterruption),
    ).toEqual([false, true]);
  });

  it("a digest includes the reason that the user states for refusing a tool call", () => {
    const session = new ConversationBuilder();
    session.user("go");
    session.assistant([toolUse("t", "Bash", { command: "rm -rf x" })]);
    const refusal = "The user doesn't want to proceed with this tool use. the user said:\nkeep x";
    session.user([toolResult("t", refusal, true)]);
    expect(messagesOf(session.entries)).toEqual(["go", "keep x"]);
  });

  it("a digest excludes messages of subagents, unless the session itself belongs to a subagent", () => {
    const main = new ConversationBuilder();
    main.user("main request");
    main.user("do a part of it", { isSidechain: true });
    expect(messagesOf(main.entries)).toEqual(["main request"]);
    expect(messagesOf(main.entries.slice(1))).toEqual(["do a part of it"]);
  });
});

describe("the agent's work in the digest of a session", () => {
  it("a digest counts a subagent's file changes but not its text", () => {
    const session = new ConversationBuilder();
    session.user("go");
    const input = { file_path: "/project/a.ts", old_string: "a", new_string: "b" };
    session.assistant([{ type: "text", text: "sub words" }, toolUse("s", "Edit", input)], {
      isSidechain: true,
    });
    const digest = digestSession(session.entries);
    expect(digest.files).toMatchObject([{ path: "/project/a.ts", edits: 1 }]);
    expect(digest.exchanges.flatMap((exchange) => exchange.texts)).toEqual([]);
  });

  it("a digest recognizes file tools of other agents, including those with a command argument", () => {
    const session = new ConversationBuilder();
    session.tool("t1", "read_file", { absolute_path: "/p/read.ts" }, "x");
    session.tool(
      "t2",
      "write_to_file",
      { path: "/p/new.ts", content: "export function parsePage() {}" },
      "ok",
    );
    const editor = "str_replace_based_edit_tool";
    session.tool("t3", editor, { command: "view", path: "/p/viewed.ts" }, "x");
    session.tool(
      "t4",
      editor,
      { command: "create", path: "/p/made.ts", file_text: "class PageReader {}" },
      "ok",
    );
    session.tool("t5", editor, { command: "str_replace", path: "/p/e.ts", old_str: "a", new_str: "b" }, "ok");
    expect(digestSession(session.entries).files).toMatchObject([
      { path: "/p/read.ts", isRead: true, edits: 0 },
      { path: "/p/new.ts", created: true, defines: ["parsePage"] },
      { path: "/p/viewed.ts", isRead: true, edits: 0 },
      { path: "/p/made.ts", created: true, defines: ["PageReader"] },
      { path: "/p/e.ts", edits: 1, lastEdits: [{ was: "a", now: "b" }] },
    ]);
  });

  it("a digest does not count a failed edit as a file change", () => {
    const session = new ConversationBuilder();
    session.assistant([
      toolUse("e", "Edit", { file_path: "/project/a.ts", old_string: "a", new_string: "b" }),
    ]);
    session.user([toolResult("e", "<tool_use_error>String to replace not found</tool_use_error>", true)]);
    expect(digestSession(session.entries).files).toEqual([]);
  });

  it("a digest lists the user's answers to questions, and questions without an answer", () => {
    const session = new ConversationBuilder();
    const questions = [{ question: "Which port?" }];
    session.tool("q1", "AskUserQuestion", { questions }, 'The user answered: "Which port?"="8080"');
    session.assistant([toolUse("q2", "AskUserQuestion", { questions: [{ question: "Which host?" }] })]);
    const digest = digestSession(session.entries);
    expect(digest.answers).toMatchObject([{ question: "Which port?", answer: "8080" }]);
    expect(digest.openQuestions).toEqual(["Which host?"]);
  });

  it("a digest lists background agents that have not reported back", () => {
    const session = new ConversationBuilder();
    const launched = (id: string): string => `Async agent launched successfully.\nagentId: ${id} (internal)`;
    session.tool("a", "Agent", { description: "one" }, launched("abc"));
    session.tool("b", "Agent", { description: "two" }, launched("def"));
    session.user(
      "<task-notification><task-id>abc</task-id><status>completed</status><result>found &lt;it&gt;</result></task-notification>",
    );
    const digest = digestSession(session.entries);
    expect(digest.runningTasks).toMatchObject([{ id: "def", title: "two" }]);
    expect(digest.findings).toMatchObject([{ text: "found <it>" }]);
  });

  it("reads the notice of a finished task once even when the queue contains it too", () => {
    const notice =
      "<task-notification><task-id>a</task-id><status>completed</status><result>found</result></task-notification>";
    const session = new ConversationBuilder();
    session.user(notice);
    expect(digestSession([queueOperation("enqueue", notice), ...session.entries]).findings).toHaveLength(1);
  });

  it("a digest carries over a leading summary, and ignores a summary of messages that it digests itself", () => {
    const leading = new ConversationBuilder();
    leading.boundary();
    leading.summary("1. Primary Request and Intent:\n- earlier");
    leading.user("now");
    expect(digestSession(leading.entries).earlier).toBeDefined();
    const middle = new ConversationBuilder();
    middle.user("before");
    middle.boundary();
    middle.summary("1. Primary Request and Intent:\n- earlier");
    expect(digestSession(middle.entries).earlier).toBeUndefined();
  });

  it("a digest carries over the summary before kept messages and the summary after them", () => {
    const session = new ConversationBuilder();
    session.boundary();
    session.summary("1. Primary Request and Intent:\n- first\n\n2. Key Technical Concepts:\n- concept one");
    session.user("kept question");
    session.assistant("kept answer");
    session.summary("1. Primary Request and Intent:\n- second\n\n2. Key Technical Concepts:\n- concept two");
    session.user("now");
    const { earlier } = digestSession(session.entries);
    expect(earlierItems(earlier, "Primary Request and Intent")).toEqual(["- first", "- second"]);
    expect(earlierItems(earlier, "Key Technical Concepts")).toEqual(["- concept one", "- concept two"]);
  });

  it("a digest records who acted last: user, tool, agent or nobody", () => {
    const session = new ConversationBuilder();
    expect(digestSession(session.entries).lastActor).toBe("nobody");
    session.user("go");
    expect(digestSession(session.entries).lastActor).toBe("person");
    session.tool("t", "Bash", { command: "ls" }, "x");
    expect(digestSession(session.entries).lastActor).toBe("tool");
    session.assistant("done");
    expect(digestSession(session.entries).lastActor).toBe("agent");
  });
});

describe("open work from before the digested entries", () => {
  it("a digest carries over open to-dos, tasks and background agents until its entries close them", () => {
    const before = {
      todos: [
        { content: "old", status: "pending" as const },
        { content: "mine", status: "pending" as const, id: "7" },
      ],
      runningTasks: [{ at: 0, id: "a1", title: "Search" }],
    };
    expect(digestSession([], before)).toMatchObject(before);
    const session = new ConversationBuilder();
    session.tool("t", "TodoWrite", { todos: [{ content: "new", status: "pending" }] }, "ok");
    session.tool("u", "TaskUpdate", { taskId: "7", status: "completed" }, "ok");
    session.user("<task-notification><task-id>a1</task-id><status>completed</status></task-notification>");
    const { todos, runningTasks } = digestSession(session.entries, before);
    expect(todos).toMatchObject([{ content: "new" }, { content: "mine", status: "completed" }]);
    expect(runningTasks).toEqual([]);
  });
});
