import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { GAUGE_LOG, levelIn, tourFiles } from "./project.ts";
import { FIX_PROMPT, OVERVIEW_PROMPT, tourScenes } from "./scenes.ts";
import type { Call, ModelView } from "./stand-in.ts";

const scenes = tourScenes({ warning: 15_000, autoCompact: 21_000 });
const sight: ModelView = {
  tokens: 0,
  cleared: 0,
  isQuotedExactly: () => true,
  result: () => "",
  find: (pattern) => pattern.exec(OVERVIEW_PROMPT)?.[1],
};
const callsOf = (prompt: string): readonly Call[] =>
  scenes
    .find((scene) => scene.prompt === prompt)
    ?.steps.flatMap((step) => (typeof step === "function" ? step(sight) : step).calls) ?? [];

async function testRun(files: ReadonlyMap<string, string>): Promise<string> {
  const here = await mkdtemp(join(tmpdir(), "longhaul-tour-test-"));
  for (const [path, text] of files) {
    if (!/^(?:package\.json|src\/scheduler\/.*|test\/slots\..*)$/.test(path)) continue;
    await mkdir(dirname(join(here, path)), { recursive: true });
    await writeFile(join(here, path), text);
  }
  const args = ["--test", "--test-reporter=spec", "test/slots.test.js"];
  // With this variable, Node would treat the child process as a part of this test run.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const output = await promisify(execFile)(process.execPath, args, { cwd: here, env }).then(
    ({ stdout }) => stdout,
    (error: { readonly stdout: string }) => error.stdout,
  );
  await rm(here, { recursive: true, force: true });
  return output;
}

/** Applies the edits of the scene as the Edit tool does: each text to replace must occur exactly once. */
function edited(files: ReadonlyMap<string, string>, edits: readonly Call[]): ReadonlyMap<string, string> {
  const changed = new Map(files);
  for (const { input } of edits) {
    const path = String(input.file_path);
    const parts = (changed.get(path) ?? "").split(String(input.old_string));
    expect(parts, `${path}: ${input.old_string}`).toHaveLength(2);
    changed.set(path, parts.join(String(input.new_string)));
  }
  return changed;
}

describe("project of the tour", () => {
  it("the tour's project fails its new test before the edits of the fix, and passes all tests after these edits", async () => {
    const files = tourFiles(7);
    const edits = callsOf(FIX_PROMPT).filter(({ tool }) => tool === "Edit");
    expect(await testRun(edited(files, edits.slice(0, 1)))).toMatch(/pass 4\b.*fail 1\b/s);
    const fixed = edited(files, edits);
    expect(fixed.get("src/scheduler/rules.js")).toContain("underKeelMetres: 0.65,");
    expect(await testRun(fixed)).toMatch(/pass 5\b.*fail 0\b/s);
  });

  it("the tour's project contains every file that the demo model reads", () => {
    const files = tourFiles(7);
    const read = scenes.flatMap(({ prompt }) => callsOf(prompt)).filter(({ tool }) => tool === "Read");
    expect(read.length).toBeGreaterThan(40);
    expect(read.filter(({ input }) => !files.has(String(input.file_path)))).toEqual([]);
  });

  it("a seed always generates the same tour project, in which only the log contains the requested water level", () => {
    const files = tourFiles(3);
    expect(files).toEqual(tourFiles(3));
    const level = levelIn(files.get(GAUGE_LOG) ?? "");
    expect(level).toMatch(/^\d\.\d{3}$/);
    expect(level).not.toBe(levelIn(tourFiles(4).get(GAUGE_LOG) ?? ""));
    const holders = [...files].filter(([, text]) => text.includes(String(level))).map(([path]) => path);
    expect(holders).toEqual([GAUGE_LOG]);
  });
});
