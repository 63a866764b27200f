import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SECTION_NAMES } from "@longhaul/core/summary";
import { type Simulator, startSimulator } from "@longhaul/simulator";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createDemoSession } from "../../packages/simulator/src/demo-session.ts";
import { CLI_MAIN, type CliRun, runCli } from "../support/cli.ts";

const MODEL = "claude-sonnet-5-5";
const KEY = { ANTHROPIC_API_KEY: "sk-simulated" };
const BUILT_IN_OFFER = /Nothing was changed. Without --model, the built-in summarizer writes the summary/;
let home: string;
let session: string;
let simulator: Simulator;

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "longhaul-model-"));
  session = join(home, "session.jsonl");
  const lines = createDemoSession().map((entry) => `${JSON.stringify(entry)}\n`);
  writeFileSync(session, lines.join(""));
});
afterAll(() => rmSync(home, { recursive: true, force: true }));
beforeEach(async () => {
  simulator = await startSimulator();
});
afterEach(() => simulator.close());

const compact = (args: readonly string[], env: Record<string, string> = KEY): Promise<CliRun> =>
  runCli(["compact", session, ...args, "--base-url", simulator.url], { home, env });

describe("longhaul compact --model", () => {
  it("compact --model lets the model write the summary, and prints the model's name, usage and cost", async () => {
    const { stdout, code } = await compact(["--model", MODEL, "--json"]);
    expect(code).toBe(0);
    const { summary, fits } = JSON.parse(stdout);
    expect(summary).toMatchObject({ source: "model", model: MODEL, truncated: false, condensedRounds: 0 });
    expect(summary.sections).toEqual(SECTION_NAMES);
    expect(summary.usage.input_tokens).toBe(simulator.requests.last?.inputTokens);
    expect(summary.cost).toBeCloseTo(simulator.requests.last?.costDollars ?? 0, 6);
    expect(fits).toBe(true);
    expect(simulator.requests.invalid).toEqual([]);
    const text = await compact(["--model", MODEL]);
    expect(text.stdout).toMatch(/by claude-sonnet-5-5: [\d,]+ tokens in, [\d,]+ out, \$\d/);
  });

  it.each(["claude-fable-5-1", "claude-opus-5-5", "claude-opus-4-6", "claude-haiku-4-5"])(
    "compact --model works with %s, whatever thinking and tools the model supports",
    async (model) => {
      const { code, stderr } = await compact(["--model", model]);
      expect([code, stderr]).toEqual([0, ""]);
      expect(simulator.requests.invalid).toEqual([]);
    },
  );

  it("compact condenses the oldest rounds when the conversation exceeds the model's window, and says so", async () => {
    await simulator.close();
    simulator = await startSimulator({ windowTokens: 90_000 });
    const { stdout, code } = await compact(["--model", MODEL]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/The oldest \d+ rounds did not fit\. The model got a condensed version/);
    expect(simulator.requests.all[0]?.error?.message).toMatch(/prompt is too long/);
    expect(simulator.requests.last?.status).toBe(200);
  });

  it("compact retries when the provider is overloaded, even in the middle of an answer", async () => {
    simulator.fail(529);
    simulator.fail({ kind: "overload-in-stream", afterEvents: 4 });
    const { code } = await compact(["--model", MODEL]);
    expect(code).toBe(0);
    expect(simulator.requests.length).toBe(3);
  });

  it.each([
    ["no key", [], {}, "model-authentication", /ANTHROPIC_API_KEY/],
    ["a wrong key", [], { ANTHROPIC_API_KEY: "wrong" }, "model-authentication", /invalid x-api-key/],
    ["an unknown model", ["--model", "claude-none-9"], KEY, "model-unknown-model", /provider:name/],
    ["no network", ["--base-url", "http://127.0.0.1:9"], KEY, "model-unreachable", /network/],
    [
      "a model of another provider and no key",
      ["--model", "gpt-5"],
      {},
      "model-authentication",
      /provider:name/,
    ],
    ["no model name", ["--model", "openai:"], KEY, "option-invalid", /contains no model name/],
    [
      "a missing package",
      ["--model", "mistral:large"],
      KEY,
      "model-sdk-missing",
      /npm install @ai-sdk\/mistral@3/,
    ],
  ])(
    "compact with %s explains its failure, offers the built-in summarizer, and exits with 1",
    async (_, args, env, code, words) => {
      await simulator.close();
      simulator = await startSimulator({ apiKeys: [KEY.ANTHROPIC_API_KEY] });
      const before = readFileSync(session);
      const options = ["compact", session, "--in-place", "--model", MODEL, "--base-url", simulator.url];
      const run = await runCli([...options, ...args, "--json"], { home, env });
      expect(run.code).toBe(1);
      expect(run.stderr).toMatch(words);
      expect(run.stderr).toMatch(BUILT_IN_OFFER);
      expect(run.stderr).not.toMatch(/\bat .*\.js:\d+/);
      expect(JSON.parse(run.stdout).error.code).toBe(code);
      expect(readFileSync(session).equals(before)).toBe(true);
    },
  );

  it("compact sends no request when the provider in --model is unknown", async () => {
    const args = ["compact", session, "--model", "nonsense:gpt-5"];
    const { code, stderr } = await runCli(args, { home, env: KEY });
    expect(code).toBe(1);
    expect(stderr).toMatch(/Unknown provider "nonsense"/);
    const preview = await runCli([...args, "--dry-run"], { home, env: KEY });
    expect([preview.code, preview.stderr]).toEqual([1, expect.stringMatching(/Unknown provider "nonsense"/)]);
    const own = await runCli(args, { home, env: { ...KEY, ANTHROPIC_BASE_URL: simulator.url } });
    expect(own.stderr).toMatch(/The provider has no model nonsense:gpt-5/);
  });

  it("compact --dry-run calls no model and says so", async () => {
    const { stdout, code } = await compact(["--model", MODEL, "--dry-run"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/claude-sonnet-5-5 was not called: a dry run calls no model/);
    expect(simulator.requests.length).toBe(0);
  });

  it("an interrupt of compact ends the summary call at once and changes nothing", async () => {
    simulator.fail({ kind: "silence" });
    const before = readFileSync(session);
    const child = spawn(
      process.execPath,
      [CLI_MAIN, "compact", session, "--in-place", "--model", MODEL, "--base-url", simulator.url],
      { env: { PATH: process.env.PATH ?? "", HOME: home, ...KEY } },
    );
    while (simulator.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
    child.kill("SIGINT");
    const [code] = await once(child, "close");
    expect([code, said]).toEqual([
      1,
      "longhaul: You interrupted the command.\nNothing was changed. Run the command again to start over.\n",
    ]);
    expect(readFileSync(session).equals(before)).toBe(true);
  });

  it("compact names the missing --base-url when the model is on another server", async () => {
    const args = ["compact", session, "--model", "openai-compatible:local"];
    const { code, stderr } = await runCli(args, { home });
    expect(code).toBe(1);
    expect(stderr).toMatch(/--base-url/);
  });

  it("compact rejects a --base-url that is not an address", async () => {
    const { code, stderr } = await runCli(["compact", session, "--base-url", "nonsense"], { home });
    expect(code).toBe(2);
    expect(stderr).toMatch(/must be an address/);
  });
});
