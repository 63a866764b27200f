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

const FILES = "Files and Functions";
const edit = (file_path: string, new_string = "b"): object => ({ file_path, old_string: "a", new_string });
const reads = (path: string): Tell => {
  return (session) => session.tool(path, "Read", { file_path: path }, "text");
};
const edits = (path: string, code?: string): Tell => {
  return (session) => session.tool(path, "Edit", edit(path, code), "ok");
};

describe("the Files and Functions section of built-in notes", () => {
  it("lists each file once, with the number of edits, the reason, and the names of edited functions", () => {
    const notes = noted((session) => {
      session.tool("r", "Read", { file_path: "/project/src/fetch.ts" }, "text");
      session.assistant("I put the retry into a function of its own:");
      session.tool("e", "Edit", edit("/project/src/fetch.ts", "function retryWithDelay() {}"), "ok");
      session.tool("w", "Write", { file_path: "/project/new.ts", content: "x" }, "ok");
    });
    expect(linesOf(notes, FILES)).toEqual([
      "- `src/fetch.ts` — edited 1×, read",
      "  Why: I put the retry into a function of its own",
      "  Names: `retryWithDelay`",
      "- `new.ts` — created",
      "  Why: I put the retry into a function of its own",
    ]);
  });

  it("adds new reads and edits to the existing item of a file and moves that item to the end", () => {
    const notes = noted(
      edits("/project/a.ts", "function firstName() {}"),
      reads("/project/b.ts"),
      reads("/project/a.ts"),
      edits("/project/a.ts", "function secondName() {}"),
    );
    expect(linesOf(notes, FILES)).toEqual([
      "- `b.ts` — read",
      "- `a.ts` — edited 2×, read",
      "  Names: `secondName`, `firstName`",
    ]);
  });

  it("counts a write as an edit when the notes already contain the file", () => {
    const write: Tell = (session) => {
      session.tool("w", "Write", { file_path: "/project/a.ts", content: "x" }, "ok");
    };
    expect(bodyOf(noted(reads("/project/a.ts"), write), FILES)).toBe("- `a.ts` — edited 1×, read");
    expect(bodyOf(noted(write, write), FILES)).toBe("- `a.ts` — created, edited 1×");
  });

  it("built-in notes use one name for a file, even after the agent changed its working directory", () => {
    const elsewhere: Tell = (session) => {
      session.assistant([{ type: "tool_use", id: "e", name: "Edit", input: edit("/project/src/a.ts") }], {
        cwd: "/project/src",
      });
      session.user([{ type: "tool_result", tool_use_id: "e", content: "ok" }], { cwd: "/project/src" });
    };
    const notes = noted(edits("/project/src/a.ts"), elsewhere);
    expect(bodyOf(notes, FILES)).toBe("- `src/a.ts` — edited 2×");
    expect(bodyOf(notes, "Codebase and System Documentation")).toContain(
      "- Working directory: `/project`; last in `/project/src`",
    );
  });

  it("keeps text that a person or a model wrote about a file, and adds the new reads and edits to it", () => {
    const theirs =
      "- `project/src/a.ts`: the entry point, do not touch its exports\n  It is read by the build too.";
    const before = withBody(
      emptyNotes(notesTemplate),
      FILES,
      `Only these matter:\n${theirs}\n- \`z.ts\` is old`,
    );
    const notes = notedOn(before, NOTES_LIMITS, edits("/project/src/a.ts"));
    expect(linesOf(notes, FILES)).toEqual([
      "Only these matter:",
      "- `z.ts`",
      "  is old",
      "- `project/src/a.ts` — edited 1×",
      "  the entry point, do not touch its exports",
      "  It is read by the build too.",
    ]);
  });

  it("when not all files fit into the notes, first drops files that were only read, and drops changed files last", () => {
    const limits = { sectionTokens: 80, totalTokens: 800 };
    const many: Tell = (session) => {
      session.tool("e", "Edit", edit("/project/changed.ts"), "ok");
      for (let at = 0; at < 14; at++)
        session.tool(`r${at}`, "Read", { file_path: `/project/read${at}.ts` }, "x");
    };
    const body = bodyOf(notedOn(emptyNotes(notesTemplate), limits, many), FILES);
    expect(body).toContain("`changed.ts`");
    expect(body).toContain("`read13.ts`");
    expect(body).not.toContain("`read0.ts`");
    expect(body).toMatch(/^\(\d+ older items left out: see the transcript\)\n/);
  });
});
