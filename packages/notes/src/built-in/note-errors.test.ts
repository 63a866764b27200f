import { describe, expect, it } from "vitest";
import { bodyOf, linesOf, noted, type Tell } from "../../../../test/support/noting.ts";

const ERRORS = "Errors & Corrections";
const FAILED = "Exit code 1\nError: cannot find module 'left-pad'";
const runs = (command: string, output: string): Tell => {
  return (session) => session.tool(`${command}${output}`, "Bash", { command }, output);
};
const edits = (path: string): Tell => {
  return (session) => session.tool(path, "Edit", { file_path: path, old_string: "a", new_string: "b" }, "ok");
};

describe("the Errors & Corrections section of built-in notes", () => {
  it("lists a failed command as open until a later run passes, then names the files edited in the same update", () => {
    const open = noted(runs("npm test", FAILED));
    expect(bodyOf(open, ERRORS)).toBe(
      "- `npm test`: Error: cannot find module 'left-pad' → not seen to pass since",
    );
    const fixed = noted(runs("npm test", FAILED), edits("/project/src/pad.ts"), (session) => {
      edits("/project/package.json")(session);
      runs("npm test", "4 passed")(session);
    });
    expect(bodyOf(fixed, ERRORS)).toBe(
      "- `npm test`: Error: cannot find module 'left-pad' → fixed after editing package.json",
    );
  });

  it("keeps a failure open when a narrower run passes or the next run fails with another error", () => {
    const open = "- `npm test`: Error: cannot find module 'left-pad' → not seen to pass since";
    const narrower = noted(runs("npm test", FAILED), runs("npm test -- pad", "4 passed"));
    expect(bodyOf(narrower, ERRORS)).toBe(open);
    const another = noted(runs("npm test", FAILED), runs("npm test", "Exit code 1\nError: timed out"));
    expect(linesOf(another, ERRORS)).toEqual([
      open,
      "- `npm test`: Error: timed out → not seen to pass since",
    ]);
  });

  it("built-in notes count a repeated failure of a command instead of listing the failure again", () => {
    const notes = noted(runs("npm test", FAILED), runs("npm test", FAILED));
    expect(bodyOf(notes, ERRORS)).toBe(
      "- `npm test` (2×): Error: cannot find module 'left-pad' → not seen to pass since",
    );
  });

  it("leaves out errors about a wrong folder, and unexplained failures that no longer occur", () => {
    const slip = noted(
      runs("cd src && npm test", "Exit code 1\nbash: line 1: cd: src: No such file or directory"),
    );
    expect(bodyOf(slip, ERRORS)).toBe("");
    const gone = noted(runs("npm test", "Exit code 1\nsomething"), runs("npm test", "4 passed"));
    expect(bodyOf(gone, ERRORS)).toBe("");
  });

  it("built-in notes list the user's corrections, but never treat the first message of a session as a correction", () => {
    const notes = noted(
      (session) => {
        session.user("Don't use any library for this");
        session.assistant("I add left-pad.");
      },
      (session) => {
        session.user("[Request interrupted by user]");
        session.user("write it yourself");
        session.assistant("Understood.");
        session.user("no, not in that file");
        session.user(`thanks. ${"A long message may well say never or instead somewhere. ".repeat(8)}`);
      },
    );
    expect(linesOf(notes, ERRORS)).toEqual([
      '- Correction by the user: "write it yourself"',
      '- Correction by the user: "no, not in that file"',
    ]);
  });
});
