import { describe, expect, it } from "vitest";
import { isLaterSuccess, isSeenFixed, readCommand } from "../command-runs.ts";

const CWD = "/project";
/** Reads a run. A text that starts with an exit code is a failure. */
const run = (command: string, output = "", cwd = CWD) =>
  readCommand(1, command, undefined, output, output.startsWith("Exit code"), cwd);

const VITEST_FAILED = [
  "Exit code 1",
  " FAIL  src/a.test.ts > cart > adds",
  "AssertionError: expected 1 to be 2",
  " Test Files  1 failed | 4 passed (5)",
  "      Tests  1 failed | 20 passed (21)",
].join("\n");
const vitestPassed = (files: number): string =>
  ` Test Files  ${files} passed (${files})\n      Tests  ${files} passed (${files})`;

describe("a failed run counts as fixed", () => {
  it.each([
    ["the same command", "npx vitest run", "npx vitest run"],
    ["the whole suite", "npx vitest run src/a.test.ts", "npx vitest run"],
    ["the folder of the failed file", "npx vitest run src/a.test.ts", "npx vitest run src"],
    ["the file of the only failed test", "npx vitest run", "npx vitest run src/a.test.ts"],
    ["the test script, after a direct run", "npx vitest run src/a.test.ts", "npm test"],
    ["the same run with another reporter", "npx vitest run", "npx vitest run --reporter=verbose"],
  ])("when the later run is %s", (_, before, after) => {
    expect(isSeenFixed(run(after, vitestPassed(5)), run(before, VITEST_FAILED))).toBe(true);
  });

  it("when a verbose run shows that each failed test passes, even if another test fails", () => {
    const output = [
      "Exit code 1",
      " ✓ src/a.test.ts > cart > adds 1ms",
      " FAIL  src/b.test.ts > list > sorts",
      " Test Files  1 failed | 1 passed (2)",
    ].join("\n");
    expect(
      isSeenFixed(run("npx vitest run --reporter=verbose", output), run("npx vitest run", VITEST_FAILED)),
    ).toBe(true);
  });

  it("when a wider pattern of packages passes", () => {
    const failed = run(
      "go test ./cart -run TestAdds",
      "Exit code 1\n--- FAIL: TestAdds (0.00s)\nFAIL\nFAIL\tx/cart\t0.1s\nFAIL",
    );
    expect(
      isSeenFixed(run("go test ./... 2>&1 | tail -20", "ok  \tx/cart\t0.1s\nok  \tx/list\t0.2s"), failed),
    ).toBe(true);
  });
});

describe("a failed run stays open", () => {
  it.each([
    ["another file passes", "npx vitest run", "npx vitest run src/b.test.ts", vitestPassed(1)],
    ["a test filter leaves tests out", "npx vitest run", "npx vitest run -t list", vitestPassed(1)],
    ["another runner passes", "npx vitest run", "npx jest", "Test Suites: 5 passed, 5 total"],
    ["another script passes", "npm run test:e2e", "npm run test:unit", vitestPassed(5)],
    ["an option changes the run", "npx vitest run", "npx vitest run --mode=ci", vitestPassed(5)],
    ["another configuration passes", "npx vitest run", "npx vitest run -c unit.config.ts", vitestPassed(5)],
    [
      "the result of the later run is cut off",
      "npx vitest run",
      "npx vitest run | head -3",
      " RUN  v4.1.12 /project",
    ],
    [
      "the later run finds no tests",
      "npx vitest run",
      "npx vitest run",
      "No test files found, exiting with code 1",
    ],
    ["a file is only edited", "npx vitest run", "sed -i s/1/2/ src/a.ts", ""],
    [
      "the later run is in the background",
      "npx vitest run",
      "npx vitest run",
      "Command running in background with ID: b1",
    ],
    [
      "the later run times out",
      "npx vitest run",
      "npx vitest run",
      "Exit code 143\nCommand timed out after 2m 0.0s",
    ],
  ])("when %s", (_, before, after, output) => {
    expect(isSeenFixed(run(after, output), run(before, VITEST_FAILED))).toBe(false);
  });

  it("when the later run is in another directory", () => {
    const failed = run("cd packages/a && npx vitest run", VITEST_FAILED);
    expect(isSeenFixed(run("cd packages/b && npx vitest run", vitestPassed(5)), failed)).toBe(false);
    expect(isSeenFixed(run("npx vitest run", vitestPassed(5), "/project/packages/a"), failed)).toBe(true);
  });

  it("when the later call has no result", () => {
    expect(
      isSeenFixed(
        readCommand(2, "npx vitest run", undefined, undefined, false, CWD),
        run("npx vitest run", VITEST_FAILED),
      ),
    ).toBe(false);
  });

  it("when go tests only the current package after all packages failed", () => {
    const failed = run("go test ./...", "Exit code 1\nFAIL\tx/cart\t0.1s\nFAIL");
    expect(isSeenFixed(run("go test", "ok  \tx\t0.1s"), failed)).toBe(false);
  });
});

describe("isLaterSuccess", () => {
  it("accepts a later commit only if its hooks ran", () => {
    const failed = run('git commit -m "add cart"', "Exit code 1\nhook: lint failed");
    const done = "[main 1a2b3c4] add cart";
    expect(isLaterSuccess(run('git commit -m "add cart"', done), failed)).toBe(true);
    expect(isLaterSuccess(run('git commit --no-verify -m "add cart"', done), failed)).toBe(false);
  });

  it("accepts only the same command when a command is no test, check or build", () => {
    const failed = run("python3 import.py a.csv", "Exit code 1\nValueError: bad row");
    expect(isLaterSuccess(run("python3 import.py a.csv", "done"), failed)).toBe(true);
    expect(isLaterSuccess(run("python3 import.py b.csv", "done"), failed)).toBe(false);
    expect(isLaterSuccess(run("python3 import.py a.csv | tail -1", "done"), failed)).toBe(false);
  });
});
