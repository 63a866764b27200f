import { describe, expect, it } from "vitest";
import { answersProbe, deriveExam, gradeText, type ProbeKind } from "./exam.ts";
import { SessionBuilder } from "./invented-session.case.ts";

const textsOf = (session: SessionBuilder, kind: ProbeKind): string[] =>
  deriveExam(session.entries)
    .probes.filter((probe) => probe.kind === kind)
    .map(({ text }) => text);

const run = (command: string, output: string, isError = false): SessionBuilder =>
  new SessionBuilder().call("Bash", { command }, output, isError);

describe("user words", () => {
  it("probes of user words leave out texts of the agent's program and pasted output", () => {
    const session = new SessionBuilder()
      .user("<command-name>/clear</command-name>")
      .user(
        "<system-reminder>Keep your list of tasks up to date.</system-reminder>Paint the old boat in blue.",
      )
      .user(
        "Why does it stop with this error:\nloading the harbor map\nreading the tide table\nout of memory in the cellar",
      );
    expect(textsOf(session, "user-words")).toEqual(["Paint the old boat in blue."]);
  });

  it("probes of user words are at most about a third of a longer exam", () => {
    const session = new SessionBuilder();
    for (let index = 0; index < 60; index++) {
      session.user(
        `Paint boat number ${index} with color ${index * 7} near the ${"abcdefghij"[index % 10]}harbor.`,
      );
      session.call("Write", { file_path: `/repo/boat-${index}.ts`, content: "" }, "written");
    }
    const { probes } = deriveExam(session.entries);
    const words = probes.filter(({ kind }) => kind === "user-words").length;
    expect(words).toBeGreaterThan(0);
    expect(words / probes.length).toBeLessThan(0.4);
  });

  it("probes of user words join lines that an editor wrapped", () => {
    const session = new SessionBuilder().user(
      "The harbor master wants a list of all boats that left before\nthe storm and did not come back in the evening.",
    );
    expect(textsOf(session, "user-words")).toHaveLength(1);
  });
});

describe("sentences of a session", () => {
  it("marks of code inside a line are a part of its sentence, so a quote of the sentence holds its names", () => {
    const said = "We build the server with `aCrane` ``` and never use another one.";
    const exam = deriveExam(new SessionBuilder().assistant(said).entries);
    expect(exam.probes.map(({ kind }) => kind)).toContain("name");
    expect(gradeText(exam, `> ${said}`).held).toContain("name-1");
  });

  it("a line of words without grammar gives no probe, because a summary with that line states nothing", () => {
    const said = "old `aCrane` FAIL TestA remaining boats FAIL TestB 48.7% masts";
    const { probes } = deriveExam(new SessionBuilder().user(said).assistant(said).entries);
    const kinds = probes.map(({ kind }) => kind);
    for (const kind of ["user-words", "name", "number"] as const) expect(kinds).not.toContain(kind);
  });

  it("no question about a sentence with and without spaces between its words answers its own probe", () => {
    const { probes } = deriveExam(new SessionBuilder().user("Build a server 不要使用").entries);
    expect(probes.map(({ question }) => question)).toContain('What did the user say about "Build, server"?');
    expect(probes.filter((probe) => answersProbe(probe, probe.question))).toEqual([]);
  });
});

describe("constraints", () => {
  it("constraints are standing rules, and no questions or one-time orders", () => {
    const session = new SessionBuilder()
      .user("Never send mails to the customers of the harbor.")
      .user("Can you make sure that the boats are listed?")
      .user("Don't commit the boat table yet.");
    expect(textsOf(session, "constraint")).toEqual(["Never send mails to the customers of the harbor."]);
  });

  it("a sentence that turns a rule around does not hold the constraint", () => {
    const exam = deriveExam(
      new SessionBuilder().user("Never send mails to the customers of the harbor.").entries,
    );
    expect(gradeText(exam, "Mails to customers of the harbor are not sent.").held).toContain("constraint-1");
    expect(gradeText(exam, "Send mails to the customers of the harbor.").held).not.toContain("constraint-1");
  });

  it("a passage that calls a rule cancelled does not hold the constraint", () => {
    const exam = deriveExam(
      new SessionBuilder().user("Never send mails to the customers of the harbor.").entries,
    );
    const text = "- ~~Never send mails to the customers of the harbor~~";
    expect(gradeText(exam, text).held).not.toContain("constraint-1");
  });
});

describe("decisions and errors", () => {
  it("a decision is held only with its choice and its reason", () => {
    const exam = deriveExam(
      new SessionBuilder().assistant("We store the boats in a text file because the office has no database.")
        .entries,
    );
    const held = (text: string): boolean => gradeText(exam, text).held.includes("decision-1");
    expect(held("Boats are stored in a text file, as the office lacks a database.")).toBe(true);
    expect(held("Boats are stored in a text file.")).toBe(false);
    expect(held("The office has no database.")).toBe(false);
  });

  it("a sentence that only considers something is no decision", () => {
    const session = new SessionBuilder()
      .assistant("We could store the boats in a text file because the office has no database.")
      .assistant("Maybe the cause was the missing index on the boat table.");
    expect([...textsOf(session, "decision"), ...textsOf(session, "error")]).toEqual([]);
  });
});

describe("outcomes", () => {
  it("an outcome is the last state of a command", () => {
    const session = run("npx vitest run", " Tests  1 failed | 3 passed (4)", true).call(
      "Bash",
      { command: "cd /repo && npx vitest run 2>&1 | tail -5" },
      " Tests  4 passed (4)",
    );
    expect(textsOf(session, "outcome")).toEqual(["npx vitest run: Tests  4 passed (4)"]);
  });

  it.each([
    ["a failure behind a pipe", "go test ./... | tail -3", "--- FAIL: TestBoat (0.00s)\nFAIL", "failed"],
    ["no failures", "mix test", "84 tests, 0 failures", "passed"],
    [
      "messages of the program under test",
      "bun run test",
      "[10:11] Task 2 failed: 101\n 12 pass\n 0 fail",
      "passed",
    ],
    ["a compiler without output", "npx tsc --noEmit", "", "passed"],
  ])("the outcome of a run is read from %s", (_, command, output, stance) => {
    const [probe] = deriveExam(run(command, output).entries).probes.filter(({ kind }) => kind === "outcome");
    expect(probe?.answer.stances).toContain(stance);
  });

  it.each([
    ["a test runner without output", "npx vitest run", ""],
    ["a program that only mentions tests", "grep -rn test src", "1 failed"],
    ["a run after a change for an experiment", "sed -i s/a/b/ a.go; go test ./...", "FAIL"],
  ])("no outcome is read from %s", (_, command, output) => {
    expect(textsOf(run(command, output), "outcome")).toEqual([]);
  });
});

describe("outcomes of a failed call", () => {
  it("the outcome of a failed call is unknown if its output names no failure", () => {
    expect(textsOf(run("npx vitest run | tee log", "3 passed", true), "outcome")).toEqual([]);
  });
});

describe("words that are scattered over a long section", () => {
  it("words that are scattered over a long section do not hold a probe", () => {
    const exam = deriveExam(new SessionBuilder().user("Paint the rotten mast of the blue boat.").entries);
    const filler = Array.from(
      { length: 60 },
      (_, index) => `- harbor item number${index}x about crane${index}x`,
    ).join("\n");
    const scattered = `- paint\n${filler}\n- rotten\n${filler}\n- mast\n${filler}\n- blue\n${filler}\n- boat`;
    expect(gradeText(exam, scattered).held).not.toContain("user-words-1");
    expect(gradeText(exam, "- paint\n- rotten\n- mast\n- blue\n- boat").held).toContain("user-words-1");
  });
});

describe("open work", () => {
  it("open work is the open part of the last list of a to-do tool", () => {
    const item = (content: string, status: string): Readonly<Record<string, unknown>> => ({
      content,
      status,
    });
    const session = new SessionBuilder()
      .call("TodoWrite", { todos: [item("Paint the old boat blue", "in_progress")] }, "")
      .call(
        "TodoWrite",
        { todos: [item("Paint the old boat blue", "completed"), item("Sell the small red boat", "pending")] },
        "",
      );
    expect(textsOf(session, "remaining")).toEqual(["Sell the small red boat"]);
  });

  it("open work includes an unanswered message as the next step", () => {
    const session = new SessionBuilder()
      .assistant("The blue boat is painted and dry.")
      .user("Sell the small red boat to the museum.");
    expect(textsOf(session, "next-step")).toEqual(["Sell the small red boat to the museum."]);
  });
});

describe("the end of a session", () => {
  it("a session that stops in a call has the call as open work and as the next step", () => {
    const session = new SessionBuilder()
      .user("Count the wooden boats in the northern harbor basin.")
      .call("Bash", { command: "count-boats --north", description: "Count boats of the basin" }, "12");
    const exam = deriveExam(session.entries);
    const held = (text: string): readonly string[] => gradeText(exam, text).held;
    const work = "Count the wooden boats of the northern basin with count-boats.";
    expect(held(`7. Pending Tasks:\n- ${work}`)).toContain("remaining-1");
    expect(held(`9. Optional Next Step:\n${work}`)).toContain("next-step-1");
    expect(held(work)).not.toEqual(expect.arrayContaining(["remaining-1"]));
  });

  it("changes after the last commit are open work", () => {
    const session = new SessionBuilder()
      .user("Paint the boat table.")
      .call("Bash", { command: "git commit -am x" }, "[main 1a2b3c4] x")
      .call("Edit", { file_path: "/repo/boat-table.ts", new_string: "blue" }, "ok")
      .assistant("The boat table is blue.");
    const exam = deriveExam(session.entries);
    expect(gradeText(exam, "7. Pending Tasks:\n- boat-table.ts is not committed").held).toContain(
      "remaining-1",
    );
  });

  it("a session without open work asks whether work is open", () => {
    const session = new SessionBuilder()
      .user("Paint the boat table.")
      .call("Edit", { file_path: "/repo/boat-table.ts", new_string: "blue" }, "ok")
      .assistant("The boat table is blue.");
    const exam = deriveExam(session.entries);
    for (const text of ["None.", "- No open items were found.", "There is no remaining work."])
      expect(gradeText(exam, `7. Pending Tasks:\n${text}`).held, text).toContain("remaining-1");
    expect(gradeText(exam, "7. Pending Tasks:\nPaint the mast.").held).not.toContain("remaining-1");
    expect(gradeText(exam, "None.").held).not.toContain("remaining-1");
  });

  it("a list of open work with the word nothing does not say that no work is open", () => {
    const session = new SessionBuilder()
      .user("Paint the boat table.")
      .call("Edit", { file_path: "/repo/boat-table.ts", new_string: "blue" }, "ok")
      .assistant("The boat table is blue.");
    const { held } = gradeText(
      deriveExam(session.entries),
      "7. Pending Tasks:\n- Commit it, nothing is pushed yet.",
    );
    expect(held).not.toContain("remaining-1");
  });

  it("the kept last answer of the agent shows that no work is open", () => {
    const session = new SessionBuilder()
      .user("Paint the boat table.")
      .call("Edit", { file_path: "/repo/boat-table.ts", new_string: "blue" }, "ok")
      .assistant("The boat table is blue.");
    const exam = deriveExam(session.entries);
    const held = (rest: string): readonly string[] => gradeText(exam, { summary: "", rest }).held;
    expect(held("The boat table is blue.")).toContain("remaining-1");
    expect(held("The mast is blue.")).not.toContain("remaining-1");
  });

  it("the current work needs a place that describes the current state, and not the word currently", () => {
    const session = new SessionBuilder()
      .user("Paint the boat table.")
      .assistant("The boat table gets blue paint.");
    const held = (text: string): readonly string[] => gradeText(deriveExam(session.entries), text).held;
    expect(held("Currently, the boat table gets blue paint.")).not.toContain("current-work-1");
    expect(held("8. Current Work:\nThe boat table gets blue paint.")).toContain("current-work-1");
  });
});

describe("failures that an edit repaired", () => {
  it("a failed check that passes after the next edit is an error with its repair", () => {
    const session = new SessionBuilder()
      .call("Bash", { command: "npx vitest run" }, "FAIL crane.test.ts > lifts the heavy boat twice", true)
      .assistant("The lifting limit of the crane was too small.")
      .call("Edit", { file_path: "/repo/crane.ts", new_string: "limit = 9" }, "ok")
      .call("Bash", { command: "npx vitest run" }, " Tests  4 passed (4)");
    const held = (text: string): readonly string[] => gradeText(deriveExam(session.entries), text).held;
    expect(held("- The crane test failed, as the lifting limit was too small. It was fixed.")).toContain(
      "error-1",
    );
    expect(held("- The crane test was red. Something was fixed.")).not.toContain("error-1");
  });

  it.each([
    "I see the problem! The crane map lost every second wooden boat.",
    "The fundamental issue is that the crane map lost every wooden boat.",
  ])("a cause is announced by %j", (text) => {
    expect(textsOf(new SessionBuilder().assistant(text), "error")).toHaveLength(1);
  });
});

describe("files", () => {
  it("files with equal names differ by their folder", () => {
    const edit = (path: string): [string, Readonly<Record<string, unknown>>, string] => [
      "Edit",
      { file_path: path },
      "ok",
    ];
    const exam = deriveExam(
      new SessionBuilder().call(...edit("/repo/a/index.ts")).call(...edit("/repo/b/index.ts")).entries,
    );
    expect(gradeText(exam, "Changed: a/index.ts").held).toEqual(["file-1"]);
  });

  it("files of failed edits are left out", () => {
    expect(
      textsOf(new SessionBuilder().call("Edit", { file_path: "/repo/a.ts" }, "no match", true), "file"),
    ).toEqual([]);
  });
});
