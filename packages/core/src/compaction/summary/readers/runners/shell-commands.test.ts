import { describe, expect, it } from "vitest";
import { shellCommands } from "./shell-commands.ts";

const proven = (line: string): readonly string[] =>
  shellCommands(line).flatMap(({ words, isProvenByZero }) => (isProvenByZero ? [words.join(" ")] : []));
const filters = (line: string) => shellCommands(line)[0]?.filters;

describe("shellCommands", () => {
  it.each([
    ["a && b", ["a", "b"]],
    ["a; b", ["b"]],
    ["a\nb", ["b"]],
    ["a | tail -3", ["tail -3"]],
    ["a || true", []],
    ["a & wait", ["wait"]],
    ["set -e; a; b", ["set -e", "a", "b"]],
    ["(cd x && a)", ["cd x", "a"]],
    ["(a && b) | tail", ["tail"]],
    ["if a; then b; fi", []],
    ["for i in 1 2; do a; done", []],
    ['echo "a && b"', ["echo a && b"]],
  ])("knows which commands of %j exit code 0 proves", (line, commands) => {
    expect(proven(line)).toEqual(commands);
  });

  it("leaves out the text of heredocs, comments, assignments and redirections", () => {
    const line = "X=1 a 2>&1 # note\ncat > f.txt <<'EOF'\nnpm test\nEOF\nb >/dev/null";
    expect(shellCommands(line).map(({ words }) => words)).toEqual([["a"], ["cat"], ["b"]]);
  });

  it("reads the filters that cut an output", () => {
    expect(filters("a 2>&1 | head -5")).toEqual([{ kind: "head", lines: 5 }]);
    expect(filters("a | tail")).toEqual([{ kind: "tail", lines: 10 }]);
    expect(filters("a | tee log | tail -n 3")).toEqual([{ kind: "tail", lines: 3 }]);
    expect(filters("a | grep -E '^(ok|FAIL)'")).toEqual([
      { kind: "grep", texts: ["ok", "FAIL"], ignoresCase: false },
    ]);
    expect(filters("a | grep -v ok")).toEqual([{ kind: "opaque" }]);
    expect(filters("a > log 2>&1; tail -2 log")).toEqual([{ kind: "tail", lines: 2 }]);
    expect(filters("a > log 2>&1")).toEqual([{ kind: "hidden" }]);
  });

  it("follows changes of the directory from the directory in which the line starts", () => {
    const directory = (line: string) => shellCommands(line, "/p").at(-1)?.directory;
    expect(directory("cd a && x")).toBe("/p/a");
    expect(directory("cd a/b/.. && x")).toBe("/p/a");
    expect(directory("cd /q && x")).toBe("/q");
    expect(directory('cd "D:\\\\work" && x')).toBe("/d/work");
    expect(directory("x")).toBe("/p");
  });
});
