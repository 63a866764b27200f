import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readShellFiles } from "./shell-files.ts";

const usesOf = (command: string, cwd?: string): readonly string[] =>
  readShellFiles(command, cwd).uses.map((use) =>
    use.kind === "move" ? `move ${use.from} ${use.path}` : `${use.kind} ${use.path}`,
  );

describe("files in shell commands", () => {
  it.each([
    ["cd sub && cat > a.ts", "/p", ["write /p/sub/a.ts"]],
    ["cd sub\ncd ../other; echo hi >> n.txt", "/p", ["write /p/other/n.txt"]],
    ["cd sub && echo hi > a.md", undefined, ["write sub/a.md"]],
    ["cd /q/lib && rm a.ts && cd - && rm b.ts", "/p", ["remove /q/lib/a.ts", "remove /p/b.ts"]],
    ["cd \"my folder\" && rm 'a b.ts'", "/p", ["remove /p/my folder/a b.ts"]],
    ["(cd sub && rm a.ts); rm b.ts", "/p", ["remove /p/sub/a.ts", "remove /p/b.ts"]],
    ["cd web && sed -i 's/a b/c/' static/x.md", "D:\\shop", ["edit D:/shop/web/static/x.md"]],
    ["cd /d/shop/web && rm a.ts", "D:\\shop", ["remove D:/shop/web/a.ts"]],
    ["cat notes | tee out.md", "/p", ["write /p/out.md"]],
  ])("resolves paths against the folder of the shell: %s", (command, cwd, uses) => {
    expect(usesOf(command, cwd)).toEqual(uses);
  });

  it.each([
    ["mv a.ts b.ts", ["move /p/a.ts /p/b.ts"]],
    ["git mv -k src/a.ts src/b.ts", ["move /p/src/a.ts /p/src/b.ts"]],
    ["mv a.ts b.ts lib", ["move /p/a.ts /p/lib/a.ts", "move /p/b.ts /p/lib/b.ts"]],
    ["mkdir -p lib && mv a.ts lib", ["move /p/a.ts /p/lib/a.ts"]],
    ["mv lib/a.ts .", ["move /p/lib/a.ts /p/a.ts"]],
    ["mv *.ts lib/", []],
  ])("reads moves: %s", (command, uses) => expect(usesOf(command, "/p")).toEqual(uses));

  it.each([
    ["a here-document", "cat > a.md <<'EOF'\nrm b.ts\nmv c.ts d.ts\nEOF", ["write /p/a.md"]],
    ["a quotation over several lines", 'echo "x\nrm b.ts" > a.md', ["write /p/a.md"]],
    ["a comment", "ls # rm b.ts", []],
    ["the log of a program", "npm test > log.txt 2>&1", []],
    ["a text that only names a command", 'git commit -m "rm b.ts"', []],
  ])("reads no files from %s", (_what, command, uses) => expect(usesOf(command, "/p")).toEqual(uses));

  it("returns the folder of the shell after the command, or undefined when the command does not show it", () => {
    expect(readShellFiles("cd a && cd b", "/p").cwd).toBe("/p/a/b");
    expect(readShellFiles("cd a | cat", "/p").cwd).toBe("/p");
    expect(readShellFiles('cd "$HOME"', "/p").cwd).toBeUndefined();
    expect(readShellFiles("cd", "/p").cwd).toBeUndefined();
  });

  it("leaves a path as it is written when the folder is unknown", () => {
    expect(usesOf("cd $WORK && rm a.ts", "/p")).toEqual(["remove a.ts"]);
  });
});

describe("paths after arbitrary chains of cd", () => {
  const step = fc.constantFrom("a", "b", "c d", "..", ".", "/q", "/q/r", "a/../b", "./x");
  const join = fc.constantFrom(" && ", "; ", "\n");

  /** Resolves the steps one by one. */
  const folderAfter = (steps: readonly string[]): string =>
    steps.reduce(
      (folder, next) => new URL(`${next}/`, `file://${folder}/`).pathname.replace(/\/$/, ""),
      "/p/w",
    );

  it("keep the prefix of the folder that the chain leads to", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(step, join), { maxLength: 8 }), (steps) => {
        const chain = steps.map(([to, and]) => `cd "${to}"${and}`).join("");
        const folder = decodeURIComponent(folderAfter(steps.map(([to]) => to)));
        expect(usesOf(`${chain}echo hi > n.txt`, "/p/w")).toEqual([`write ${folder}/n.txt`]);
        expect(readShellFiles(`${chain}ls`, "/p/w").cwd).toBe(folder === "" ? "/" : folder);
      }),
    );
  });

  it("are read from any text without an error", () => {
    const part = fc.constantFrom(
      "cd ",
      "mv ",
      "rm ",
      "a.ts ",
      "'",
      '"',
      "\\",
      "(",
      ")",
      "<<EOF\n",
      "EOF\n",
      "|",
      "> ",
      "\n",
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(part, { maxLength: 60 }).map((all) => all.join("")),
        ),
        (text) => {
          for (const { path } of readShellFiles(text, "/p").uses) expect(path).not.toBe("");
        },
      ),
    );
  });
});
