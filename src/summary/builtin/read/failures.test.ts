import { describe, expect, it } from "vitest";
import { failureText } from "./failures.ts";

describe("what went wrong", () => {
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
  ])("is in the telling lines of %j", (output, text) => {
    expect(failureText(output)).toEqual({ text, telling: true });
  });

  it("is not claimed to be known when no line tells it", () => {
    expect(failureText("Exit code 1\nplain words")).toEqual({ text: "plain words", telling: false });
    expect(failureText("Exit code 1\n")).toBeUndefined();
  });

  it("is found at the end of a huge output", () => {
    const output = `${"compiling module\n".repeat(50_000)}fatal: disk full`;
    expect(failureText(output)?.text).toContain("fatal: disk full");
  });
});
