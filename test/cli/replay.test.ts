import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createDemoSession } from "../../packages/simulator/src/demo-session.ts";
import { type CliRun, runCli, unfolded } from "../support/cli.ts";

let home: string;
let session: string;
const run = (...args: readonly string[]): Promise<CliRun> => runCli(["replay", ...args], { home });

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "longhaul-replay-"));
  session = join(home, "session.jsonl");
  const entries = createDemoSession({ approximateTokens: 60_000 });
  writeFileSync(session, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

describe("longhaul replay", () => {
  it("replay shows the policies side by side and compares the costs, in 80 columns", async () => {
    const { stdout, code } = await run(session, "--window", "40000");
    expect(code).toBe(0);
    for (const line of stdout.split("\n")) expect([...line].length).toBeLessThanOrEqual(80);
    for (const policy of ["longhaul", "drop-oldest", "keep-last", "plain-summary", "everything"]) {
      expect(stdout).toMatch(new RegExp(`^ {2}${policy} +\\$`, "m"));
    }
    expect(unfolded(stdout)).toMatch(/longhaul costs [\d.]+ times as much as keeping everything/);
  });

  it("replay --svg writes a chart to a new file, and overwrites an existing file only with --force", async () => {
    const chart = join(home, "chart.svg");
    const args = [session, "--window", "40000", "--policies", "drop-oldest", "--svg", chart];
    expect(await run(...args)).toMatchObject({ code: 0, stdout: expect.stringContaining("chart.svg") });
    expect(readFileSync(chart, "utf8")).toMatch(/^<\?xml[^>]*>\n<svg [\s\S]*<\/svg>\n$/);
    writeFileSync(chart, "mine");
    const refused = await run(...args, "--json");
    expect(refused.code).toBe(1);
    expect(JSON.parse(refused.stdout)).toMatchObject({ error: { code: "chart-not-written" } });
    expect(readFileSync(chart, "utf8")).toBe("mine");
    expect((await run(...args, "--force")).code).toBe(0);
    expect(readFileSync(chart, "utf8")).toContain("<svg");
  });

  it("replay puts no content of the session into the chart", async () => {
    const chart = join(home, "silent.svg");
    await run(session, "--policies", "everything", "--svg", chart);
    const texts = readFileSync(session, "utf8").match(/[A-Za-z]{4,} [a-z]{3,} [a-z]{3,} [a-z]{3,}/g) ?? [];
    expect(texts.length).toBeGreaterThan(100);
    const svg = readFileSync(chart, "utf8");
    expect(texts.filter((text) => svg.includes(text))).toEqual([]);
  });

  it("replay explains why the chart cannot be written", async () => {
    const chart = join(home, "no-such-folder", "chart.svg");
    const { code, stderr } = await run(session, "--policies", "everything", "--svg", chart);
    expect(code).toBe(1);
    expect(stderr).toContain("was not written");
    expect(existsSync(chart)).toBe(false);
  });

  it("replay adds up sessions and uses the given prices and cache lifetime", async () => {
    const { stdout } = await run(
      ...[session, session, "--policies", "everything", "--model", "claude-opus-5"],
      ...["--cache-ttl", "1h", "--json"],
    );
    const { sessions, total, chart } = JSON.parse(stdout);
    expect(chart).toBeNull();
    expect(sessions[0]).toMatchObject({ pricesOf: "claude-opus-5", cacheTtl: "1h" });
    expect(total.calls).toBe(2 * sessions[0].calls);
    expect(total.policies[0].cost.total).toBeCloseTo(2 * sessions[0].policies[0].cost.total);
  });

  it.each([
    [[], "name a session, or use --generated"],
    [["x.jsonl", "--policies", "magic"], "It must be a list of"],
    [["x.jsonl", "--model", "nobody-1"], "prices are not known"],
    [["x.jsonl", "--cache-ttl", "2d"], "Allowed choices are 5m, 1h"],
    [["x.jsonl", "--window", "7"], "It must be at least"],
  ])("replay explains what is wrong with the arguments %j", async (args, words) => {
    const { code, stderr } = await run(...args);
    expect(code).toBe(2);
    expect(stderr).toContain(words);
  });
});
