import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SECTION_NAMES } from "@longhaul/core/summary";
import { badSummary, type Simulator, type SimulatorOptions, startSimulator } from "@longhaul/simulator";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createDemoSession } from "../../packages/simulator/src/demo-session.ts";
import { type CliRun, runCli } from "../support/cli.ts";

const MODEL = "claude-sonnet-5-5";
const UP_TO_TITLES = [...SECTION_NAMES.slice(0, 7), "Work Completed", "Context for Continuing Work"];
/**
 * The fork is unavailable for a session file, because there is no cached prefix that the call could share.
 */
const NO_FORK = { step: "fork", outcome: "unavailable", reason: "no-shared-prefix", cuts: 0 };
let home: string;
let text: string;
let session: string;
let simulator: Simulator;

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "longhaul-fallback-"));
  session = join(home, "session.jsonl");
  text = createDemoSession({ approximateTokens: 60_000 })
    .map((entry) => `${JSON.stringify(entry)}\n`)
    .join("");
});
afterAll(() => rmSync(home, { recursive: true, force: true }));
beforeEach(async () => {
  writeFileSync(session, text);
  simulator = await startSimulator();
});
afterEach(() => simulator.close());

async function restart(options: SimulatorOptions): Promise<void> {
  await simulator.close();
  simulator = await startSimulator(options);
}

const compact = (...args: readonly string[]): Promise<CliRun> =>
  runCli(["compact", session, "--model", MODEL, "--base-url", simulator.url, ...args], {
    home,
    env: { ANTHROPIC_API_KEY: "sk-simulated" },
  });

describe("longhaul compact with a model that fails", () => {
  it.each([
    ["stays overloaded", 529, "model-overloaded", /overloaded/],
    ["breaks off in every answer", { kind: "cut", afterBytes: 2_000 }, "model-cut-off", /cut off/],
    ["has an internal error", 500, "model-other", /provider error/],
  ] as const)(
    "the built-in summarizer writes the summary when the model %s, and the output says so",
    async (_, fault, reason, words) => {
      simulator.fail(fault, { times: 20 });
      const { code, ...shown } = await compact("--in-place");
      // Joins the output to one line, because compact wraps its lines at the terminal's width.
      const stdout = shown.stdout.replace(/\s+/g, " ");
      expect(code).toBe(0);
      expect(stdout).toMatch(words);
      expect(stdout).toMatch(/claude-sonnet-5-5 failed \(.*\)\. The built-in summarizer wrote the/);
      expect(stdout).toMatch(/separate call \(failed, .*\) → built-in summarizer/);
      expect(stdout).not.toContain("no model called");
      expect(readFileSync(session, "utf8").slice(0, text.length)).toBe(text);
      writeFileSync(session, text);
      const { summary, written } = JSON.parse((await compact("--json")).stdout);
      expect(summary).toMatchObject({ source: "built-in", model: null, usage: null, cost: null });
      expect(summary.attempts).toMatchObject([
        NO_FORK,
        { step: "direct", outcome: "failed", reason, model: MODEL },
        { step: "built-in", outcome: "written" },
      ]);
      expect(written).toBeNull();
    },
  );

  it("compact uses the built-in summarizer and reports the cost when the model's answer has no summary", async () => {
    await restart({ behaviors: [badSummary("only-analysis")] });
    const { stdout, code } = await compact("--json");
    expect(code).toBe(0);
    const { summary } = JSON.parse(stdout);
    expect(summary.sections).toEqual(SECTION_NAMES);
    expect(summary.attempts).toMatchObject([
      NO_FORK,
      {
        step: "direct",
        outcome: "failed",
        reason: "no-summary",
        usage: { output_tokens: expect.any(Number) },
      },
      { step: "built-in", outcome: "written" },
    ]);
    expect((await compact()).stdout).toMatch(/claude-sonnet-5-5 wrote no summary\. The built-in summarizer/);
  });

  it("compact --summary shows the whole summary, and still says what wrote the summary and why", async () => {
    simulator.fail(529, { times: 20 });
    const { stdout } = await compact("--summary");
    expect(stdout).toMatch(/The built-in summarizer wrote the\s+summary\s+instead/);
    for (const name of SECTION_NAMES) expect(stdout).toContain(name);
  });
});

describe("longhaul compact with a model that writes the summary", () => {
  it("compact reports in JSON how often it cut the conversation, and shows no fallback chain in the text", async () => {
    await restart({ windowTokens: 34_000 });
    const { stdout, code } = await compact("--json");
    expect(code).toBe(0);
    const { attempts } = JSON.parse(stdout).summary;
    expect(attempts).toMatchObject([NO_FORK, { step: "direct", outcome: "written", model: MODEL }]);
    expect(attempts[1].cuts).toBeGreaterThan(0);
    expect((await compact()).stdout).not.toMatch(/own call|shared prefix/);
  });

  it("the last sections of a model's summary have different titles when newer messages follow the summary", async () => {
    const summary = UP_TO_TITLES.map((title, index) => `## ${index + 1}. ${title}\nsomething`).join("\n\n");
    simulator.reply(`<summary>\n${summary}\n</summary>`, `<summary>\n${summary}\n</summary>`);
    await expectUpToTitles("model", []);
    expect(JSON.stringify(simulator.requests.last?.body)).toContain("Work Completed");
    expect(simulator.requests.invalid).toEqual([]);
  });

  it("the last sections of a built-in summary have different titles when newer messages follow the summary", async () => {
    await expectUpToTitles("built-in", ["--model", "built-in"]);
  });

  it("compact --from keeps the earlier messages, and its request to the model is valid", async () => {
    const prompts = JSON.parse((await runCli(["inspect", session, "--prompts", "--json"], { home })).stdout);
    const { summary, kept } = JSON.parse((await compact("--from", prompts.at(2).uuid, "--json")).stdout);
    expect(summary).toMatchObject({ source: "model", titles: SECTION_NAMES });
    expect(kept.tokens).toBeGreaterThan(1_000);
    expect(simulator.requests.invalid).toEqual([]);
  });
});

async function expectUpToTitles(source: string, args: readonly string[]): Promise<void> {
  const prompts = JSON.parse((await runCli(["inspect", session, "--prompts", "--json"], { home })).stdout);
  const upTo = ["--up-to", prompts.at(-2).uuid, ...args];
  const { summary } = JSON.parse((await compact(...upTo, "--json")).stdout);
  expect(summary).toMatchObject({ source, sections: SECTION_NAMES, titles: UP_TO_TITLES });
  const { stdout } = await compact(...upTo, "--summary");
  expect(stdout).toContain("8. Work Completed");
  expect(stdout).toContain("9. Context for Continuing Work");
  expect(stdout).not.toContain("Optional Next Step");
}
