import { describe, expect, it } from "vitest";
import { ConversationBuilder, toolResult, toolUse } from "../../../../../../test/support/builders.ts";
import { after as afterText, sectionOf, summaryOf } from "./read-summary.case.ts";

const pendingOf = (session: ConversationBuilder): string => sectionOf(summaryOf(session), "Pending Tasks");
const nextStepOf = (session: ConversationBuilder): string =>
  sectionOf(summaryOf(session), "Optional Next Step");

/** Starts a conversation after the summary of another one. */
const after = (session: ConversationBuilder): ConversationBuilder => afterText(summaryOf(session));

/** Starts a session with a request that the assistant has closed with a report. */
function reported(report: string): ConversationBuilder {
  const session = new ConversationBuilder();
  session.user("Build the price list of the shop");
  session.tool("e", "Edit", EDIT, "ok");
  session.assistant(report);
  return session;
}

function shell(session: ConversationBuilder, id: string, command: string, output: string): void {
  session.assistant([toolUse(id, "Bash", { command })]);
  session.user([toolResult(id, output, output.startsWith("Exit code"))]);
}

const EDIT = { file_path: "/shop/src/prices.ts", old_string: "a", new_string: "b" };

describe("work that a report left undone", () => {
  const REPORT =
    "The price list is done.\n\n**Follow-ups queued but not done:**\n- A picture for every product\n\nNext up is the basket page.";

  it("stays open after newer requests, with the request of its report", () => {
    const session = reported(REPORT);
    session.user("Translate the footer into French");
    session.assistant("All texts of the footer are translated. All changes are complete.");
    const pending = pendingOf(session);
    expect(pending).toContain("[named by the assistant as remaining] A picture for every product");
    expect(pending).toContain('(in its report after "Build the price list of the shop")');
    // The next report replaces what comes next.
    expect(pending).not.toContain("basket page");
    expect(nextStepOf(session)).toContain("Section 7 lists what may still be open.");
  });

  it("drops what a report only waits for after a newer text, request or push", () => {
    const report = "The price list is pushed. Waiting for CI to complete.";
    expect(pendingOf(reported(report))).toContain("Waiting for CI to complete");
    const asked = reported(report);
    asked.user("Translate the footer into French");
    expect(pendingOf(asked)).not.toContain("Waiting for CI");
    const next = after(reported(report));
    shell(next, "p", "git push", "   1234567..89abcde  main -> main");
    expect(pendingOf(next)).not.toContain("Waiting for CI");
  });

  it("drops the part of a list that a later request takes up, also after a summary", () => {
    const report =
      "The price list is there.\n\nStill open from the plan: the basket, the invoices, the pictures.";
    const request = "For the invoices you can use the template in my home folder.";
    const session = reported(report);
    session.user(request);
    session.assistant("I'll start.");
    const next = after(reported(report));
    next.user(request);
    for (const pending of [pendingOf(session), pendingOf(next)]) {
      expect(pending).toContain("the basket, the pictures");
      expect(pending).not.toContain("invoices");
    }
  });

  it("has a label that does not say whether the user approved it", () => {
    const pending = pendingOf(reported(REPORT));
    expect(pending).toContain(
      "**Work that the assistant's reports named as remaining (it may be done by now):**",
    );
    expect(pending).not.toContain("not approved");
  });

  it("stays open over the next summary, and expires after two summaries without a mention", () => {
    const next = after(reported(REPORT));
    next.user("Translate the footer into French");
    next.assistant("The footer is translated.");
    expect(pendingOf(next)).toContain("as remaining] A picture for every product (not mentioned");
    const last = after(next);
    last.user("Translate the header into French");
    last.assistant("The header is translated.");
    expect(pendingOf(last)).toContain("Not mentioned for two summaries, may no longer apply: [named by");
  });

  it.each([
    ["Add a picture for every product now", "The product pictures are in place."],
    ["Now fix the rest", "Everything is in place."],
    ["go on", "It looks better now."],
    ["Translate the footer", "I added a picture for every product too."],
    ["Skip the product pictures", "Skipped."],
  ])(
    "is no longer open when the user takes it up or cancels it, or when it is done: %s",
    (request, reply) => {
      for (const session of [reported(REPORT), after(reported(REPORT))]) {
        session.user(request);
        session.assistant(reply);
        expect(pendingOf(session)).not.toContain("picture for every product");
      }
    },
  );

  it.each([
    ["Still open from the list: the logo, the archive.", "the logo, the archive"],
    ["**Remaining feedback for future consideration:**\n- Test coverage", "Test coverage"],
    ["It is published.\n\nWaiting for CI to complete.", "Waiting for CI to complete"],
  ])("is found in a label or a sentence: %s", (report, item) => {
    expect(pendingOf(reported(report))).toContain(`[named by the assistant as remaining] ${item}`);
  });

  it("stops waiting for checks when a later command or text shows their result", () => {
    const session = reported("It is published.\n\nWaiting for CI to complete.");
    session.user("Translate the footer into French");
    shell(session, "c", "gh pr checks 7", "test\tpass");
    session.assistant("The footer is translated.");
    expect(pendingOf(session)).not.toContain("Waiting for CI");
  });

  it("names the part that comes next only until the next report", () => {
    const session = reported("The list is ready.\n\n**Part 2.1 next** — the basket with its totals.");
    expect(pendingOf(session)).toContain("[assistant's plan] Part 2.1 next — the basket with its totals");
    session.user("Translate the footer into French");
    session.assistant("The footer is translated.");
    expect(pendingOf(session)).toContain("No open items were found.");
  });
});

describe("to-dos that a newer list dropped", () => {
  const list = (session: ConversationBuilder, id: string, ...todos: readonly [string, string][]): void =>
    session.tool(id, "TodoWrite", { todos: todos.map(([content, status]) => ({ content, status })) }, "ok");

  const OLD: readonly [string, string][] = [
    ["Remove the second price check", "completed"],
    ["Add tests of the price import", "pending"],
    ["Rename the currency field", "in_progress"],
  ];

  it("stay open in the summary of one conversation and over a chain of summaries", () => {
    const first = new ConversationBuilder();
    first.user("Answer the review of the prices");
    list(first, "l1", ...OLD);
    for (const session of [first, after(first)]) {
      session.user("Answer the second review");
      list(session, "l2", ["Fix the login of the shop", "completed"]);
      session.assistant("The login is fixed. All blocking issues resolved.");
      const pending = pendingOf(session);
      expect(pending).toContain("- [open, dropped from the list] Add tests of the price import");
      // The agent worked on this item when it dropped it, so nobody knows whether it is done.
      expect(pending).not.toContain("currency field");
    }
  });

  it("are not open when the newer list has them in other words, or when they are done", () => {
    const session = new ConversationBuilder();
    session.user("Answer the review of the prices");
    list(session, "l1", ...OLD, ["Describe the import format", "pending"]);
    list(session, "l2", ["Write tests of the price import", "completed"]);
    session.assistant("I documented and described the import format.");
    expect(pendingOf(session)).not.toContain("dropped");
  });
});

describe("failures that are open", () => {
  it("are listed like in the section about errors, also after newer requests", () => {
    const session = new ConversationBuilder();
    session.user("Add a discount");
    shell(session, "t", "npm test", "Exit code 1\nsrc/prices.test.ts:3:1 error: missing name");
    session.assistant("The test fails.");
    session.user("Translate the footer into French");
    session.assistant("The footer is translated.");
    expect(pendingOf(session)).toContain("Failed, not seen to pass since: `npm test`");
    const next = after(session);
    next.user("Translate the header into French");
    next.assistant("The header is translated.");
    expect(pendingOf(next)).toContain("Failed, not seen to pass since: `npm test`");
    shell(session, "t2", "npm test", "Tests  9 passed (9)");
    expect(pendingOf(session)).not.toContain("Failed, not seen");
  });

  it("have a label of their own, and leave out a failure after which a commit passed its hooks", () => {
    const session = new ConversationBuilder();
    session.user("Add a discount");
    shell(session, "c1", "git commit -m 'Add it'", "Exit code 1\n[LINT] 1 issue\nerror: hook failed");
    shell(session, "t", "mix credo --strict", "Exit code 1\nlib/a.ex:3:1 error: 1 issue found");
    session.assistant("The check fails.");
    const [, group = ""] = pendingOf(session).split(
      "**Failed and not seen to pass since (they may no longer matter):**\n",
    );
    expect(group).toContain("- Failed, not seen to pass since: `mix credo --strict`");
    shell(session, "c2", "git commit -m 'Add it'", "[main 1234567] Add it\n 1 file changed");
    session.assistant("It is committed.");
    expect(sectionOf(summaryOf(session), "Errors and Fixes")).toContain("(a later commit with its hooks");
    expect(pendingOf(session)).not.toContain("not seen to pass");
  });

  it("include tests whose failure the user pasted, until a run of them passes", () => {
    const session = new ConversationBuilder();
    session.user("This fails:\n--- FAIL: TestImportOfPrices (0.02s)\n    prices_test.go:7: no prices");
    session.tool("e", "Edit", EDIT, "ok");
    session.assistant("The test should pass now.");
    expect(pendingOf(session)).toContain(
      "- Reported as failing by the user, not seen to pass since: `TestImportOfPrices`",
    );
    shell(
      session,
      "t",
      "go test -v -run TestImportOfPrices ./...",
      "--- PASS: TestImportOfPrices (0.01s)\nok  \tshop\t0.1s",
    );
    expect(pendingOf(session)).not.toContain("TestImportOfPrices");
  });
});

describe("the state of the work at the end of a summary", () => {
  it("speaks of the moment at which the summary was written, because newer messages may follow", () => {
    const session = new ConversationBuilder();
    session.user("Build the price list of the shop");
    session.assistant("I'll start with the table.");
    session.tool("e", "Edit", EDIT, "ok");
    expect(pendingOf(session)).toContain("**Open at this point (newer messages may have");
    expect(nextStepOf(session)).toContain("unless newer messages show that it is done");
    expect(summaryOf(session)).toContain("**The assistant's last words, verbatim:**");
  });

  it("quotes no words of the assistant that are older than the current request", () => {
    const session = reported("The price list is done, and the basket is a different animal.");
    session.user("Translate the footer into French");
    session.tool("r", "Read", { file_path: "/shop/src/footer.ts" }, "1\tx");
    expect(nextStepOf(session)).not.toContain("different animal");
  });

  it("names the user's answer to a question as the newest instruction until the next request", () => {
    const session = new ConversationBuilder();
    session.user("Commit the price list");
    const questions = [{ question: "The hook fails. Skip it?", options: [{ label: "Skip" }] }];
    session.tool("q", "AskUserQuestion", { questions }, '"The hook fails. Skip it?"="no, fix the findings"');
    session.assistant("Let me read the file.");
    session.tool("r", "Read", { file_path: "/shop/src/prices.ts" }, "1\tx");
    const row = 'The user\'s newest instruction, in answer to a question: "no, fix the findings"';
    expect(pendingOf(session)).toContain(row);
    expect(nextStepOf(session)).toContain(row);
    const next = after(session);
    next.tool("e", "Edit", EDIT, "ok");
    expect(pendingOf(next)).toContain(row);
    next.user("Translate the footer into French");
    next.tool("r2", "Read", { file_path: "/shop/src/footer.ts" }, "1\tx");
    expect(summaryOf(next).split("## 7")[1]).not.toContain(row);
  });

  it("says that a command of the user was run, and names the work after it as open", () => {
    const session = new ConversationBuilder();
    session.user("python prices.py");
    shell(session, "p", "python prices.py", "12 prices");
    session.assistant("Two prices are wrong. Let me write a check:");
    session.assistant([
      toolUse("c", "Bash", { command: "python check.py", description: "Check the prices" }),
    ]);
    const expectOpen = (one: ConversationBuilder): void => {
      expect(pendingOf(one)).not.toContain("the user's latest request");
      expect(pendingOf(one)).toContain("In progress: the work after the user's command");
      expect(nextStepOf(one)).toContain('The command that the user sent was run: "python prices.py"');
    };
    expectOpen(session);
    expect(pendingOf(session)).toContain("Tool call without a result: Bash: Check the prices");
    const next = after(session);
    next.tool("r", "Read", { file_path: "/shop/prices.py" }, "1\tx");
    expectOpen(next);
  });

  it("keeps a command of the user open when the command failed", () => {
    const session = new ConversationBuilder();
    session.user("python prices.py");
    shell(session, "p", "python prices.py", "Exit code 1\nValueError: no prices");
    expect(pendingOf(session)).toContain("In progress: the user's latest request");
  });
});

describe("background tasks", () => {
  const started =
    '<system-reminder>\nThe user started your suggested background task task_7 ("Lint the guide") in a separate session.\n</system-reminder>\n\nTranslate the footer into French';
  const ended = (id: string): string =>
    `<task-notification>\n<task-id>${id}</task-id>\n<status>completed</status>\n<summary>Done</summary>\n</task-notification>`;

  it("that the user started are open until they report back, and the assistant need not wait", () => {
    const session = new ConversationBuilder();
    session.user(started);
    session.assistant("The footer is translated.");
    const row = "Background task has not reported back: Lint the guide (id task_7)";
    expect(pendingOf(session)).toContain(row);
    expect(nextStepOf(session)).not.toContain("Wait for the background");
    const next = after(session);
    next.user("Translate the header into French");
    expect(pendingOf(next)).toContain(row);
    next.user(ended("task_7"));
    expect(pendingOf(next)).not.toContain(row);
  });

  it("that said that nothing is committed say so only until the next commit", () => {
    const session = new ConversationBuilder();
    session.user("Build the price list of the shop");
    const result = "The list is implemented and tested. No commit was made, as asked. It shows 12 prices.";
    session.tool("a", "Task", { description: "Price list", prompt: "…" }, result);
    expect(summaryOf(session)).toContain("No commit was made");
    const commit = (one: ConversationBuilder): void =>
      shell(one, "c", "git commit -m 'feat: prices'", "[main 1a2b3c4] feat: prices");
    for (const one of [session, after(session)]) {
      commit(one);
      expect(summaryOf(one)).not.toContain("No commit was made");
      expect(summaryOf(one)).toContain("It shows 12 prices");
    }
  });

  it("are no reason for anything while they still run", () => {
    const session = new ConversationBuilder();
    session.user("Build the price list of the shop");
    session.assistant(
      "The list agent is still working in the repository, so this agent only changes the footer because both use one branch.",
    );
    expect(sectionOf(summaryOf(session), "Problem Solving")).not.toContain("still working");
  });
});
