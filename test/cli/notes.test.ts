import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type Simulator, startSimulator } from "@longhaul/simulator";
import { beforeEach, describe, expect, it } from "vitest";
import { CLI_MAIN, type CliRun, runCli, unfolded, writeSettings } from "../support/cli.ts";
import { demoHome } from "./demo-home.ts";

const { home, text, run, runJson, newSession } = demoHome();
let session: string;
let notes: string;
beforeEach(() => {
  writeSettings(home, {});
  ({ session, notes } = newSession());
});

/** Appends another exchange to the session. */
function appendExchange(): void {
  const last = JSON.parse(text.trimEnd().split("\n").at(-1) ?? "");
  const link = (uuid: string, parentUuid: string) => ({
    uuid,
    parentUuid,
    timestamp: "2027-01-01T00:00:00.000Z",
    sessionId: last.sessionId,
    cwd: last.cwd,
  });
  const asked = {
    ...link("new-1", last.uuid),
    type: "user",
    message: { role: "user", content: "paint the lighthouse red" },
  };
  const content = [{ type: "text", text: "The lighthouse is red." }];
  const answered = { ...link("new-2", "new-1"), type: "assistant", message: { role: "assistant", content } };
  appendFileSync(session, [asked, answered].map((line) => `${JSON.stringify(line)}\n`).join(""));
}

describe("longhaul notes", () => {
  it("notes builds missing notes beside the session, names their file, and leaves the session unchanged", async () => {
    const { stdout, stderr, code } = await run("notes", session);
    expect([code, stderr]).toEqual([0, ""]);
    for (const name of ["Current State", "Task Specification", "Files and Functions", "Worklog"])
      expect(stdout).toContain(name);
    expect(stdout).toContain(`Written to:\n${notes}\n`);
    expect(stdout).not.toContain("\u001b");
    const widths = stdout.split("\n").map((line) => (line === notes ? 0 : [...line].length));
    expect(Math.max(...widths)).toBeLessThanOrEqual(80);
    expect(readFileSync(session, "utf8")).toBe(text);
    expect(statSync(notes).mode & 0o777).toBe(0o600);
    expect(readFileSync(notes, "utf8")).toMatch(
      /^<!-- longhaul: noted up to message \S+ -->\n\n# Session Title\n_/,
    );
  });

  it("notes shows existing notes unchanged, and says how many messages are newer", async () => {
    await run("notes", session);
    const before = readFileSync(notes, "utf8");
    expect(await runJson("notes", session)).toMatchObject({
      outcome: "shown",
      written: false,
      covers: { state: "known", newer: 0 },
      work: null,
    });
    appendExchange();
    expect(await runJson("notes", session)).toMatchObject({ outcome: "shown", covers: { newer: 2 } });
    expect(unfolded((await run("notes", session)).stdout)).toContain(
      "2 newer messages are missing. `longhaul notes SESSION --update` adds them.",
    );
    expect(readFileSync(notes, "utf8")).toBe(before);
  });

  it("notes --update adds new messages, and --rebuild builds the notes from all messages", async () => {
    const built = await runJson("notes", session);
    expect(built).toMatchObject({ outcome: "built", written: true, work: { by: "built-in", calls: 0 } });
    appendExchange();
    const updated = await runJson("notes", session, "--update");
    expect(updated).toMatchObject({
      outcome: "updated",
      work: { messages: 2 },
      covers: { uuid: "new-2", newer: 0 },
    });
    expect(readFileSync(notes, "utf8")).toContain("lighthouse");
    expect(await runJson("notes", session, "--update")).toMatchObject({
      outcome: "up-to-date",
      written: false,
    });
    const rebuilt = await runJson("notes", session, "--rebuild");
    expect(rebuilt).toMatchObject({ outcome: "rebuilt", work: { messages: built.work.messages + 2 } });
  });

  it("notes --dry-run prints the notes and writes nothing", async () => {
    const { stdout, code } = await run("notes", session, "--dry-run", "--model", "claude-x");
    expect(code).toBe(0);
    expect(stdout).toContain("Nothing was written.");
    expect(unfolded(stdout)).toContain("claude-x was not called: a dry run calls no model.");
    expect(existsSync(notes)).toBe(false);
  });

  it("notes --path prints only the path of the notes", async () => {
    expect(await run("notes", session, "--path")).toEqual({ code: 0, stdout: `${notes}\n`, stderr: "" });
    expect(await runJson("notes", session, "--path")).toEqual({ path: notes });
    expect(existsSync(notes)).toBe(false);
  });

  it("notes removes terminal control sequences from messages about an invalid template", async () => {
    const template = join(home, "hostile.md");
    writeFileSync(template, "# A\u001b[31mB\n\u001b]0;mine\u0007\n");
    writeSettings(home, { notes: { template } });
    const { stderr, code } = await run("notes", session);
    expect(code).toBe(1);
    expect(stderr).toContain("# AB has no italic line");
    expect(stderr).not.toContain("\u001b");
  });

  it("a template in the settings changes the sections, and later runs recognize them without the template", async () => {
    const template = join(home, "template.md");
    writeFileSync(template, "# Worklog\n_What was done._\n\n# Mood\n_How it felt._\n");
    const names = ({ sections }: { sections: { name: string }[] }) => sections.map(({ name }) => name);
    writeSettings(home, { notes: { template } });
    expect(names(await runJson("notes", session))).toEqual(["Worklog", "Mood"]);
    writeSettings(home, {});
    expect(names(await runJson("notes", session))).toEqual(["Worklog", "Mood"]);
  });
});

describe("notes that the user has edited", () => {
  const THEIRS = "# Current State\n\nMy own words, which nobody may lose.\n";

  it("notes shows edited notes, and neither updates nor replaces them unless the user requests it", async () => {
    writeFileSync(notes, THEIRS);
    const { stdout } = await run("notes", session);
    expect(stdout).toContain("My own words");
    expect(stdout).toContain("The notes do not say which messages they cover.");
    const { code, stderr } = await run("notes", session, "--update");
    expect(code).toBe(1);
    expect(stderr).toContain("did not change them");
    expect(stderr).toContain("--rebuild");
    expect(readFileSync(notes, "utf8")).toBe(THEIRS);
    expect((await run("notes", session, "--rebuild")).code).toBe(0);
    expect(readFileSync(notes, "utf8")).not.toContain("My own words");
  });
});

describe("failures of longhaul notes", () => {
  it.each([
    ["a folder", () => mkdirSync(notes), "notes-unreadable", /is a folder/],
    ["a link", () => symlinkSync("/etc/hostname", notes), "notes-unreadable", /is a link/],
    ["a binary file", () => writeFileSync(notes, Buffer.from([0, 1, 2])), "notes-unreadable", /not a text/],
    [
      "too large",
      () => writeFileSync(notes, "x".repeat(2_000_000)),
      "notes-unreadable",
      /too large for notes/,
    ],
  ])(
    "notes and inspect explain that the notes cannot be read because they are %s",
    async (_, lay, errorCode, words) => {
      lay();
      const { code, stdout, stderr } = await run("notes", session, "--json");
      expect([code, JSON.parse(stdout).error.code]).toEqual([1, errorCode]);
      expect(stderr).toMatch(words);
      expect((await run("notes", session, "--rebuild")).code).toBe(1);
      const inspected = await run("inspect", session);
      expect(inspected.code).toBe(0);
      expect(unfolded(inspected.stdout)).toMatch(words);
      expect((await runJson("inspect", session)).notes.problem).toMatch(words);
    },
  );

  it.each([
    ["no-such-file", "notes-template-unreadable", /no such file/],
    [".", "notes-template-unreadable", /cannot be read/],
    ["plain.md", "notes-template-invalid", /line 1/],
  ])("notes fails with a reason for the template %j", async (template, errorCode, words) => {
    writeFileSync(join(home, "plain.md"), "just words\n");
    writeSettings(home, { notes: { template } });
    const { code, stdout, stderr } = await run("notes", session, "--json");
    expect([code, JSON.parse(stdout).error.code]).toEqual([1, errorCode]);
    expect(stderr).toMatch(words);
    expect(existsSync(notes)).toBe(false);
  });

  it.each([
    [[]],
    [["x", "--update", "--rebuild"]],
    [["x", "--path", "--update"]],
    [["x", "--template", ""]],
    [["x", "--base-url", "nowhere"]],
    [["x", "--bogus"]],
  ])("notes exits with 2 for the wrong arguments %j", async (args) => {
    expect((await run("notes", ...args)).code).toBe(2);
  });

  it("notes exits with 1 without a session", async () => {
    expect((await run("notes", join(home, "none.jsonl"))).code).toBe(1);
    expect((await run("notes", join(home, "none.jsonl"), "--path")).code).toBe(1);
  });
});

describe("longhaul notes --model", () => {
  let simulator: Simulator;
  beforeEach(async () => {
    simulator = await startSimulator();
    return () => simulator.close();
  });
  const model = (...args: readonly string[]): Promise<CliRun> =>
    runCli(["notes", session, "--model", "claude-haiku-4-5", "--base-url", simulator.url, ...args], {
      home,
      env: { ANTHROPIC_API_KEY: "sk-simulated" },
    });

  it("notes --model lets the model write the notes part by part, and prints the cost", async () => {
    const { stdout, code } = await model("--json");
    expect(code).toBe(0);
    const report = JSON.parse(stdout);
    expect(report).toMatchObject({
      outcome: "built",
      written: true,
      work: { by: "model", model: "claude-haiku-4-5", complete: true },
    });
    expect(report.work.calls).toBe(simulator.requests.length);
    expect(report.work.calls).toBeGreaterThan(1);
    expect(report.work.cost).toBeGreaterThan(0);
    expect(report.covers.newer).toBe(0);
    expect(simulator.requests.invalid).toEqual([]);
  });

  it("notes --model shows existing notes without a model call", async () => {
    await run("notes", session);
    const { stdout } = await model();
    expect(unfolded(stdout)).toContain("claude-haiku-4-5 was not called: there are notes already.");
    expect(simulator.requests.length).toBe(0);
  });

  it("an interrupt of notes --model keeps the notes written so far, and says so", async () => {
    let calls = 0;
    simulator.fail({ kind: "silence" }, { when: ({ endpoint }) => endpoint === "messages" && ++calls > 1 });
    const child = spawn(
      process.execPath,
      [CLI_MAIN, "notes", session, "--model", "claude-haiku-4-5", "--base-url", simulator.url],
      { env: { PATH: process.env.PATH ?? "", HOME: home, ANTHROPIC_API_KEY: "sk-simulated" } },
    );
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (output: string) => (said += output));
    while (calls < 2) await new Promise((resolve) => setTimeout(resolve, 20));
    child.kill("SIGINT");
    const [code] = await once(child, "close");
    expect(code).toBe(1);
    expect(said).toMatch(
      /^longhaul: You interrupted the command\.\nlonghaul keeps the notes .*--update.*\n$/,
    );
    expect(readFileSync(notes, "utf8")).toMatch(/^<!-- longhaul: noted up to message \S+ -->/);
    expect(existsSync(`${notes}.lock`)).toBe(false);
  });

  it("notes uses the built-in note taker when the model never answers, and says so in text and JSON", async () => {
    simulator.fail({ kind: "silence" }, { times: 99 });
    writeSettings(home, { notes: { firstByteTimeout: 1 } });
    const { code, stdout } = await model();
    expect(code).toBe(0);
    expect(unfolded(stdout)).toContain(
      "claude-haiku-4-5 timed out. The built-in note taker wrote the notes instead.",
    );
    const report = JSON.parse((await model("--rebuild", "--json")).stdout);
    expect(report).toMatchObject({
      outcome: "rebuilt",
      written: true,
      work: { by: "built-in", model: "claude-haiku-4-5", usage: null, cost: null },
    });
    expect(report.work.fallback).toEqual({ reason: "model-timed-out", messages: report.work.messages });
  });

  it("notes keeps the notes written so far when the model fails, and offers the built-in note taker", async () => {
    simulator.fail(401, { times: 99 });
    const { code, stderr } = await model();
    expect(code).toBe(1);
    expect(stderr).toContain("Without --model");
    expect(existsSync(notes)).toBe(false);
  });
});
