import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../../../../test/transcript/temporary-folder.ts";
import { fingerprintOfCommandFiles } from "./deciding-files.ts";

const cwd = temporaryFolder();

it("the fingerprint changes with every file that decides what code a command runs, and with no other file", async () => {
  mkdirSync(join(cwd, "src"));
  mkdirSync(join(cwd, ".git", "hooks"), { recursive: true });
  const marks = new Set([await fingerprintOfCommandFiles(cwd)]);
  for (const path of [
    "package.json",
    "Makefile",
    "conftest.py",
    ".npmrc",
    ".git/config",
    ".git/hooks/pre-commit",
  ]) {
    writeFileSync(join(cwd, path), "one");
    marks.add(await fingerprintOfCommandFiles(cwd));
    writeFileSync(join(cwd, path), "two");
    marks.add(await fingerprintOfCommandFiles(cwd));
  }
  rmSync(join(cwd, "Makefile"));
  marks.add(await fingerprintOfCommandFiles(cwd));
  expect(marks.size).toBe(14);
  const before = await fingerprintOfCommandFiles(cwd);
  for (const path of ["src/a.ts", "README.md", ".git/index", ".coverage", "AGENTS.md", "src/package.ts"])
    writeFileSync(join(cwd, path), "x");
  writeFileSync(join(cwd, "package.json"), "two");
  expect(await fingerprintOfCommandFiles(cwd)).toBe(before);
});

it("fingerprintOfCommandFiles returns a hash even for a folder that does not exist", async () => {
  expect(await fingerprintOfCommandFiles(join(cwd, "nowhere"))).toMatch(/^[0-9a-f]{64}$/);
});
