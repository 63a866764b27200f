import { describe, expect, it } from "vitest";
import { bodyOf, linesOf, noted, type Tell } from "../../../../test/support/noting.ts";

const bash = (id: string, command: string, output: string): Tell => {
  return (session) => session.tool(id, "Bash", { command }, output);
};

describe("the Worklog section of built-in notes", () => {
  it("the worklog has one line for each request with the outcome of the request, oldest first", () => {
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

  it("the worklog rewrites the line of a request while the work on it continues", () => {
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

  it("the worklog lists a request once if the user repeats it before any answer, and marks unanswered requests", () => {
    const notes = noted((session) => {
      for (const text of ["Add the queue", "Add the queue", "and hurry"]) session.user(text);
    });
    expect(linesOf(notes, "Worklog")).toEqual([
      '- "Add the queue" → no answer before the next message',
      '- "and hurry" → no answer yet',
    ]);
  });

  it("the worklog records file changes that no request precedes", () => {
    const notes = noted((session) => {
      session.tool("e", "Edit", { file_path: "/project/a.ts", old_string: "a", new_string: "b" }, "ok");
    });
    expect(bodyOf(notes, "Worklog")).toBe('- "(work in progress)" → changed a.ts');
  });
});
