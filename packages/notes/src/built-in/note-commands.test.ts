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

const WORKFLOW = "Workflow";
const CODEBASE = "Codebase and System Documentation";
const runs = (command: string, output = "", description?: string): Tell => {
  return (session) =>
    session.tool(command, "Bash", { command, ...(description ? { description } : {}) }, output);
};

describe("the Workflow section of built-in notes", () => {
  it("the Workflow section lists each command once, with its latest outcome and the number of runs", () => {
    const notes = noted(
      runs("npm test", "Exit code 1\n1 failed", "Run all tests"),
      runs("npm run build", "done"),
      runs("npm test", "Tests  12 passed (12)"),
    );
    expect(linesOf(notes, WORKFLOW)).toEqual([
      "- `npm run build` → ok",
      "- Run all tests: `npm test` → Tests 12 passed (12) (2 runs)",
    ]);
  });

  it("the Workflow section keeps only the test command of a longer command line", () => {
    const notes = noted(
      runs(
        "cd sub && sed -i 's/a && b/c/' x.go && go test ./... 2>/dev/null | tail -5",
        "ok  \texample.com/x\t0.1s",
      ),
    );
    expect(bodyOf(notes, WORKFLOW)).toBe("- `go test ./...` → 1 package ok");
  });

  it("the Workflow section lists no command that only inspects files or was written for one occasion", () => {
    const notes = noted(
      ...[
        "ls -la",
        "git status",
        "grep -rn x src",
        'python -c "print(1)"',
        "gh pr view 12345",
        "cat a > b",
      ].map((command) => runs(command, "text")),
      runs("docker compose up -d", "started", "Start the database"),
    );
    expect(bodyOf(notes, WORKFLOW)).toBe("- Start the database: `docker compose up -d`");
  });

  it("the Workflow section lists only the three newest commands of the same program", () => {
    const notes = noted(...[1, 2, 3, 4, 5].map((at) => runs(`docker run step${at}`)));
    expect(linesOf(notes, WORKFLOW)).toEqual([
      "- `docker run step3`",
      "- `docker run step4`",
      "- `docker run step5`",
    ]);
  });

  it("keeps a person's remark about a command in the Workflow section when a new run shows no outcome", () => {
    const before = withBody(emptyNotes(notesTemplate), WORKFLOW, "- `node serve.js` → listens on port 3000");
    const notes = notedOn(before, NOTES_LIMITS, runs("node serve.js", "started", "Start it"));
    expect(bodyOf(notes, WORKFLOW)).toBe("- Start it: `node serve.js` → listens on port 3000 (2 runs)");
  });

  it("keeps a person's text about a command in the Workflow section and adds the outcome and the number of runs", () => {
    const theirs = "Always from the folder `web`.\n- The fast tests: `npm test`\n- deploy: ask Ann first";
    const before = withBody(emptyNotes(notesTemplate), WORKFLOW, theirs);
    const notes = notedOn(before, NOTES_LIMITS, runs("npm test", "3 passed", "Run tests"));
    expect(linesOf(notes, WORKFLOW)).toEqual([
      "Always from the folder `web`.",
      "- deploy: ask Ann first",
      "- The fast tests: `npm test` → 3 passed (2 runs)",
    ]);
  });
});

describe("the Codebase and System Documentation section of built-in notes", () => {
  it("built-in notes list the session's first folder, current branch, languages and packages", () => {
    const notes = noted(
      (session) => {
        session.user("Begin", { gitBranch: "main" });
        session.tool(
          "e",
          "Edit",
          { file_path: "/project/src/a.ts", old_string: "", new_string: 'import x from "zod";' },
          "ok",
        );
      },
      (session) => {
        session.user("Go on", { gitBranch: "feature" });
        session.tool(
          "e",
          "Edit",
          { file_path: "/project/lib/b/c.py", old_string: "", new_string: "import numpy" },
          "ok",
        );
      },
    );
    expect(linesOf(notes, CODEBASE)).toEqual([
      "- Working directory: `/project`, git branch `feature`",
      "- Languages: Python, TypeScript",
      "- Folders worked in: `lib/b/`, `src/`",
      "- Packages: `numpy`, `zod`",
    ]);
  });

  it("built-in notes ignore temporary files when they describe the codebase", () => {
    const notes = noted((session) => {
      session.tool("w", "Write", { file_path: "/tmp/try/x.py", content: "x" }, "ok");
      session.tool("v", "Write", { file_path: "scratch/y.rb", content: "y" }, "ok");
    });
    expect(bodyOf(notes, CODEBASE)).toBe("- Working directory: `/project`");
  });

  it("built-in notes keep text that a person or a model wrote about the codebase", () => {
    const theirs = "The API is served by two processes.\n\n1. the gateway\n2. the worker";
    const before = withBody(emptyNotes(notesTemplate), CODEBASE, theirs);
    const notes = notedOn(before, NOTES_LIMITS, (session) => session.user("Begin"));
    expect(linesOf(notes, CODEBASE)).toEqual([
      "- Working directory: `/project`",
      "",
      "The API is served by two processes.",
      "1. the gateway",
      "2. the worker",
    ]);
  });
});
