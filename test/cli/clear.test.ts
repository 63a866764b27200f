import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadSession } from "@longhaul/sessions";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { CLI_MAIN, type CliRun, runCli } from "../support/cli.ts";
import { demoProject } from "../support/demo-project.ts";

let home: string;
let text: string;
let session: string;

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "longhaul-clear-"));
  text = demoProject(join(home, "harbour"));
  session = join(home, "session.jsonl");
});
afterAll(() => rmSync(home, { recursive: true, force: true }));
beforeEach(() => writeFileSync(session, text));

const run = (...args: readonly string[]): Promise<CliRun> => runCli(args, { home });
const runJson = async (...args: readonly string[]) => JSON.parse((await run(...args, "--json")).stdout);
const isUntouched = (): boolean => readFileSync(session, "utf8") === text;

describe("longhaul clear", () => {
  it("clear prints the documented JSON shape and writes nothing without --in-place or --out", async () => {
    const report = await runJson("clear", session);
    expect(report).toMatchObject({
      session: { path: session },
      before: { tokens: expect.any(Number) },
      after: { tokens: expect.any(Number) },
      window: { size: 200_000, autoCompact: 167_000 },
      fits: true,
      out: null,
      written: null,
    });
    expect(report.before.tokens - report.after.tokens).toBeGreaterThan(20_000);
    expect(report.cleared[0]).toEqual({
      tool: expect.any(String),
      results: expect.any(Number),
      tokens: expect.any(Number),
    });
    const results = report.cleared.reduce((sum: number, tool: { results: number }) => sum + tool.results, 0);
    expect(report.toolUseIds).toHaveLength(results);
    expect(isUntouched()).toBe(true);
  });

  it("clear shows tokens before and after, and the cleared tokens of each tool, in 80 columns", async () => {
    const { stdout, code, stderr } = await run("clear", session);
    expect([code, stderr]).toEqual([0, ""]);
    for (const words of ["before", "after", "smaller", "Cleared", "Read", "Nothing was written"])
      expect(stdout).toContain(words);
    expect(stdout).not.toContain("\u001b");
    expect(Math.max(...stdout.split("\n").map((line) => [...line].length))).toBeLessThanOrEqual(80);
  });

  it("clear --in-place only appends, and inspect then shows the smaller context", async () => {
    const { after, written } = await runJson("clear", session, "--in-place");
    expect(written.mode).toBe("in-place");
    expect(readFileSync(session, "utf8").slice(0, text.length)).toBe(text);
    const report = await runJson("inspect", session);
    expect(Math.abs(report.context.tokens - after.tokens)).toBeLessThanOrEqual(2);
    expect(report.largest.some(({ isCleared }: { isCleared: boolean }) => isCleared)).toBe(false);
    expect(report.compactions).toMatchObject([
      { trigger: "manual", postTokens: after.tokens, isCurrent: true },
    ]);
    const [before, now] = await Promise.all([writePrompts(text), runJson("inspect", session, "--prompts")]);
    expect(now.map(textOf)).toEqual(before.map(textOf));
  });

  it("clear --out writes a new private session and never overwrites one", async () => {
    const out = join(home, "cleared.jsonl");
    const report = await runJson("clear", session, "--out", out, "--keep", "3");
    expect(report).toMatchObject({ out, written: { mode: "new-session" } });
    expect(statSync(out).mode & 0o777).toBe(0o600);
    expect(isUntouched()).toBe(true);
    expect((await runJson("inspect", out)).context.tokens).toBeLessThan(report.before.tokens);
    const again = await run("clear", session, "--out", out);
    expect([again.code, again.stderr]).toEqual([1, expect.stringMatching(/not written/)]);
  });

  it("clear --keep sets how many results stay, --target sets the tokens to reach, and --dry-run writes nothing", async () => {
    const few = await runJson("clear", session, "--keep", "1");
    const many = await runJson("clear", session, "--keep", "50");
    expect(few.toolUseIds.length - many.toolUseIds.length).toBe(49);
    const target = await runJson("clear", session, "--target", "5,000", "--dry-run", "--in-place");
    expect(target.after.tokens).toBeLessThan((await runJson("clear", session)).after.tokens);
    expect(isUntouched()).toBe(true);
  });

  it("clear says when clearing does not free enough, and advises to compact", async () => {
    const { stdout } = await run("clear", session, "--window", "64000");
    expect(stdout).toMatch(/still over the threshold of [\d,]+\. Compact the session\./);
  });

  it("clear refuses when compaction is disabled", async () => {
    const { code, stderr } = await runCli(["clear", session], { home, env: { DISABLE_COMPACT: "1" } });
    expect([code, stderr]).toEqual([1, expect.stringContaining("DISABLE_COMPACT")]);
  });

  it("clear refuses a read-only session and leaves it unchanged", async () => {
    const path = join(home, "readonly.jsonl");
    writeFileSync(path, text);
    chmodSync(path, 0o400);
    const { code, stderr } = await run("clear", path, "--in-place");
    expect([code, stderr]).toEqual([1, expect.stringMatching(/read-only/)]);
    expect(readFileSync(path, "utf8")).toBe(text);
  });

  it.each([
    [
      "the results are below the target",
      ["--target", "99999999"],
      "clearing-ineffective",
      /tool results \([\d,]+ tokens\) are within the 99,999,999 tokens/,
    ],
    [
      "all results are to be kept",
      ["--keep", "100000"],
      "nothing-to-clear",
      /are among the newest that stay/,
    ],
  ])("clear fails with a reason when %s", async (_, args, errorCode, words) => {
    const { code, stdout, stderr } = await run("clear", session, "--in-place", "--json", ...args);
    expect([code, stderr]).toEqual([1, expect.stringMatching(words)]);
    expect(JSON.parse(stdout).error.code).toBe(errorCode);
    expect(isUntouched()).toBe(true);
  });

  it.each([
    [["--keep", "0"], /always stays/],
    [["--keep", "-1"], /whole number/],
    [["--keep", ""], /whole number/],
    [["--keep", "1e2"], /whole number/],
    [["--keep", "0x10"], /whole number/],
    [["--target", "many"], /whole number/],
    [["--target", "9".repeat(30)], /whole number/],
    [["--keep", "3", "--target", "4"], /cannot be used with/],
    [["--in-place", "--out", "x"], /cannot be used with/],
    [["--out", ""], /must name a file/],
    [["--model", "x"], /unknown option/],
  ])("clear exits with 2 for the wrong arguments %j", async (args, words) => {
    const { code, stderr } = await run("clear", session, ...args);
    expect([code, stderr]).toEqual([2, expect.stringMatching(words)]);
  });

  const textOf = (prompt: { readonly text: string }): string => prompt.text;
  async function writePrompts(lines: string): Promise<readonly { readonly text: string }[]> {
    const path = join(home, "original.jsonl");
    writeFileSync(path, lines);
    return runJson("inspect", path, "--prompts");
  }
});

describe("a sequence of clearings and compactions", () => {
  it("each step in a sequence of clearings and compactions only appends, reads back correctly, and is listed", async () => {
    const bytes: string[] = [text];
    const tokens: number[] = [];
    const step = async (...args: readonly string[]): Promise<void> => {
      const { after } = await runJson(...args, "--in-place");
      const now = readFileSync(session, "utf8");
      expect(now.startsWith(bytes.at(-1) ?? "")).toBe(true);
      bytes.push(now);
      const report = await runJson("inspect", session);
      expect(Math.abs(report.context.tokens / after.tokens - 1)).toBeLessThan(0.02);
      expect(report.compactions).toHaveLength(bytes.length - 1);
      expect(report.compactions.at(-1).isCurrent).toBe(true);
      expect(report.session.damage).toEqual([]);
      tokens.push(report.context.tokens);
    };
    const prompt = async (at: number): Promise<string> =>
      (await runJson("inspect", session, "--prompts")).at(at).uuid.slice(0, 13);
    await step("clear", session);
    await step("compact", session, "--up-to", await prompt(5), "--no-restore", "--force");
    await step("clear", session, "--keep", "8");
    await step("compact", session, "--from", await prompt(-2), "--no-restore", "--force");
    await step("compact", session, "--keep-recent", "2000", "--no-restore", "--force");
    expect(tokens).toEqual([...tokens].sort((a, b) => b - a));
  });
});

describe("clearing in place beside other writers", () => {
  it("of three clearings at the same time, one clears the session and the others fail with a reason", async () => {
    const runs = await Promise.all([1, 2, 3].map(() => run("clear", session, "--in-place", "--json")));
    const codes = runs.map(({ code, stdout }) => (code === 0 ? "done" : JSON.parse(stdout).error.code));
    expect(codes.filter((code) => code === "done").length).toBeGreaterThanOrEqual(1);
    for (const code of codes) expect(["done", "session-changed", "nothing-to-clear"]).toContain(code);
    expect((await runJson("inspect", session)).compactions).toHaveLength(1);
  });

  it("a kill during a clearing leaves the old lines and at most one unfinished line", async () => {
    for (const delayMs of [60, 120, 160, 200, 240, 280, 320, 400]) {
      writeFileSync(session, text);
      const child = spawn(process.execPath, [CLI_MAIN, "clear", session, "--in-place"], {
        env: { PATH: process.env.PATH ?? "", HOME: home },
      });
      const timer = setTimeout(() => child.kill("SIGKILL"), delayMs);
      await once(child, "close");
      clearTimeout(timer);
      expect(readFileSync(session, "utf8").startsWith(text)).toBe(true);
      const { damage } = await loadSession(session);
      expect(damage.filter(({ kind }) => kind !== "torn-last-line")).toEqual([]);
    }
  });
});
