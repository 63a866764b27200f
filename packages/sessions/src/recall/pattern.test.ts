import { describe, expect, it } from "vitest";
import { GuardedPattern, literalsIn } from "./pattern.ts";

describe("GuardedPattern", () => {
  it("finds the first match of a pattern in each text", () => {
    expect(new GuardedPattern("b+", "").findIn(["abb", "x", "b"])).toEqual([[1, 3], undefined, [0, 1]]);
  });

  it("stops a pattern that backtracks without end, and still searches the next texts", () => {
    const evil = `${"a".repeat(60)}!`;
    const pattern = new GuardedPattern("^(a+)+$", "");
    expect(pattern.findIn(["aaa", evil, "aa"])).toEqual([[0, 3], "too-slow", [0, 2]]);
  });

  it("rejects a pattern that is so long that compiling it could crash the process", () => {
    const deep = `${"(?:a|".repeat(20_000)}b${")".repeat(20_000)}`;
    expect(() => new GuardedPattern(deep, "")).toThrow("longer than 5000 characters");
  });

  it("limits the total time of a pattern for all texts together", () => {
    const evil = `${"a".repeat(60)}!`;
    const found = new GuardedPattern("^(a+)+$", "", 20).findIn([evil, evil, evil, "aa"]);
    expect(found).toEqual(["too-slow", "too-slow", "too-slow", "too-slow"]);
  });

  it("gives up on a pattern after the allowed number of slow texts", () => {
    const evil = `${"a".repeat(60)}!`;
    const pattern = new GuardedPattern("^(a+)+$", "");
    expect(pattern.findIn(["aaa", evil, "aa"], 1)).toEqual([[0, 3], "too-slow", "too-slow"]);
    expect(pattern.findIn(["aa"], 1)).toEqual([[0, 2]]);
  });

  it("finds all matches of a pattern in one text up to a limit, including empty matches", () => {
    const pattern = new GuardedPattern("b+|^", "m");
    expect(pattern.allIn("abb\nb", 10)).toEqual([
      [0, 0],
      [1, 3],
      [4, 5],
    ]);
    expect(pattern.allIn("abb\nb", 2)).toEqual([
      [0, 0],
      [1, 3],
    ]);
    expect(pattern.allIn("", 2)).toEqual([[0, 0]]);
    expect(pattern.findIn(["ab"])).toEqual([[0, 0]]);
    expect(new GuardedPattern("(a+)+$", "").allIn(`${"a".repeat(60)}!`, 10)).toBe("too-slow");
  });

  it("a pattern cannot inject code into the program that runs it", () => {
    const pattern = new GuardedPattern("'\\); globalThis.x = 1; \\('", "");
    expect(pattern.findIn(["x"])).toEqual([undefined]);
  });

  it("rejects an invalid pattern with a pattern-invalid error", () => {
    expect(() => new GuardedPattern("(", "")).toThrow(expect.objectContaining({ code: "pattern-invalid" }));
  });
});

describe("literalsIn", () => {
  it.each([
    ["error TS\\d+: Cannot", ["error TS", ": Cannot"]],
    ["a(b|c)d", ["a", "d"]],
    ["a|b", []],
    ["colou?r", ["colo", "r"]],
    ["x{2,3}yz", ["yz"]],
    ["[abc]foo\\.ts$", ["foo.ts"]],
    ["\\bword\\b", ["word"]],
    ["(?<=pre)fix", ["fix"]],
    ["\\u0041bc", ["bc"]],
    ["foo(", ["foo"]],
    ["a*?b", ["b"]],
    ["(a(\\)b)c)d", ["d"]],
    ["[)]e", ["e"]],
  ])("every match of /%s/ contains %j", (pattern, literals) => {
    expect(literalsIn(pattern)).toEqual(literals);
  });
});
