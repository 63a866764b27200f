import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { absolutePath, foldersTo, insideOf, isBelow, keyOf, type Place, placeOf } from "./placed-paths.ts";

const place = (folder: string): Place => placeOf(folder) ?? expect.fail(`${folder} is no place`);
const posix = place("/home/u/p");
const windows = place("C:\\Work\\p");

describe("placeOf", () => {
  it.each([undefined, "", "p", "./p", "~/p", "/", "//", "/p/..", "C:\\", "C:/", "C:p", "\\p", "/a\0b"])(
    "rejects the working directory %j, which is not absolute or is a root",
    (folder) => {
      expect(placeOf(folder)).toBeUndefined();
    },
  );

  it.each(["\\\\?\\C:\\p", "\\\\.\\pipe\\x", "\\\\server\\share"])(
    "rejects the working directory %s, which is a device or a whole share",
    (folder) => {
      expect(placeOf(folder)).toBeUndefined();
    },
  );

  it("normalizes different spellings of a working directory", () => {
    for (const folder of ["/home/u/p/", "/home//u/./p", "/home/u/x/../p"])
      expect(placeOf(folder)).toEqual(posix);
    expect(place("C:/Work/p/").root).toBe("C:/Work/p");
    expect(place("\\\\server\\share\\p\\").root).toBe("\\\\server\\share\\p");
  });
});

describe("insideOf", () => {
  it.each([
    ["src/a.ts", "src/a.ts"],
    ["./src//a.ts", "src/a.ts"],
    ["src/../b.ts", "b.ts"],
    ["/home/u/p/src/a.ts", "src/a.ts"],
    ["/home/u/x/../p/a.ts", "a.ts"],
    ["..a/b", "..a/b"],
  ])("accepts %s as a path inside the working directory", (path, relative) => {
    expect(insideOf(posix, path)).toBe(relative);
  });

  it.each([
    ...[
      "../a",
      "src/../../a",
      "/home/u/p/../a",
      "/home/u/pp/a",
      "/home/u",
      "/home/u/p",
      "",
      ".",
      "/etc/passwd",
    ],
    ...["/dev/zero", "C:\\Work\\p\\a", "\\\\server\\share\\a", "a\0b", "x".repeat(5_000)],
  ])("rejects the path %j, which is not inside the working directory", (path) => {
    expect(insideOf(posix, path)).toBeUndefined();
  });

  it.each([undefined, null, 7, {}, ["a"]])("rejects the value %j, which is not a path", (path) => {
    expect(insideOf(posix, path)).toBeUndefined();
  });

  it.each([
    ["src\\a.ts", "src/a.ts"],
    ["src/a.ts", "src/a.ts"],
    ["c:\\work\\P\\src\\a.ts", "src/a.ts"],
    ["C:/Work/p/a.ts", "a.ts"],
    ["con-figs/nullable.ts", "con-figs/nullable.ts"],
  ])("accepts %s on Windows, whatever the case and the separators", (path, relative) => {
    expect(insideOf(windows, path)).toBe(relative);
  });

  it.each([
    ...[
      "..\\a",
      "D:\\Work\\p\\a",
      "C:\\Work\\px\\a",
      "\\Work\\p\\a",
      "/Work/p/a",
      "C:a",
      "\\\\?\\C:\\Work\\p\\a",
    ],
    ...[
      "NUL",
      "src\\con",
      "aux.md",
      "com1\\a",
      "LPT9.txt",
      "con .md",
      "a.md:stream",
      "\\\\.\\C:\\Work\\p\\a",
    ],
  ])("rejects the path %s on Windows", (path) => {
    expect(insideOf(windows, path)).toBeUndefined();
  });

  it("every accepted path is inside the working directory, and its absolute form is accepted as the same path", () => {
    const name = fc.constantFrom("a", "b.md", "..", ".", "", "C:", "nul", "p", "home", "u", "Work", " ", "~");
    const path = fc
      .tuple(
        fc.constantFrom("", "/", "\\", "\\\\", "C:\\", "/home/u/p/", "c:/WORK/P/"),
        fc.array(fc.tuple(name, fc.constantFrom("/", "\\")), { maxLength: 6 }),
      )
      .map(([start, names]) => start + names.flat().join(""));
    fc.assert(
      fc.property(fc.oneof(path, fc.string()), fc.constantFrom(posix, windows), (text, where) => {
        const relative = insideOf(where, text);
        if (relative === undefined) return;
        const names = relative.split("/");
        expect(names.some((part) => part === "" || part === "." || part === "..")).toBe(false);
        const absolute = absolutePath({ place: where, relative });
        expect(absolute.startsWith(where.root + where.separator)).toBe(true);
        expect(insideOf(where, absolute)).toBe(relative);
      }),
      { numRuns: 500 },
    );
  });
});

describe("foldersTo, isBelow and keyOf", () => {
  it("foldersTo lists the folders from the working directory down to the folder of the file", () => {
    expect(foldersTo("a/b/c.ts")).toEqual(["", "a", "a/b"]);
    expect(foldersTo("c.ts")).toEqual([""]);
  });

  it("isBelow and keyOf distinguish folders with a common prefix, and ignore case only on Windows", () => {
    expect(isBelow({ place: posix, relative: "web/a" }, "web")).toBe(true);
    expect(isBelow({ place: posix, relative: "webs/a" }, "web")).toBe(false);
    expect(isBelow({ place: posix, relative: "Web/a" }, "web")).toBe(false);
    expect(isBelow({ place: windows, relative: "Web/a" }, "web")).toBe(true);
    expect(keyOf({ place: windows, relative: "Web/A" })).toBe(keyOf({ place: windows, relative: "web/a" }));
    expect(keyOf({ place: posix, relative: "Web/A" })).not.toBe(keyOf({ place: posix, relative: "web/a" }));
  });
});
