import { describe, expect, it } from "vitest";
import { readCommand } from "./command-runs.ts";
import { ErrorLedger } from "./error-ledger.ts";

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

  it("names only the edited files that the error names, if it names any", () => {
    const ledger = new ErrorLedger();
    run(ledger, 1, "npm test", "Exit code 1\nsrc/a.test.ts:3:1 error: missing name");
    for (const path of ["/p/src/a.test.ts", "/p/docs/guide.md"]) ledger.fileEdited(path);
    run(ledger, 3, "npm test", "4 passed");
    expect(ledger.records()).toMatchObject([{ resolution: { editedFiles: ["/p/src/a.test.ts"] } }]);
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

  it.each([
    ["git rebase --continue", "attempt"],
    ["git rebase --abort", undefined],
    ["git merge --continue", undefined],
  ])("a rebase that stopped at a conflict has this resolution after '%s': %s", (command, how) => {
    const ledger = new ErrorLedger();
    run(ledger, 1, "git rebase origin/main", "Exit code 1\nerror: could not apply 1a2b3c4");
    run(ledger, 2, command, "ok");
    expect(ledger.records()[0]?.resolution?.how).toBe(how);
  });

  it("says that a later commit skipped the hooks that failed, and then that a commit passed them", () => {
    const ledger = new ErrorLedger();
    run(ledger, 1, "git commit -m 'feat: menu'", "Exit code 1\nError: lint failed in menu.ts");
    run(ledger, 2, "git commit --no-verify -m 'feat: menu'", "[main 1a2b3c4] feat: menu");
    expect(ledger.records()).toMatchObject([{ resolution: { at: 2, how: "bypassed" } }]);
    run(ledger, 3, "git commit -m 'feat: more'", "[main 2b3c4d5] feat: more");
    expect(ledger.records()).toMatchObject([{ resolution: { at: 3, how: "after-bypass" } }]);
  });

  it("names a failure by its short command, because the description does not show what failed", () => {
    const ledger = new ErrorLedger();
    const output = "Exit code 2\nerror: unrecognized subcommand 'bun'";
    ledger.command(readCommand(1, "wrap bun run suite", "Run all tests", output, true), output);
    const script = `python3 -c "${"print(1);".repeat(20)}"`;
    ledger.command(
      readCommand(2, script, "Compare both files", "Exit code 1\nError: boom", true),
      "Error: boom",
    );
    expect(ledger.records().map(({ source }) => source)).toEqual([
      "wrap bun run suite",
      "Compare both files",
    ]);
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

  it("keeps an error open when a narrower test command passes", () => {
    const ledger = new ErrorLedger();
    run(ledger, 1, "npm test", "Exit code 1\nError: boom");
    run(ledger, 2, "npm test -- a", "4 passed");
    expect(ledger.records()[0]?.resolution).toBeUndefined();
  });

  it("opens an error again when it occurs again after another error", () => {
    const ledger = new ErrorLedger();
    for (const [at, error] of ["one", "two", "one"].entries())
      run(ledger, at, "npm test", `Exit code 1\nError: ${error}`);
    expect(ledger.records()).toMatchObject([
      { text: "Error: one", occurrences: 2, resolution: undefined },
      { text: "Error: two", resolution: { how: "moved-on" } },
    ]);
  });

  it("marks an error as fixed when its command passes after it failed with another error", () => {
    const ledger = new ErrorLedger();
    run(ledger, 1, "npm test", "Exit code 1\nError: one");
    run(ledger, 2, "npm test", "Exit code 1\nError: two");
    run(ledger, 3, "npm test", "4 passed");
    expect(ledger.records().map((record) => record.resolution?.how)).toEqual(["passed", "passed"]);
  });

  it("leaves out warnings that the passing run prints too", () => {
    const ledger = new ErrorLedger();
    const warning = "a.ts:1:2 lint: unused variable not found";
    run(ledger, 1, "npx eslint .", `Exit code 1\n${warning}\nb.ts:3:4 error: missing return`);
    run(ledger, 2, "npx eslint .", `${warning}\n✖ 1 problem (0 errors, 1 warning)`);
    expect(ledger.records()).toMatchObject([
      { text: "b.ts:3:4 error: missing return", resolution: { how: "passed" } },
    ]);
  });

  it("treats a failed step before a test as an error of its own, which the test does not fix", () => {
    const ledger = new ErrorLedger();
    run(
      ledger,
      1,
      "sed -i s/a/b/ x.ts && npm test",
      "Exit code 2\nsed: can't read x.ts: No such file or directory",
    );
    run(ledger, 2, "npm test", "4 passed");
    expect(ledger.records()).toMatchObject([{ weight: 1, resolution: undefined }]);
  });

  it("says that a later attempt succeeded only for a tool call with the same input", () => {
    const ledger = new ErrorLedger();
    const call = (input: unknown) => ({ name: "browse", target: "", input });
    ledger.tool(1, call({ url: "a" }), "Error: page not found");
    ledger.tool(2, call({ url: "b" }), undefined);
    expect(ledger.records()[0]?.resolution).toBeUndefined();
    ledger.tool(3, call({ url: "a" }), undefined);
    expect(ledger.records()[0]?.resolution?.how).toBe("attempt");
  });
});
