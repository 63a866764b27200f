import { describe, expect, it } from "vitest";
import { deriveExam, type FalseStatement, gradeText } from "./exam.ts";
import { SessionBuilder } from "./invented-session.case.ts";

const falseIn = (session: SessionBuilder, summary: string): FalseStatement["kind"][] =>
  gradeText(deriveExam(session.entries), summary).falseStatements.map(({ kind }) => kind);

describe("cancelled instructions", () => {
  const session = new SessionBuilder()
    .user("Create a weekly tide report for the fishing boats.")
    .user("Cancel the tide report for the fishing boats.");

  it.each([
    "7. Pending Tasks:\n- Create a weekly tide report for the fishing boats",
    "## Goal\nCreate the weekly tide report for fishing boats",
  ])("stating a cancelled instruction as in force is a false statement: %j", (summary) =>
    expect(falseIn(session, summary)).toEqual(["cancelled-as-active"]),
  );

  it.each([
    "6. All User Messages:\n- Create a weekly tide report for the fishing boats",
    "7. Pending Tasks:\n- ~~Create a weekly tide report for the fishing boats~~",
    "## Goal\nThe weekly tide report for fishing boats was cancelled by the user.",
    "A weekly tide report for the fishing boats was created.",
  ])("mentioning a cancelled instruction is no false statement: %j", (summary) =>
    expect(falseIn(session, summary)).toEqual([]),
  );

  it("the old value of a number that the user replaced is a cancelled instruction", () => {
    const ports = new SessionBuilder()
      .user("The harbor server should listen on port 7001.")
      .user("Use port 7002 for the harbor server instead.");
    expect(falseIn(ports, "Constraints:\n- The harbor server listens on port 7001")).toEqual([
      "cancelled-as-active",
    ]);
    expect(falseIn(ports, "Constraints:\n- The harbor server listens on port 7002, not 7001")).toEqual([]);
  });
});

describe("outcomes of tests", () => {
  const failed = new SessionBuilder().call(
    "Bash",
    { command: "go test ./..." },
    "--- FAIL: TestMooring (0.01s)\nFAIL",
    true,
  );
  const settled = new SessionBuilder()
    .call("Bash", { command: "go test ./..." }, "--- FAIL: TestMooring (0.01s)\nFAIL", true)
    .call("Bash", { command: "go test ./... -run TestMooring" }, "ok  harbor 0.2s");

  it.each(["TestMooring is fixed.", "`TestMooring` passes now"])(
    "a test that failed last makes %j false",
    (summary) => {
      expect(falseIn(failed, summary)).toEqual(["failed-as-passed"]);
    },
  );

  it.each([
    "TestMooring still fails.",
    "TestMooring was changed, but not seen to pass",
    "Next: fix TestMooring",
    "TestMooring should pass after the next change",
  ])("a test that failed last leaves %j true", (summary) => expect(falseIn(failed, summary)).toEqual([]));

  it("a test that passed in the end makes its pending fix false", () => {
    expect(falseIn(settled, "7. Pending Tasks:\n- Repair TestMooring")).toEqual(["done-as-pending"]);
    expect(falseIn(settled, "TestMooring failed once and passes now.")).toEqual([]);
  });
});

describe("finished work", () => {
  const summary = "## Pending\n- Show the tide table on the start page";
  const committed = new SessionBuilder().call(
    "Bash",
    { command: "git commit -am x" },
    "[main 1a2b3c4] feat(web): show the tide table on the start page\n 1 file changed",
  );

  it("work of a commit is false in a list of open work, but not beside its hash", () => {
    expect(falseIn(committed, summary)).toEqual(["done-as-pending"]);
    expect(falseIn(committed, `${summary} (1a2b3c4)`)).toEqual([]);
  });

  it("fenced code contains no false statement about finished work", () => {
    expect(falseIn(committed, "```js\nrun();\n```")).toEqual([]);
  });

  it("finished work is open again after a later request about it", () => {
    committed.user("Move the tide table to the top of the start page.");
    expect(falseIn(committed, summary)).toEqual([]);
  });

  it("work of an answered request is false in a list of open work", () => {
    const answered = (reply: string): SessionBuilder =>
      new SessionBuilder()
        .user("Show the tide table on the start page.")
        .call("Edit", { file_path: "/repo/start.ts" }, "ok")
        .assistant("Done. The start page shows the tide table.")
        .user(reply);
    expect(falseIn(answered("Now sell the red boat."), summary)).toEqual(["done-as-pending"]);
    expect(falseIn(answered("The tide table on the start page is still empty."), summary)).toEqual([]);
  });
});

describe("invented literals", () => {
  const session = new SessionBuilder()
    .user("Read /repo/src/tide-table.ts, it takes 12.4 seconds on port 7001.")
    .assistant("Version v3.14.1 runs, see commit 1a2b3c4d5e6f and issue #4711, coverage 87.6%.");

  it.each([
    ["src/moon-phase.ts is new", "invented-path"],
    ["It runs on port 7009", "invented-figure"],
    ["Version 9.9.9 runs", "invented-figure"],
    ["It takes 55 seconds", "invented-figure"],
    ["See issue #9999", "invented-figure"],
    ["See commit deadbeef1", "invented-figure"],
    ["The coverage is 99%", "invented-figure"],
  ])("an invented literal makes %j false", (summary, kind) =>
    expect(falseIn(session, summary)).toEqual([kind]),
  );

  it.each([
    "repo/src/tide-table.ts:12 was read",
    "It takes 12 seconds on localhost:7001",
    "Version 3.14.1, commit 1a2b3c4, issue #4711, 88% coverage",
    "It takes about 15 seconds",
    "See src/*.ts and https://harbor.example/moon.html",
    "```ts\nimport moon from 'src/moon-phase.ts'\n```",
    "Read the full transcript at /home/me/session-0001.jsonl",
    "Entry 12345678-90ab-4cde-8f01-23456789abcd",
  ])("a text without invented literals contains no false statement: %j", (summary) =>
    expect(falseIn(session, summary)).toEqual([]),
  );
});
