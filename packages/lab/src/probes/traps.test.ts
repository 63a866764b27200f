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

describe("cancellations in other words", () => {
  it.each([
    [
      "Store the tide sessions in Redis.",
      "On second thought, Postgres is enough for the tide sessions, no Redis please.",
    ],
    ["Use tabs in all harbor files.", "Please use spaces for harbor files after all."],
    ["Add dark mode to the harbor page.", "Let's not do dark mode on the harbor page for now."],
  ])("an instruction is cancelled by a later change of mind: %j", (earlier, later) => {
    const session = new SessionBuilder().user(earlier).user(later);
    expect(falseIn(session, `7. Pending Tasks:\n- ${earlier}`)).toEqual(["cancelled-as-active"]);
  });

  it("the instruction that replaced another one is in force", () => {
    const session = new SessionBuilder()
      .user("Use tabs in all harbor files.")
      .user("Please use spaces for harbor files after all.");
    expect(falseIn(session, "7. Pending Tasks:\n- Use spaces for all harbor files.")).toEqual([]);
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

  it.each([
    "TestMooring is fixed.",
    "`TestMooring` passes now",
    "TestMooring works now.",
    "TestMooring no longer fails.",
    "TestMooring failed at first, but it was repaired.",
    "Everything is green.",
    "go test ./... succeeds.",
  ])("a test that failed last makes %j false", (summary) => {
    expect(falseIn(failed, summary)).toEqual(["failed-as-passed"]);
  });

  it.each([
    "TestMooring still fails.",
    "TestMooring was changed, but not seen to pass",
    "Next: fix TestMooring",
    "TestMooring should pass after the next change",
  ])("a test that failed last leaves %j true", (summary) => expect(falseIn(failed, summary)).toEqual([]));

  const passed = new SessionBuilder().call("Bash", { command: "go test ./..." }, "ok  harbor 0.2s");

  it.each([
    "The tests failed in their last run.",
    "`go test ./...` still fails.",
    "The tests currently fail.",
  ])("checks that passed last make %j false", (summary) =>
    expect(falseIn(passed, summary)).toEqual(["passed-as-failed"]),
  );

  it.each([
    "The tests failed at first, but they pass now.",
    "Two tests failed then, because they expected nil.",
    "The tests check that the crane fails when it is overloaded.",
  ])("checks that passed last leave %j true", (summary) => expect(falseIn(passed, summary)).toEqual([]));

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

  it.each([
    "Whether the web server can show the tide table on the start page",
    "Show the tide table, possibly",
  ])("a passage that weighs finished work does not list it as open: %j", (item) =>
    expect(falseIn(committed, `## Pending\n- ${item} on the start page`)).toEqual([]),
  );

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
    ["src/harbor/tide-table.ts was read", "invented-path"],
    ["It takes 7001 seconds", "invented-figure"],
    ["It costs $4.20", "invented-figure"],
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
    "No src/moon-phase.ts was created",
    "Version 3.14.1, commit 1a2b3c4, issue #4711, 88% coverage",
    "It takes about 15 seconds",
    "It took the last 2 requests",
    "See src/*.ts and https://harbor.example/moon.html",
    "```ts\nimport moon from 'src/moon-phase.ts'\n```",
    "Read the full transcript at /home/me/session-0001.jsonl",
    "Entry 12345678-90ab-4cde-8f01-23456789abcd",
  ])("a text without invented literals contains no false statement: %j", (summary) =>
    expect(falseIn(session, summary)).toEqual([]),
  );
});

describe("quotes of the user", () => {
  const session = new SessionBuilder().user("Paint the old wooden boat of the harbor in blue.");
  const quoted = (text: string): string => `6. All User Messages:\n- "${text}"`;

  it("a quote that the user never wrote is a false statement", () => {
    expect(falseIn(session, quoted("Sell the red crane to the museum."))).toEqual(["invented-quote"]);
  });

  it("the length of a quote and words that refused a tool call are no inventions", () => {
    const refused = new SessionBuilder()
      .user("Paint the old wooden boat of the harbor in blue.")
      .call("Bash", { command: "paint boat" }, "Rejected. The user said:\nwait for the dry season", true);
    expect(falseIn(refused, quoted("wait for the dry season"))).toEqual([]);
    expect(falseIn(refused, '6. All User Messages:\n- (104 lines)\n  "Paint the old boat')).toEqual([]);
    expect(falseIn(refused, "The report has 104 lines.")).toEqual(["invented-figure"]);
  });

  it.each([
    "Paint the old wooden boat of the harbor in blue.",
    "Paint the old wooden boat…",
    "/compact the whole long story",
  ])("a quote of a message, a part of one, or a command is no false statement: %j", (text) =>
    expect(falseIn(session, quoted(text))).toEqual([]),
  );
});
