import { describe, expect, it } from "vitest";
import { deriveExam, gradeText } from "./exam.ts";
import { SessionBuilder } from "./invented-session.case.ts";

const heldOf = (session: SessionBuilder, summary: string): readonly string[] =>
  gradeText(deriveExam(session.entries), summary).held;

describe("denied statements", () => {
  const boat = new SessionBuilder().user("Paint the old wooden boat of the harbor in blue.");

  it.each([
    "The user did not want to paint the old wooden boat of the harbor in blue.",
    "It is not true that the user said: Paint the old wooden boat of the harbor in blue.",
    "This is false and was never the case: Other things were said. Paint the old wooden boat of the harbor in blue.",
    "The user withdrew this, it no longer applies: Paint the old wooden boat of the harbor in blue.",
  ])("a sentence that denies what the source affirms does not hold a probe: %j", (summary) =>
    expect(heldOf(boat, summary)).toEqual([]),
  );

  it("a denial in another sentence of the line leaves a statement true", () => {
    const summary = "The mast was not touched. Paint the old wooden boat of the harbor in blue.";
    expect(heldOf(boat, summary)).toEqual(["user-words-1"]);
  });

  it("a mark of a quote denies nothing", () => {
    const summary = "[d-1 cancelled] > Paint the old wooden boat of the harbor in blue.";
    expect(heldOf(boat, summary)).toEqual(["user-words-1"]);
  });

  it("a sentence with a denial holds a probe whose source denies too", () => {
    const session = new SessionBuilder().user(
      "The harbor crane does not lift the heavy boats of the fishermen.",
    );
    expect(heldOf(session, "The crane of the harbor doesn't lift heavy boats of fishermen.")).toEqual([
      "user-words-1",
    ]);
  });

  it("a sentence with the opposite of a word of the source does not hold a probe", () => {
    const session = new SessionBuilder().user("Add a blue stripe to the wooden boats of the harbor.");
    expect(
      heldOf(session, "The user asked to introduce a blue stripe to wooden boats of the harbor."),
    ).toContain("user-words-1");
    expect(
      heldOf(session, "The user asked to remove a blue stripe from wooden boats of the harbor."),
    ).toEqual([]);
  });

  it("a paraphrase with another figure does not hold a probe", () => {
    const session = new SessionBuilder().user("The harbor crane lifts at most 45 wooden boats per morning.");
    expect(heldOf(session, "The harbor crane lifts 45 wooden boats each morning at most.")).toContain(
      "user-words-1",
    );
    expect(heldOf(session, "The harbor crane lifts 54 wooden boats each morning at most.")).toEqual([]);
  });
});

describe("decisions with the reason of another decision", () => {
  const session = new SessionBuilder()
    .assistant("We store the boats in a text file because the office has no database.")
    .assistant("We replaced the printed tide calendar because the paper got wet at sea.");

  it("a choice beside the reason of another choice does not hold a decision", () => {
    const lines = [
      "- Boats are stored in a text file because the paper of the calendar got wet at sea.",
      "- The printed tide calendar was replaced because the office has no database.",
    ];
    expect(heldOf(session, lines.join("\n"))).toEqual([]);
  });

  it("a choice whose reason is in the next sentence holds a decision", () => {
    expect(heldOf(session, "Boats are stored in a text file. The office has no database.")).toEqual([
      "decision-1",
    ]);
  });
});

describe("the last verdict of a line", () => {
  const passed = new SessionBuilder().call("Bash", { command: "go test ./..." }, "ok  harbor 0.2s");
  const failed = new SessionBuilder().call("Bash", { command: "go test ./..." }, "FAIL\tharbor 0.2s", true);

  it.each([
    ["The tests failed at first, but they pass now.", true],
    ["The tests passed at first, but they fail now.", false],
    ["All tests pass, but lint fails.", true],
    ["Lint is clean, but the tests fail.", false],
    ["The tests no longer fail.", true],
    ["The tests should pass now.", false],
  ])("the outcome of a check is the last verdict that the line gives to it: %j", (summary, isPassed) => {
    expect(heldOf(passed, summary)).toEqual(isPassed ? ["outcome-1"] : []);
    expect(heldOf(failed, summary)).toEqual(isPassed ? [] : ["outcome-1"]);
  });
});
