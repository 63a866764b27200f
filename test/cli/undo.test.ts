import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { flatten } from "@longhaul/core/request";
import { loadSession } from "@longhaul/sessions";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type CliRun, runCli, unfolded } from "../support/cli.ts";
import { demoProject } from "../support/demo-project.ts";

let home: string;
let session: string;
let original: string;
let compacted: string;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "longhaul-undo-"));
  session = join(home, "session.jsonl");
  writeFileSync(session, demoProject(join(home, "harbour")));
  original = await shown(session);
  await run("compact", session, "--in-place", "--no-hooks");
  compacted = readFileSync(session, "utf8");
}, 60_000);
afterAll(() => rmSync(home, { recursive: true, force: true }));
beforeEach(() => writeFileSync(session, compacted));

const run = (...args: readonly string[]): Promise<CliRun> => runCli(args, { home });
const runJson = async (...args: readonly string[]) => JSON.parse((await run(...args, "--json")).stdout);
const shown = async (path: string): Promise<string> =>
  JSON.stringify(flatten((await loadSession(path)).conversation));
const isUntouched = (): boolean => readFileSync(session, "utf8") === compacted;

describe("longhaul undo", () => {
  it("undo shows what it would restore, and writes nothing without --in-place or --out", async () => {
    const { stdout, code, stderr } = await run("undo", session);
    expect([code, stderr]).toEqual([0, ""]);
    for (const words of ["Undo", "Undone", "compaction", "manual", "before", "after", "no newer messages"])
      expect(stdout).toContain(words);
    expect(unfolded(stdout)).toContain("Nothing was written");
    expect(Math.max(...stdout.split("\n").map((line) => [...line].length))).toBeLessThanOrEqual(80);
    await run("undo", session, "--in-place", "--dry-run");
    expect(isUntouched()).toBe(true);
  });

  it("undo --in-place restores the conversation, --redo reverts the undo, and no line is removed", async () => {
    const before = await shown(session);
    const undone = await runJson("undo", session, "--in-place");
    expect(undone).toMatchObject({ direction: "undo", step: { kind: "compaction", isUndo: false } });
    expect(undone.after.tokens).toBeGreaterThan(undone.before.tokens);
    expect(await shown(session)).toBe(original);
    const listed = await runJson("undo", session, "--list");
    expect(listed.steps).toMatchObject([{ kind: "compaction", isUndo: true }]);
    const redone = await runJson("undo", session, "--redo", "--in-place");
    expect(redone).toMatchObject({ direction: "redo", step: { isUndo: true }, messages: { carried: 0 } });
    expect(await shown(session)).toBe(before);
    expect(readFileSync(session, "utf8").startsWith(compacted)).toBe(true);
  });

  it("undo --out writes the restored conversation as a new session and leaves the original unchanged", async () => {
    const out = join(home, "before.jsonl");
    const report = await runJson("undo", session, "--out", out);
    expect([report.out, report.written.mode]).toEqual([out, "new-session"]);
    expect(await shown(out)).toBe(original);
    expect(isUntouched()).toBe(true);
  });

  it("undo --list shows the steps that can be undone, and undo accepts the beginning of a step's id", async () => {
    const { stdout } = await run("undo", session, "--list");
    const id = /^[0-9a-f]{8}/m.exec(stdout)?.[0] ?? "";
    expect(stdout).toContain("compaction, manual");
    expect((await runJson("undo", session, "--to", id)).step.uuid).toContain(id);
    const missing = await run("undo", session, "--to", "ffffffff-no");
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining("--list")]);
  });

  it("inspect counts an undo neither as a compaction nor as a call that writes to the prompt cache", async () => {
    const { compactions } = await runJson("inspect", session);
    await run("undo", session, "--in-place");
    const { compactions: after, cost } = await runJson("inspect", session);
    expect(after).toEqual([{ ...compactions[0], isCurrent: false }]);
    expect(cost.cache.isCold).toBe(true);
  });

  it("undo explains that there is nothing to undo or redo", async () => {
    writeFileSync(session, demoProject(join(home, "harbour-2")));
    const nothing = await run("undo", session, "--in-place");
    expect([nothing.code, nothing.stderr]).toEqual([1, expect.stringContaining("Nothing to undo")]);
    const { error } = await runJson("undo", session, "--redo");
    expect([error.code, error.remedy]).toEqual(["nothing-to-redo", expect.any(String)]);
    expect((await run("undo", session, "--list")).stdout).toContain("Nothing to undo");
    expect((await run("undo", session, "--redo", "--to", "x")).code).toBe(2);
  });
});
