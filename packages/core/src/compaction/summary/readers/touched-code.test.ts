import { describe, expect, it } from "vitest";
import { FileLedger, isScratch } from "./touched-code.ts";

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

  it("are removed only by a command that names them from a folder on", () => {
    const removedBy = (command: string, path: string): boolean | undefined => {
      const ledger = new FileLedger();
      ledger.change(1, path, { ...change, kind: "edit" });
      ledger.shellCommand(2, command);
      return ledger.records()[0]?.removed;
    };
    expect(removedBy("rm a.ts", "/src/data.ts")).toBe(false);
    expect(removedBy("rm rc/a.ts", "/src/a.ts")).toBe(false);
    expect(removedBy("rm /src/a.ts", "/home/src/a.ts")).toBe(false);
    expect(removedBy("rm -f a.ts", "/src/a.ts")).toBe(true);
    expect(removedBy("rm ./src/a.ts", "/p/src/a.ts")).toBe(true);
    expect(removedBy("git rm /p/src/a.ts", "/p/src/a.ts")).toBe(true);
    expect(removedBy("rm a.ts", "C:\\src\\a.ts")).toBe(true);
  });

  it("are made for the moment in folders that do not last, not in a folder that somebody calls dev", () => {
    expect(["/tmp/x.py", "C:\\Temp\\x.py", "/dev/stdout", "a/scratchpad/x.md"].map(isScratch)).not.toContain(
      false,
    );
    expect(["/home/ann/dev/app/x.py", "src/template/x.py"].map(isScratch)).not.toContain(true);
  });
});
