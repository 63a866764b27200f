import { describe, expect, it } from "vitest";
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

  it.each([
    "✓ throws an error for a missing value",
    "✔ throws an error for a missing value (2 ms)",
    "  --- PASS: TestErrorIsReported (0.00s)",
    "test errors::rejects_invalid ... ok",
    "test_shop.py::test_raises_error PASSED  [ 50%]",
    "2/2 Test #2: error_message ....................   Passed    0.00 sec",
    "ok 2 - dies with an error: unexpected value",
    "PASS src/error.test.js",
    "0 errors, 0 failures",
  ])("never quotes the passed test in %j", (passed) => {
    expect(failureText(`Exit code 1\n${passed}\nFAIL wrong total`)?.text).toBe("FAIL wrong total");
    expect(failureText(`Exit code 1\n${passed}\nplain words`)?.telling).toBe(false);
  });

  it("quotes the description of failures rather than the list of all tests before it", () => {
    const output =
      "Exit code 1\nsum\n  raises an error for nil\n\nFailures:\n\n  1) sum adds\n     Failure/Error: expected 3";
    expect(failureText(output)?.text).not.toContain("raises an error");
    expect(failureText(output)?.text).toContain("Failure/Error: expected 3");
  });
});
