import { describe, expect, it } from "vitest";
import { ConversationBuilder, toolResult, toolUse } from "../../../../../test/support/builders.ts";
import type { FactKind } from "../../messages/fact-ledger.ts";
import { type ExtractOptions, extractFacts } from "./extract-facts.ts";

const textsOf = (session: ConversationBuilder, kind: FactKind, options: ExtractOptions = {}) =>
  extractFacts(session.entries, options)
    .facts.filter((fact) => fact.kind === kind)
    .map(({ text }) => text);

const edit = (path: string): object => ({ file_path: path, old_string: "a", new_string: "b" });

describe("extractFacts", () => {
  it("extracts every message of the user verbatim", () => {
    const session = new ConversationBuilder();
    session.user("Fix the build\n\n  - on Windows\n  - on macOS");
    session.user("<system-reminder>not a person</system-reminder>");
    session.attachment({ type: "queued_command", prompt: "and the docs" });
    expect(textsOf(session, "directive").toReversed()).toEqual([
      "Fix the build\n\n  - on Windows\n  - on macOS",
      "and the docs",
    ]);
  });

  it("extracts head, tail and rules of a huge message, with the id of its entry", () => {
    const filler = "Some more detail that nobody has to know by heart. ".repeat(120);
    const session = new ConversationBuilder();
    session.user(`The head of it.\n${filler}\nNever deploy on a Friday.\n${filler}\nThe tail of it.`);
    const [fact] = extractFacts(session.entries).facts;
    expect(fact?.text).toMatch(/^The head of it\./);
    expect(fact?.text).toContain("Never deploy on a Friday.");
    expect(fact?.text).toMatch(/The tail of it\.$/);
    expect(fact?.text).toContain("entry e-1");
    expect(fact?.text.length).toBeLessThan(3_000);
    expect(fact?.needles).toContain("Never deploy on a Friday.");
  });

  it("extracts each file together with what the agent did to it", () => {
    const session = new ConversationBuilder();
    session.user("go");
    session.tool("t1", "Read", { file_path: "/project/read.ts" }, "x");
    session.tool("t2", "Read", { file_path: "/project/changed.ts" }, "x");
    session.tool("t3", "Edit", edit("/project/changed.ts"), "ok");
    session.tool("t4", "Write", { file_path: "/project/new.ts", content: "x" }, "ok");
    session.tool("t5", "Write", { file_path: "/project/gone.ts", content: "x" }, "ok");
    session.tool("t6", "Bash", { command: "rm gone.ts" }, "");
    session.tool("t7", "Write", { file_path: "/tmp/scratch.ts", content: "x" }, "ok");
    expect(textsOf(session, "file")).toEqual([
      "deleted /project/gone.ts",
      "created /project/new.ts",
      "changed /project/changed.ts",
      "read /project/read.ts",
    ]);
  });

  it("extracts errors with their key line and their fix", () => {
    const session = new ConversationBuilder();
    session.user("go");
    const failing = "Exit code 1\nTypeError: price is not a function\n 1 failed";
    session.assistant([toolUse("t1", "Bash", { command: "npm test" })]);
    session.user([toolResult("t1", failing, true)]);
    session.tool("t2", "Edit", edit("/project/price.ts"), "ok");
    session.tool("t3", "Bash", { command: "npm test" }, "12 passed");
    session.assistant([toolUse("t4", "Bash", { command: "npm run lint" })]);
    session.user([toolResult("t4", "Exit code 1\nerror: unused variable total", true)]);
    expect(textsOf(session, "error")).toEqual([
      "`npm run lint`: error: unused variable total → not seen to pass",
      "`npm test`: TypeError: price is not a function → fixed after changing price.ts",
    ]);
    expect(textsOf(session, "command")).toEqual([
      "`npm run lint` → FAILED (exit code 1)",
      "`npm test` → 12 passed",
    ]);
  });

  it("extracts addresses, commits, issues, versions, ports and quantities from the user's text", () => {
    const session = new ConversationBuilder();
    session.user(
      "See https://example.org/a/b?c=1. Revert 3f9c2ab, that broke #482 and SHOP-77. Use node 20.11.1 on port 8080, at most 250 ms and 3 retries for 40% of 1,200 users.",
    );
    expect(textsOf(session, "reference")).toEqual(
      expect.arrayContaining([
        "https://example.org/a/b?c=1",
        "3f9c2ab",
        "#482",
        "SHOP-77",
        "node 20.11.1",
        "port 8080",
      ]),
    );
    expect(textsOf(session, "quantity")).toEqual(
      expect.arrayContaining(["250 ms", "3 retries", "40%", "1,200 users"]),
    );
  });

  it("extracts numbers that the user wrote, but none from a pasted log", () => {
    const session = new ConversationBuilder();
    session.user(
      "It should take 2 seconds:\n--- FAIL: TestCart (3.40s)\n    cart_test.go:12: got 17 items\n[12:01:02] 45 requests",
    );
    expect(textsOf(session, "quantity")).toEqual(["2 seconds"]);
  });

  it("extracts commits of the agent, and only the last version of an amended commit", () => {
    const session = new ConversationBuilder();
    session.user("commit");
    session.tool("t1", "Bash", { command: "git commit -m x" }, "[main 1111111] Add the cart");
    session.tool("t2", "Bash", { command: "git commit --amend" }, "[main 2222222] Add the cart");
    expect(textsOf(session, "reference")).toEqual(['commit 2222222 "Add the cart"']);
  });

  it("extracts decisions from the user's answers to questions that were asked by a tool or in plain text", () => {
    const session = new ConversationBuilder();
    session.user("Add a database");
    session.assistant([toolUse("t1", "AskUserQuestion", { questions: [{ question: "Which one?" }] })]);
    session.user([toolResult("t1", "ok")], { toolUseResult: { answers: { "Which one?": "Postgres" } } });
    session.assistant("Done. Shall I seed it with test data?");
    session.user("no");
    session.assistant("All right.");
    expect(textsOf(session, "decision")).toEqual([
      'Shall I seed it with test data? → "no"',
      'Which one? → "Postgres"',
    ]);
    expect(textsOf(session, "question")).toEqual([]);
  });

  it("takes no question and no request on another subject for the user's answer to a question", () => {
    const offer = "Shall I drop the cache of the cart?";
    const session = new ConversationBuilder();
    session.user("Make the cart faster");
    for (const reply of [
      "also wondering: is there a library for this?",
      "Write the release notes for the shop",
      "i wonder how long the prices stay valid",
    ]) {
      session.assistant(offer);
      session.user(reply);
    }
    session.assistant("Most pages need no cache. Shall I drop it?");
    session.user("yeah let's drop it");
    session.assistant("Which of the three faults should I fix?");
    session.user("fix them all, skip the last");
    session.assistant("All right.");
    expect(textsOf(session, "decision")).toEqual([
      'Which of the three faults should I fix? → "fix them all, skip the last"',
      'Shall I drop it? → "yeah let\'s drop it"',
    ]);
  });

  it("names the entry that contains a fact: the result of a tool call, or the call that proposes a plan", () => {
    const session = new ConversationBuilder();
    session.user("Add a database");
    session.assistant([toolUse("t1", "AskUserQuestion", { questions: [{ question: "Which one?" }] })]);
    const answered = session.user([toolResult("t1", 'You asked: "Which one?"="Postgres"')]);
    session.assistant([toolUse("t2", "Bash", { command: "git push --force" })]);
    const words =
      "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nnever force a push";
    const refused = session.user([toolResult("t2", words, true)]);
    session.assistant([toolUse("t3", "Bash", { command: "npm test" })]);
    const failed = session.user([toolResult("t3", "Error: no such table", true)]);
    const planned = session.assistant([toolUse("t4", "ExitPlanMode", { plan: "First the schema" })]);
    session.user([toolResult("t4", "ok")]);
    const { facts } = extractFacts(session.entries);
    const placeOf = (start: string) => facts.find(({ text }) => text.includes(start))?.entryIds[0];
    expect(placeOf("Which one?")).toBe(answered.uuid);
    expect(placeOf("never force")).toBe(refused.uuid);
    expect(placeOf("no such table")).toBe(failed.uuid);
    expect(placeOf("First the schema")).toBe(planned.uuid);
  });

  it("extracts open to-do items and unanswered questions", () => {
    const session = new ConversationBuilder();
    session.user("go");
    const todos = [
      { content: "write it", status: "completed" },
      { content: "test it", status: "in_progress" },
      { content: "ship it", status: "pending" },
    ];
    session.tool("t1", "TodoWrite", { todos }, "ok");
    session.assistant("Which environment shall I ship it to?");
    expect(textsOf(session, "todo")).toEqual(["[in progress] test it", "ship it"]);
    expect(textsOf(session, "question")).toEqual(["Which environment shall I ship it to?"]);
    const following = new ConversationBuilder("f");
    following.user("staging");
    expect(textsOf(session, "question", { following: following.entries })).toEqual([]);
  });

  it.each([
    ["failed", "npm test", "Tests  1 failed | 8 passed (9)", "Tests  9 passed (9)", []],
    [
      "passed in full",
      "npm test -- menu",
      "Tests  9 passed (9)",
      "Tests  2 passed (2)",
      ["`npm test` → Tests 9 passed (9)"],
    ],
  ])(
    "lists the last summarized test run, which %s, only if the kept messages do not contradict it",
    (_, later, before, after, expected) => {
      const session = new ConversationBuilder();
      session.user("Add a menu");
      session.tool("t1", "Bash", { command: "npm test" }, before);
      const following = new ConversationBuilder("f");
      following.tool("t2", "Bash", { command: later }, after);
      expect(textsOf(session, "command", { following: following.entries })).toEqual(expected);
    },
  );

  it("extracts plans of the assistant, and never reads the assistant's own words as approval of a plan", () => {
    const session = new ConversationBuilder();
    session.user("Think about a cache");
    session.tool("t1", "ExitPlanMode", { plan: "Rewrite the store around a cache" }, "The plan was shown");
    session.assistant("The user approved the plan. I will go ahead.");
    expect(textsOf(session, "plan")).toEqual(["(not approved by the user) Rewrite the store around a cache"]);
    expect(textsOf(session, "directive")).toEqual(["Think about a cache"]);
    session.user("never mind");
    expect(textsOf(session, "plan")).toEqual(["(cancelled by the user) Rewrite the store around a cache"]);
  });

  it("orders facts by importance: active requests, open items, completed work, closed requests", () => {
    const session = new ConversationBuilder();
    session.user("Old request for 20 items");
    session.tool("t1", "Read", { file_path: "/project/read.ts" }, "x");
    session.tool("t2", "Edit", edit("/project/changed.ts"), "ok");
    session.assistant("Done.");
    session.user("New request");
    session.tool("t3", "TodoWrite", { todos: [{ content: "ship it", status: "pending" }] }, "ok");
    const { facts } = extractFacts(session.entries);
    expect(facts.map(({ text }) => text)).toEqual([
      "New request",
      "ship it",
      "changed /project/changed.ts",
      "Old request for 20 items",
      "20 items",
      "read /project/read.ts",
    ]);
  });

  it("extracts facts only from the given entries, and reads later entries only to find the facts' status", () => {
    const session = new ConversationBuilder();
    session.user("Add a dark mode");
    session.assistant("It is there.");
    const following = new ConversationBuilder("f");
    following.user("Thanks. Write the changelog for 300 users");
    following.tool("t1", "Edit", edit("/project/CHANGELOG.md"), "ok");
    const { facts } = extractFacts(session.entries, { following: following.entries });
    expect(facts.map(({ text, status }) => [text, status])).toEqual([["Add a dark mode", "done"]]);
  });
});
