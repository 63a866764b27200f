import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { shellCommands } from "../runners/shell-commands.ts";
import { readShellLine } from "./shell-line.ts";

const wordsOf = (line: string) => readShellLine(line).commands.map(({ words }) => words.join(" "));
const foldersOf = (line: string) => readShellLine(line, "/p").commands.map(({ folder }) => folder);

describe("commands of a shell line", () => {
  it.each([
    ["rm a.ts 2>/dev/null", ["rm a.ts"]],
    ["npm test 2>&1 a.test.ts", ["npm test a.test.ts"]],
    ["cat <<< text\nls", ["cat", "ls"]],
    ["cat <<'A' <<B\nrm x\nA\nrm y\nB\nls", ["cat", "ls"]],
    ["cat <<A && ls\nrm x", ["cat", "ls"]],
    [`X="a b" Y=1 a`, ["a"]],
    ['"X=1" a', ["X=1 a"]],
    ["X=$(a) && b", ["X=$(a)", "b"]],
    ["if a; then b; fi", ["a", "b", "fi"]],
    ["{ a; b; } && (c)", ["a", "b", "c"]],
    ['a "x $(b "c d") y" e', ['a x $(b "c d") y e']],
    ["a `b c`", ["a `b c`"]],
    ["a b\\\n c # d\ne", ["a b c", "e"]],
    ['a "b\\"c\\d"', ['a b"c\\d']],
    ["a '", ["a "]],
    ['a "b\\\nc"', ["a bc"]],
  ])("are words without redirections, heredocs, comments and settings: %j", (line, commands) => {
    expect(wordsOf(line)).toEqual(commands);
  });

  it.each([
    ["(cd a && x); y", ["/p/a", "/p/a", "/p"]],
    ["{ cd a; x; }; y", ["/p/a", "/p/a", "/p/a"]],
    ["{ cd a; x; } | y", ["/p/a", "/p/a", "/p"]],
    ["cd a | x; y", ["/p", "/p", "/p"]],
    ["x | cd a; y", ["/p", "/p", "/p"]],
    ["cd a & y", ["/p", "/p"]],
    ["pushd a; popd; y", ["/p/a", "/p", "/p"]],
    ["cd $A/b && y", ["/p/$A/b", "/p/$A/b"]],
    ["cd $A && cd .. && y", ["/p/$A", "/p/$A/..", "/p/$A/.."]],
    ["cd ~/a && y", ["~/a", "~/a"]],
    ["cd && y", ["~", "~"]],
    ["cd - && y", ["/p/$OLDPWD", "/p/$OLDPWD"]],
    ["cd / && cd .. && y", ["/", "/", "/"]],
  ])("run in the folder that the commands before them leave: %j", (line, folders) => {
    expect(foldersOf(line)).toEqual(folders);
  });

  it("leave the folder of the shell alone when they run in a subshell", () => {
    expect(readShellLine("cd a; (cd b; x", "/p").folder).toBe("/p/a");
    expect(readShellLine("cd a; (cd b; x)", "/p").folder).toBe("/p/a");
  });

  it("stay in one list when an operator ends the line between them", () => {
    expect(readShellLine("a &&\n\n# note\nb ||\nc").commands.map(({ list }) => list)).toEqual([0, 0, 0]);
    expect(readShellLine("a && b\nc").commands.map(({ list }) => list)).toEqual([0, 0, 1]);
    expect(readShellLine("a && X=1\nc").commands.map(({ list }) => list)).toEqual([0, 1]);
  });

  it("are not proven by an exit code that a later setting replaces", () => {
    expect(shellCommands("npm test; X=1").map(({ isProvenByZero }) => isProvenByZero)).toEqual([false]);
    expect(shellCommands("X=1; npm test").map(({ isProvenByZero }) => isProvenByZero)).toEqual([true]);
  });

  it("are the same whatever folder the line starts in", () => {
    const piece = fc.constantFrom(
      ...["a", "cd x", "cd ..", "X=1", "'", '"', "$(", ")", "(", "{ ", " }", "|", "&&", "||", ";", "&"],
      ...["<<E", "<<<", "E\n", "\n", "\\", "> f", "2>&1", " ", "#", "`", "if "],
    );
    const text = fc.oneof(
      fc.string(),
      fc.array(piece, { maxLength: 60 }).map((all) => all.join("")),
    );
    fc.assert(
      fc.property(text, fc.constantFrom("/p", "D:\\p", "p/$q"), (line, cwd) => {
        const [here, there] = [readShellLine(line), readShellLine(line, cwd)];
        const withoutFolder = ({ commands }: typeof here) =>
          commands.map((command) => ({ ...command, folder: undefined }));
        expect(withoutFolder(there)).toEqual(withoutFolder(here));
        for (const { words, list } of here.commands) {
          expect(words.length).toBeGreaterThan(0);
          expect(list).toBeLessThanOrEqual(here.lastList);
        }
      }),
    );
  });

  it("are read to a limit in a line of hostile length", () => {
    for (const part of ["(", "$(", '"$(', "cd a;", "a|", "(a)|", "<<E\n", "`", "{ ", "\\"])
      expect(readShellLine(part.repeat(200_000), "/p").commands.length).toBeLessThanOrEqual(60);
  });
});
