import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../../../../test/transcript/temporary-folder.ts";
import { markOfDecidingFiles } from "./deciding-files.ts";

const cwd = temporaryFolder();

it("the mark changes with each file that decides what commands run, and with no other", async () => {
  mkdirSync(join(cwd, "src"));
  mkdirSync(join(cwd, ".git", "hooks"), { recursive: true });
  const marks = new Set([await markOfDecidingFiles(cwd)]);
  for (const path of [
    "package.json",
    "Makefile",
    "conftest.py",
    ".npmrc",
    ".git/config",
    ".git/hooks/pre-commit",
  ]) {
    writeFileSync(join(cwd, path), "one");
    marks.add(await markOfDecidingFiles(cwd));
    writeFileSync(join(cwd, path), "two");
    marks.add(await markOfDecidingFiles(cwd));
  }
  rmSync(join(cwd, "Makefile"));
  marks.add(await markOfDecidingFiles(cwd));
  expect(marks.size).toBe(14);
  const before = await markOfDecidingFiles(cwd);
  for (const path of ["src/a.ts", "README.md", ".git/index", ".coverage", "AGENTS.md", "src/package.ts"])
    writeFileSync(join(cwd, path), "x");
  writeFileSync(join(cwd, "package.json"), "two");
  expect(await markOfDecidingFiles(cwd)).toBe(before);
});

it("a folder that is not there has a mark of its own", async () => {
  expect(await markOfDecidingFiles(join(cwd, "nowhere"))).toMatch(/^[0-9a-f]{64}$/);
});
