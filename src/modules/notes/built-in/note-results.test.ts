import { describe, expect, it } from "vitest";
import {
  bodyOf,
  linesOf,
  noted,
  notedOn,
  notesTemplate,
  type Tell,
  withBody,
} from "../../../../test/support/noting.ts";
import { emptyNotes, NOTES_LIMITS } from "../notes-format.ts";

const bash = (id: string, command: string, output: string): Tell => {
  return (session) => session.tool(id, "Bash", { command }, output);
};

describe("the session's title", () => {
  it("is the first request in short, set once", () => {
    const notes = noted(
      (session) => session.user("hi"),
      (session) => session.user("Something else entirely, later on"),
    );
    expect(bodyOf(notes, "Session Title")).toBe("hi");
    const longer = noted((session) => {
      session.user("hello");
      session.user("Migrate the billing service to the new queue. Start with the tests.");
    });
    expect(bodyOf(longer, "Session Title")).toBe("Migrate the billing service to the new queue");
  });

  it("takes in the line after a sentence that only announces it, and is never a heading", () => {
    const plan = noted((session) => session.user("Implement the following plan:\n\n# Worklog\n\nDo it."));
    expect(bodyOf(plan, "Session Title")).toBe("Implement the following plan: Worklog");
    const heading = noted((session) => session.user("# Current State"));
    expect(bodyOf(heading, "Session Title")).toBe("Current State");
  });

  it("stays what a person made it", () => {
    const before = withBody(emptyNotes(notesTemplate), "Session Title", "Billing, second try");
    const notes = notedOn(before, NOTES_LIMITS, (session) => session.user("Migrate the billing service"));
    expect(bodyOf(notes, "Session Title")).toBe("Billing, second try");
  });
});

describe("learnings", () => {
  it("are causes and decisions in the assistant's words, each once; not what tells of the moment", () => {
    const cause = "The root cause is that the cache key leaves out the locale of the user.";
    const notes = noted(
      (session) => session.assistant(`Let me look at the cache. ${cause} The problem is X.`),
      (session) => session.assistant(`As I said: nothing new. ${cause}`),
    );
    expect(bodyOf(notes, "Learnings")).toBe(`- ${cause}`);
  });

  it("are one line each, however the assistant's lines ended", () => {
    const notes = noted((session) =>
      session.assistant("The root cause is that the cache\rkey leaves out the `locale`."),
    );
    expect(bodyOf(notes, "Learnings")).toBe(
      "- The root cause is that the cache key leaves out the `locale`.",
    );
  });
});

describe("key results", () => {
  const report = `There are two of them.\n\n| name | size |\n|---|---|\n| a | 1 |\n\n${"Each of them is needed. ".repeat(12)}`;

  it("are commits by their last id, pull requests, and the last test run", () => {
    const notes = noted(
      bash("t1", "npm test", "3 passed"),
      bash("c1", "git commit -m x", "[main 1234567] feat: add the queue"),
      bash("c2", "git commit --amend", "[main 89abcde] feat: add the queue"),
      bash("p", "git push", "1234567..89abcde  main -> main"),
      bash("pr", "gh pr create", "https://example.com/o/r/pull/7"),
      bash("t2", "npm test", "5 passed"),
    );
    expect(linesOf(notes, "Key Results")).toEqual([
      '- Commit `89abcde` "feat: add the queue"',
      "- Pushed: https://example.com/o/r/pull/7",
      "- Last test run: `npm test` → 5 passed",
    ]);
  });

  it("are answers word for word, also where the work on them spans several updates", () => {
    const notes = noted(
      (session) => {
        session.user("Which packages are the largest?");
        session.tool("r", "Read", { file_path: "/project/package.json" }, "{}");
      },
      (session) => session.assistant(report),
    );
    expect(bodyOf(notes, "Key Results").replace(/^ {2}/gm, "")).toBe(
      `- Answer to "Which packages are the largest?":\n${report.trim()}`,
    );
  });

  it("begin with the answer, not with the assistant's joy about it", () => {
    const notes = noted((session) => {
      session.user("Which packages are the largest?");
      session.assistant(`Perfect! Now I have everything.\n\n${report}`);
    });
    expect(bodyOf(notes, "Key Results")).toContain('largest?":\n  There are two of them.');
  });

  it("are no words about files that were changed: those speak for themselves", () => {
    const notes = noted(
      (session) => {
        session.user("Remove the largest package");
        session.tool(
          "e",
          "Edit",
          { file_path: "/project/package.json", old_string: "a", new_string: "b" },
          "ok",
        );
      },
      (session) => session.assistant(report),
    );
    expect(bodyOf(notes, "Key Results")).toBe("");
  });
});

describe("the worklog", () => {
  it("has one line per request, oldest first, with what came of it", () => {
    const notes = noted(
      (session) => {
        session.user("Add the queue");
        bash("c", "git commit -m x", "[main 1234567] feat: add the queue")(session);
        session.assistant("Great! The queue is in place:\n- one\n- two");
      },
      (session) => session.user("Now the tests"),
    );
    expect(linesOf(notes, "Worklog")).toEqual([
      '- "Add the queue" → The queue is in place [commit 1234567]',
      '- "Now the tests" → no answer yet',
    ]);
  });

  it("rewrites the line of a request whose work goes on", () => {
    const begun: readonly Tell[] = [
      (session) => {
        session.user("Add the queue");
        session.assistant("I begin with the broker.");
      },
      bash("c1", "git commit -m x", "[main 1234567] feat: one"),
    ];
    expect(bodyOf(noted(...begun), "Worklog")).toBe(
      '- "Add the queue" → I begin with the broker. [commit 1234567]',
    );
    const done = noted(...begun, (session) => {
      bash("c2", "git commit -m y", "[main 89abcde] feat: two")(session);
      session.assistant("The queue is in place now.");
    });
    expect(bodyOf(done, "Worklog")).toBe(
      '- "Add the queue" → The queue is in place now. [commits 1234567, 89abcde]',
    );
  });

  it("has a request once that was made again before there was an answer, and says of others that there was none", () => {
    const notes = noted((session) => {
      for (const text of ["Add the queue", "Add the queue", "and hurry"]) session.user(text);
    });
    expect(linesOf(notes, "Worklog")).toEqual([
      '- "Add the queue" → no answer before the next message',
      '- "and hurry" → no answer yet',
    ]);
  });

  it("tells of work that nobody asked for in what is noted", () => {
    const notes = noted((session) => {
      session.tool("e", "Edit", { file_path: "/project/a.ts", old_string: "a", new_string: "b" }, "ok");
    });
    expect(bodyOf(notes, "Worklog")).toBe('- "(work that was under way)" → changed a.ts');
  });
});
