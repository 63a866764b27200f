import { describe, expect, it } from "vitest";
import { bodyOf, linesOf, noted, type Tell } from "../../../../test/support/noting.ts";

const bash = (id: string, command: string, output: string): Tell => {
  return (session) => session.tool(id, "Bash", { command }, output);
};

describe("the Key Results section of built-in notes", () => {
  const report = `There are two of them.\n\n| name | size |\n|---|---|\n| a | 1 |\n\n${"Each of them is needed. ".repeat(12)}`;

  it("built-in notes list commits (with the id after an amend), pull requests, and the last test run", () => {
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

  it("quotes the answer to a question verbatim, even if the agent worked on the answer over several updates", () => {
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

  it('quotes an answer without an opening such as "Perfect! Now I have everything."', () => {
    const notes = noted((session) => {
      session.user("Which packages are the largest?");
      session.assistant(`Perfect! Now I have everything.\n\n${report}`);
    });
    expect(bodyOf(notes, "Key Results")).toContain('largest?":\n  There are two of them.');
  });

  it("records no answer as a key result if the agent changed files for the request", () => {
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
