import { describe, expect, it } from "vitest";
import { FileLedger } from "./file-ledger.ts";
import { isScratch } from "./touched-code.ts";

describe("FileLedger", () => {
  const change = { edits: [{ was: "a", now: "b" }], defines: [], reason: "why" } as const;

  it("records the first write of a file as its creation, and later changes as edits", () => {
    const ledger = new FileLedger();
    ledger.change(1, "/p/a.ts", { ...change, kind: "write" });
    ledger.change(2, "/p/a.ts", { ...change, kind: "edit" });
    ledger.read(3, "/p/a.ts");
    expect(ledger.records()).toMatchObject([
      { created: true, edits: 1, reads: 1, lastAt: 2, reasons: ["why"] },
    ]);
  });

  it("records a write to a file that was read before as an edit", () => {
    const ledger = new FileLedger();
    ledger.read(1, "/p/a.ts");
    ledger.change(2, "/p/a.ts", { ...change, kind: "write" });
    expect(ledger.records()).toMatchObject([{ created: false, edits: 1 }]);
  });

  it("records files that shell commands write or delete", () => {
    const ledger = new FileLedger();
    ledger.change(1, "/p/src/a.ts", { ...change, kind: "edit" });
    ledger.shellCommand(2, "cat > notes/plan.md <<'EOF'\nx\nEOF", undefined);
    ledger.shellCommand(3, "rm src/a.ts && echo hi > /tmp/x.txt; ls > /dev/null");
    expect(ledger.records().map(({ path, removed }) => [path, removed])).toEqual([
      ["/p/src/a.ts", true],
      ["notes/plan.md", false],
    ]);
  });

  it("marks a file as removed only when the command names whole segments of its path", () => {
    const removedBy = (command: string, path: string): boolean | undefined => {
      const ledger = new FileLedger();
      ledger.change(1, path, { ...change, kind: "edit" });
      ledger.shellCommand(2, command, undefined);
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

  it("treats files in temporary folders as scratch files, but not files in a folder named dev", () => {
    expect(["/tmp/x.py", "C:\\Temp\\x.py", "/dev/stdout", "a/scratchpad/x.md"].map(isScratch)).not.toContain(
      false,
    );
    expect(["/home/ann/dev/app/x.py", "src/template/x.py"].map(isScratch)).not.toContain(true);
  });
});
