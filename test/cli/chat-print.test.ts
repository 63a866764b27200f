import { spawn } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Simulator, startSimulator, textTurn, toolTurn } from "@longhaul/simulator";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { CLI_MAIN, type CliRun, runCli, writeSettings } from "../support/cli.ts";
import { undocumented } from "../support/json-docs.ts";
import { describeRecorded, realSessionPath } from "../support/real-sessions.ts";

let home: string;
let simulator: Simulator;

beforeAll(async () => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "longhaul-print-")));
  // The chat runs in a subfolder, because in the home folder itself the agent asks before each action.
  mkdirSync(join(home, "project"));
  simulator = await startSimulator();
});
beforeEach(() => simulator.reset());
afterAll(async () => {
  await simulator.close();
  rmSync(home, { recursive: true, force: true });
});

interface Asked {
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Interrupts the program once, as soon as it prints this text. */
  readonly interruptAt?: string;
  readonly cwd?: string;
}

/** Runs `longhaul chat` with these arguments, with pipes instead of a terminal. */
function chat(args: readonly string[], { stdin = "", env, interruptAt, cwd }: Asked = {}): Promise<CliRun> {
  const key = { ANTHROPIC_API_KEY: "any", ANTHROPIC_BASE_URL: simulator.url };
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CLI_MAIN, "chat", ...args], {
      env: { PATH: process.env.PATH ?? "", HOME: home, ...(env ?? key) },
      cwd: cwd ?? join(home, "project"),
    });
    const output = { stdout: "", stderr: "" };
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      const isNew = interruptAt !== undefined && !output.stdout.includes(interruptAt);
      output.stdout += text;
      if (isNew && output.stdout.includes(interruptAt)) child.kill("SIGINT");
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => (output.stderr += text));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, ...output }));
    child.stdin.end(stdin);
  });
}

const said = (): string => JSON.stringify(simulator.requests.all.at(-1)?.body);

describe("longhaul chat -p", () => {
  it("chat -p refuses calls that need a permission, and prints the call and the flag that allows it", async () => {
    const project = join(home, "project");
    const turns = () => [
      toolTurn("Write", { file_path: "new.txt", content: "x" }),
      toolTurn("Bash", { command: "touch made" }),
      toolTurn("Write", { file_path: "package.json", content: "{}" }),
      textTurn("Done."),
    ];
    simulator.reply(...turns());
    const { code, stdout, stderr } = await chat(["-p", "work"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "Done.\n" });
    expect(stderr).toContain("Refused, because longhaul chat -p cannot ask for permission:");
    expect(stderr).toContain(
      "Create new.txt (rule: change)\n    to allow it: --permission-mode accept-edits\n",
    );
    expect(stderr).toContain("Run touch made (rule: shell)\n    to allow it: --allow 'shell:touch made'\n");
    expect(stderr).toContain(`--allow 'write-guarded:${join(project, "package.json")}'`);
    expect(readdirSync(project)).toEqual([]);

    simulator.reset();
    simulator.reply(...turns());
    const flags = ["--permission-mode", "accept-edits", "--allow", "shell:touch made"];
    const report = JSON.parse((await chat(["-p", "work", "--output-format", "json", ...flags])).stdout);
    expect(report.refused).toMatchObject([{ rule: "guarded-file" }]);
    expect(readdirSync(project).sort()).toEqual(["made", "new.txt"]);
    for (const name of ["made", "new.txt"]) rmSync(join(project, name));
  });

  it("chat -p refuses allow-all in the home folder, where every tool call needs a permission", async () => {
    const { code, stderr } = await chat(["-p", "work", "--permission-mode", "allow-all"], { cwd: home });
    expect(code).toBe(1);
    expect(stderr).toContain("is not allowed in");
    simulator.reply(toolTurn("Glob", { pattern: "*" }), textTurn("Done."));
    const report = JSON.parse((await chat(["-p", "look", "--output-format", "json"], { cwd: home })).stdout);
    expect(report.refused).toMatchObject([{ rule: "wide-folder" }]);
  });

  it("chat -p runs a slash command without a model call, and prints the syntax for wrong arguments", async () => {
    const first = ["--output-format", "json", "-p"];
    simulator.reply(textTurn("Noted: heron."), textTurn("Noted: plover."));
    const { session } = JSON.parse((await chat([...first, "remember heron"])).stdout);
    const on = (prompt: string, ...more: readonly string[]): Promise<CliRun> =>
      chat(["--resume", session.path, ...more, "-p", prompt]);
    await on("remember plover");
    const calls = simulator.requests.all.length;

    const snip = await on("/snip 1");
    expect(snip).toMatchObject({ code: 0, stderr: "" });
    expect(snip.stdout).toMatch(/^2 messages removed from the context: \d+ tokens freed\n/);
    const undo = JSON.parse((await on("/undo", "--output-format", "json")).stdout);
    expect(undo).toMatchObject({ reason: "answered", turns: 0, error: null });
    expect(undo.text).toContain("Undid the snip");
    expect(undocumented("chat -p PROMPT --output-format json", undo)).toEqual([]);
    const stream = (await on("/snip 2", "--output-format", "stream-json")).stdout.trim().split("\n");
    const lines = stream.map((line) => JSON.parse(line));
    expect([lines[0].type, lines.at(-1).type]).toEqual(["init", "end"]);
    expect(lines).toContainEqual(
      expect.objectContaining({
        type: "compactor",
        event: expect.objectContaining({ type: "snipped", messages: 2 }),
      }),
    );
    for (const [wrong, usage] of [
      ["/snip", "Usage: /snip [rounds, such as 2 or 1-3]"],
      ["/rewind", "Use the command in a terminal"],
    ] as const) {
      const run = await on(wrong);
      expect(run).toMatchObject({ code: 1, stdout: "" });
      expect(run.stderr).toContain(usage);
    }
    expect(simulator.requests.all).toHaveLength(calls);

    simulator.reply(textTurn("Only heron."));
    expect((await on("/which is it? heron or plover?")).stdout).toBe("Only heron.\n");
    expect(said()).toContain("remember heron");
    expect(said()).not.toContain("remember plover");
    expect(simulator.requests.invalid).toEqual([]);
  });

  it("chat -p prints only the last answer", async () => {
    simulator.reply(toolTurn("Glob", { pattern: "*.none" }), textTurn("All is well."));
    const run = await chat(["-p", "how is it?"]);
    expect(run).toEqual({ code: 0, stdout: "All is well.\n", stderr: "" });
  });

  it("chat -p uses piped text as the prompt or adds it to the prompt", async () => {
    simulator.reply(textTurn("one"), textTurn("two"));
    expect((await chat([], { stdin: "the whole prompt\n" })).stdout).toBe("one\n");
    expect(said()).toContain("the whole prompt");
    expect((await chat(["-p", "review this"], { stdin: "a diff\n" })).stdout).toBe("two\n");
    expect(said()).toContain("review this\\n\\na diff");
  });

  it("chat -p prints a JSON report with documented fields and continues a session", async () => {
    simulator.reply(textTurn("I am Ada."), textTurn("I said: Ada."));
    const first = await chat(["-p", "who are you?", "--output-format", "json"]);
    const report = JSON.parse(first.stdout);
    expect(report).toMatchObject({
      reason: "answered",
      text: "I am Ada.",
      turns: 1,
      compactions: 0,
      error: null,
    });
    expect(report.usage.calls).toBe(1);
    expect(report.cost).toBeGreaterThan(0);
    expect(undocumented("chat -p PROMPT --output-format json", report)).toEqual([]);
    const next = await chat([
      "-p",
      "who?",
      "--resume",
      report.session.id.slice(0, 8),
      "--output-format",
      "json",
    ]);
    expect(JSON.parse(next.stdout)).toMatchObject({ text: "I said: Ada.", session: report.session });
    expect(said()).toContain("I am Ada.");
  });

  it("chat -p continues a session with the session's own model unless the command names another model", async () => {
    simulator.reply(textTurn("one"), textTurn("two"), textTurn("three"));
    const first = await chat(["-p", "hi", "--model", "claude-haiku-4-5", "--output-format", "json"]);
    const { session } = JSON.parse(first.stdout);
    const asked = (): unknown => JSON.parse(said()).model;
    await chat(["-p", "and now?", "--resume", session.id]);
    expect(asked()).toBe("claude-haiku-4-5");
    await chat(["-p", "and now?", "--resume", session.id, "--model", "claude-opus-5-5"]);
    expect(asked()).toBe("claude-opus-5-5");
  });

  it("chat -p reports the same tokens and window as `inspect`", async () => {
    simulator.reply(toolTurn("Glob", { pattern: "*.none" }), textTurn("Nothing there."));
    const { session, context } = JSON.parse(
      (await chat(["-p", "look around", "--model", "claude-haiku-4-5", "--output-format", "json"])).stdout,
    );
    const inspected = JSON.parse((await runCli(["inspect", session.id, "--json"], { home })).stdout);
    expect(context).toEqual({
      tokens: inspected.context.tokens,
      window: inspected.window.size,
      windowOrigin: inspected.window.origin,
      autoCompact: inspected.window.autoCompact,
    });
  });

  describeRecorded("a recorded session that its agent compacted at 167,000 tokens", () => {
    it.each(["spotter__4d5611e5.jsonl", "context-evaluator__8209f1c2.jsonl"])(
      "chat --resume of %s derives the window of 200,000 tokens from the compaction in the session",
      async (name) => {
        simulator.reply(textTurn("Ready."));
        const run = await chat([
          "-p",
          "ready?",
          "--resume",
          realSessionPath(name),
          "--output-format",
          "json",
        ]);
        expect(JSON.parse(run.stdout).context).toMatchObject({
          window: 200_000,
          windowOrigin: "auto-compaction",
        });
      },
    );
  });

  it("chat -p prints a JSON line with documented fields for each event", async () => {
    simulator.reply(toolTurn("Bash", { command: "echo hi" }), textTurn("It was refused."));
    const { stdout, code } = await chat(["-p", "say hi", "--output-format", "stream-json"]);
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(code).toBe(0);
    expect(lines.at(0)?.type).toBe("init");
    expect(lines.at(-1)?.type).toBe("end");
    const entries = lines.filter(({ type }) => type === "entry").map(({ entry }) => entry.type);
    expect(entries).toEqual(["user", "assistant", "user", "assistant"]);
    expect(JSON.stringify(lines)).toContain("--allow");
    expect(undocumented("chat -p PROMPT --output-format stream-json", lines.slice(0, -1))).toEqual([]);
  });

  it("chat -p runs allowed calls without a question", async () => {
    simulator.reply(toolTurn("Bash", { command: "echo from-the-shell" }), textTurn("Done."));
    await chat(["-p", "say hi", "--allow", "shell:echo*"]);
    expect(said()).toContain("from-the-shell");
  });

  it("chat -p exits with 1 and a reason when the model fails or the turn limit is reached", async () => {
    simulator.fail(401);
    const failed = await chat(["-p", "hi", "--output-format", "json"]);
    expect(failed.code).toBe(1);
    expect(JSON.parse(failed.stdout)).toMatchObject({
      reason: "failed",
      error: { code: "model-authentication" },
    });
    simulator.reset();
    simulator.reply(toolTurn("Glob", { pattern: "a" }), toolTurn("Glob", { pattern: "b" }));
    writeSettings(home, { chat: { maxTurns: 1 } });
    const limited = await chat(["-p", "hi", "--output-format", "json"]);
    writeSettings(home, {});
    expect(limited.code).toBe(1);
    expect(limited.stderr).toContain("The agent stopped at its limit of 1 turn.");
    expect(JSON.parse(limited.stdout)).toMatchObject({ reason: "turn-limit", error: { code: "turn-limit" } });
  });

  it("chat -p without an API key says what to set and offers the tour", async () => {
    const { code, stderr } = await chat(["-p", "hi"], { env: {} });
    expect(code).toBe(1);
    expect(stderr).toContain("ANTHROPIC_API_KEY");
    expect(stderr).toContain("longhaul chat --demo");
  });

  it("chat -p prints as JSON why it did not start", async () => {
    const json = ["-p", "hi", "--output-format", "json"];
    const keyless = await chat(json, { env: {} });
    expect(JSON.parse(keyless.stdout)).toMatchObject({ error: { code: "model-authentication" } });
    const lost = await chat([...json, "--resume", "deadbeef"]);
    expect(JSON.parse(lost.stdout)).toMatchObject({ error: { code: "session-not-found" } });
    expect([keyless.code, lost.code]).toEqual([1, 1]);
  });

  it("chat -p sends the user's instructions, followed by those of the command line", async () => {
    mkdirSync(join(home, ".longhaul"), { recursive: true });
    writeFileSync(join(home, ".longhaul", "AGENTS.md"), "Speak Latin.\n");
    simulator.reply(textTurn("Salve."));
    await chat(["-p", "hi", "--instructions", "Be brief."]);
    expect(said()).toContain("Speak Latin.\\n\\nBe brief.");
    rmSync(join(home, ".longhaul", "AGENTS.md"));
  });

  it("chat exits with 2 for wrong arguments", async () => {
    expect((await chat([])).code).toBe(2);
    expect((await chat(["-p", "x", "--output-format", "xml"])).code).toBe(2);
    expect((await chat(["-p", "x", "--resume"])).code).toBe(2);
  });

  it("chat -p ends cleanly on an interrupt, and the session file contains the interrupted call", async () => {
    simulator.reply(toolTurn("Bash", { command: "sleep 60" }));
    const args = ["-p", "wait", "--output-format", "stream-json", "--permission-mode", "allow-all"];
    const run = await chat(args, { interruptAt: "sleep 60" });
    expect(run.code).toBe(1);
    const end = JSON.parse(run.stdout.trimEnd().split("\n").at(-1) ?? "");
    expect(end).toMatchObject({ type: "end", reason: "aborted" });
    expect(readFileSync(end.session.path, "utf8")).toContain("sleep 60");
  });
});
