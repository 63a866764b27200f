import { describe, expect, it } from "vitest";
import { readCommand } from "./commands.ts";
import { ErrorLedger } from "./errors.ts";
import { FileLedger, isScratch } from "./files.ts";

describe("errors", () => {
  const run = (ledger: ErrorLedger, at: number, command: string, output: string): void =>
    ledger.command(readCommand(at, command, undefined, output, output.startsWith("Exit code")), output);

  it("are fixed when the same runner passes, by the files edited between", () => {
    const ledger = new ErrorLedger();
    run(ledger, 1, "npm test -- a", "Exit code 1\nError: boom");
    ledger.fileEdited("/p/a.ts");
    run(ledger, 3, "npm test", "4 passed");
    expect(ledger.records()).toMatchObject([
      { text: "Error: boom", resolution: { at: 3, how: "passed", editedFiles: ["/p/a.ts"] } },
    ]);
  });

  it("stay open while nothing passes", () => {
    const ledger = new ErrorLedger();
    run(ledger, 1, "npm test", "Exit code 1\nError: boom");
    run(ledger, 2, "ls", "a b");
    expect(ledger.records()[0]?.resolution).toBeUndefined();
  });

  it("give way to the next one of the same command", () => {
    const ledger = new ErrorLedger();
    run(ledger, 1, "npm test", "Exit code 1\nError: one");
    run(ledger, 2, "npm test", "Exit code 1\nError: two");
    expect(ledger.records().map((record) => record.resolution?.how)).toEqual(["moved-on", undefined]);
  });

  it("that repeat are counted, not listed again", () => {
    const ledger = new ErrorLedger();
    for (const at of [1, 2, 3]) run(ledger, at, "npm test", "Exit code 1\nError: one");
    expect(ledger.records()).toMatchObject([{ occurrences: 3 }]);
  });

  it("are not made of a search without a hit or a slip with a tool", () => {
    const ledger = new ErrorLedger();
    run(ledger, 1, "grep -r x .", "Exit code 1\n");
    ledger.tool(2, "Edit", "a.ts", "<tool_use_error>File has not been read yet.</tool_use_error>", true);
    expect(ledger.records()).toEqual([]);
  });
});

describe("files", () => {
  const change = { edits: [{ was: "a", now: "b" }], defines: [], reason: "why" } as const;

  it("are created once and edited after that", () => {
    const ledger = new FileLedger();
    ledger.change(1, "/p/a.ts", { ...change, kind: "write" });
    ledger.change(2, "/p/a.ts", { ...change, kind: "edit" });
    ledger.read(3, "/p/a.ts");
    expect(ledger.records()).toMatchObject([
      { created: true, edits: 1, reads: 1, lastAt: 2, reasons: ["why"] },
    ]);
  });

  it("that were read before are edited by a write, not created", () => {
    const ledger = new FileLedger();
    ledger.read(1, "/p/a.ts");
    ledger.change(2, "/p/a.ts", { ...change, kind: "write" });
    expect(ledger.records()).toMatchObject([{ created: false, edits: 1 }]);
  });

  it("are also changed by shell commands that name them", () => {
    const ledger = new FileLedger();
    ledger.change(1, "/p/src/a.ts", { ...change, kind: "edit" });
    ledger.shellCommand(2, "cat > notes/plan.md <<'EOF'\nx\nEOF");
    ledger.shellCommand(3, "rm src/a.ts && echo hi > /tmp/x.txt; ls > /dev/null");
    expect(ledger.records().map(({ path, removed }) => [path, removed])).toEqual([
      ["/p/src/a.ts", true],
      ["notes/plan.md", false],
    ]);
  });

  it("are made for the moment in folders that do not last, not in a folder that somebody calls dev", () => {
    expect(["/tmp/x.py", "C:\\Temp\\x.py", "/dev/stdout", "a/scratchpad/x.md"].map(isScratch)).not.toContain(
      false,
    );
    expect(["/home/ann/dev/app/x.py", "src/template/x.py"].map(isScratch)).not.toContain(true);
  });
});
