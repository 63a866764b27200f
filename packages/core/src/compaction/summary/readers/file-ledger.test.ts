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
      { created: true, edits: 1, isRead: true, lastAt: 2, reasons: ["why"] },
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
    ledger.shellCommand(3, "rm src/a.ts && echo hi > /tmp/x.txt; ls > /dev/null", undefined);
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

  it("keeps the folder of a file that a command names relative to its own folder", () => {
    const ledger = new FileLedger();
    const { cwd: after } = ledger.shellCommand(1, "cd web && echo hi > readme.md", "/p");
    ledger.shellCommand(2, "echo hi > notes.md", after);
    expect(ledger.records().map(({ path }) => path)).toEqual(["/p/web/readme.md", "/p/web/notes.md"]);
  });

  it("records a moved file as moved and not as created, also when it is written afterward", () => {
    const ledger = new FileLedger();
    ledger.shellCommand(1, "git mv src/a.ts src/b.ts", "/p");
    ledger.change(2, "/p/src/b.ts", { ...change, kind: "write" });
    expect(ledger.records()).toMatchObject([
      { path: "/p/src/b.ts", movedFrom: "/p/src/a.ts", created: false, edits: 1 },
    ]);
  });

  it("keeps what is known about a file when the file or its folder is moved", () => {
    const ledger = new FileLedger();
    ledger.change(1, "/p/src/cart/a.ts", { ...change, kind: "write" });
    ledger.change(2, "/p/lib/z.ts", { ...change, kind: "edit" });
    ledger.shellCommand(3, "mv src/cart lib", "/p");
    expect(ledger.records().map(({ path, movedFrom, created }) => [path, movedFrom, created])).toEqual([
      ["/p/lib/z.ts", undefined, false],
      ["/p/lib/cart/a.ts", "/p/src/cart/a.ts", true],
    ]);
    ledger.shellCommand(4, "mv lib/cart/a.ts lib/b.ts", "/p");
    expect(ledger.records().at(-1)).toMatchObject({ path: "/p/lib/b.ts", movedFrom: "/p/src/cart/a.ts" });
  });

  it("does not guess which of two files with the same name a command removes", () => {
    const ledger = new FileLedger();
    for (const path of ["/p/a/x.ts", "/p/b/x.ts"]) ledger.change(1, path, { ...change, kind: "edit" });
    ledger.shellCommand(2, "cd $WORK && rm x.ts", undefined);
    expect(ledger.records().map(({ removed }) => removed)).toEqual([false, false]);
    ledger.shellCommand(3, "rm -r b", "/p");
    expect(ledger.records().map(({ removed }) => removed)).toEqual([false, true]);
  });

  it("treats a path with backslashes and the same path with plain slashes as one file", () => {
    const ledger = new FileLedger();
    ledger.shellCommand(1, "sed -i s/a/b/ docs/x.md", "D:\\shop");
    ledger.change(2, "D:\\shop\\docs\\x.md", { ...change, kind: "edit" });
    expect(ledger.records()).toMatchObject([{ edits: 1, byShell: true }]);
  });

  it("does not count what an earlier summary counts, and does not treat such a file as new", () => {
    const ledger = new FileLedger();
    ledger.read(1, "/p/a.ts", true);
    ledger.change(2, "/p/b.ts", { ...change, kind: "edit", isCovered: true });
    for (const path of ["/p/a.ts", "/p/b.ts"]) ledger.change(3, path, { ...change, kind: "write" });
    expect(ledger.records()).toMatchObject([
      { created: false, edits: 1, isRead: false },
      { created: false, edits: 1, isRead: false },
    ]);
  });

  it("treats files in temporary folders as scratch files, but not files in a folder named dev", () => {
    expect(["/tmp/x.py", "C:\\Temp\\x.py", "/dev/stdout", "a/scratchpad/x.md"].map(isScratch)).not.toContain(
      false,
    );
    expect(["/home/ann/dev/app/x.py", "src/template/x.py"].map(isScratch)).not.toContain(true);
  });
});
