import { describe, expect, it } from "vitest";
import { readCommand } from "./command-runs.ts";
import { ErrorLedger } from "./error-ledger.ts";
import { failureText } from "./failure-text.ts";

describe("failureText", () => {
  it.each([
    [
      'Exit code 1\nTraceback (most recent call last):\n  File "a.py", line 2\nValueError: bad value',
      "ValueError: bad value",
    ],
    [
      "Exit code 2\nnpm notice x\nsrc/a.ts(3,4): error TS2304: Cannot find name 'b'.",
      "src/a.ts(3,4): error TS2304: Cannot find name 'b'.",
    ],
    ["Exit code 1\n=== RUN TestA\n--- FAIL: TestA (0.00s)\nok pkg", "--- FAIL: TestA (0.00s)"],
    ["Exit code 1\n╭────╮\n│\nошибка: файл не найден", "ошибка: файл не найден"],
    ["<tool_use_error>No such tool available: X</tool_use_error>", "No such tool available: X"],
  ])("finds the key line of the failure in %j", (output, text) => {
    expect(failureText(output)).toEqual({ text, telling: true });
  });

  it("marks a failure as unexplained when no line of the output explains it", () => {
    expect(failureText("Exit code 1\nplain words")).toEqual({ text: "plain words", telling: false });
    expect(failureText("Exit code 1\n")).toBeUndefined();
  });

  it("finds the line that explains a failure at the end of a huge output", () => {
    const output = `${"compiling module\n".repeat(50_000)}fatal: disk full`;
    expect(failureText(output)?.text).toContain("fatal: disk full");
  });
});

describe("ErrorLedger", () => {
  const run = (ledger: ErrorLedger, at: number, command: string, output: string): void =>
    ledger.command(readCommand(at, command, undefined, output, output.startsWith("Exit code")), output);

  it("marks an error as fixed by the edited files when the same test command passes", () => {
    const ledger = new ErrorLedger();
    run(ledger, 1, "npm test -- a", "Exit code 1\nError: boom");
    ledger.fileEdited("/p/a.ts");
    run(ledger, 3, "npm test", "4 passed");
    expect(ledger.records()).toMatchObject([
      { text: "Error: boom", resolution: { at: 3, how: "passed", editedFiles: ["/p/a.ts"] } },
    ]);
  });

  it("keeps an error open until its command passes", () => {
    const ledger = new ErrorLedger();
    run(ledger, 1, "npm test", "Exit code 1\nError: boom");
    run(ledger, 2, "ls", "a b");
    expect(ledger.records()[0]?.resolution).toBeUndefined();
  });

  it("closes an error when the same command fails with another error", () => {
    const ledger = new ErrorLedger();
    run(ledger, 1, "npm test", "Exit code 1\nError: one");
    run(ledger, 2, "npm test", "Exit code 1\nError: two");
    expect(ledger.records().map((record) => record.resolution?.how)).toEqual(["moved-on", undefined]);
  });

  it("counts a repeated error instead of listing it again", () => {
    const ledger = new ErrorLedger();
    for (const at of [1, 2, 3]) run(ledger, at, "npm test", "Exit code 1\nError: one");
    expect(ledger.records()).toMatchObject([{ occurrences: 3 }]);
  });

  it("records no error for a search without hits or for a wrong use of a tool", () => {
    const ledger = new ErrorLedger();
    run(ledger, 1, "grep -r x .", "Exit code 1\n");
    ledger.tool(
      2,
      { name: "Edit", target: "a.ts", input: {} },
      "<tool_use_error>File has not been read yet.</tool_use_error>",
    );
    expect(ledger.records()).toEqual([]);
  });
});
