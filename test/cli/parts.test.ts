import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { flatten } from "@longhaul/core/request";
import { loadSession } from "@longhaul/sessions";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { apiRuleViolations } from "../support/api-rules.ts";
import { type CliRun, runCli } from "../support/cli.ts";
import { demoProject } from "../support/demo-project.ts";

let home: string;
let project: string;
let text: string;
let session: string;
let prompts: readonly Prompt[];

interface Prompt {
  readonly uuid: string;
  readonly timestamp: string;
  readonly tokensBefore: number;
  readonly text: string;
}

const run = (...args: readonly string[]): Promise<CliRun> => runCli(args, { home });
const runJson = async (...args: readonly string[]) => JSON.parse((await run(...args, "--json")).stdout);
const isUntouched = (): boolean => readFileSync(session, "utf8") === text;
const promptAt = (index: number): string => prompts.at(index)?.uuid ?? "";

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "longhaul-parts-"));
  project = join(home, "harbour");
  text = demoProject(project);
  session = join(home, "session.jsonl");
  writeFileSync(session, text);
  prompts = await runJson("inspect", session, "--prompts");
});
afterAll(() => rmSync(home, { recursive: true, force: true }));
beforeEach(() => writeFileSync(session, text));

describe("longhaul inspect --prompts", () => {
  it("inspect --prompts lists the user's prompts oldest first, with the tokens before each one", () => {
    expect(prompts.length).toBeGreaterThan(10);
    expect(prompts[0]).toMatchObject({ uuid: expect.any(String), tokensBefore: 0 });
    const tokens = prompts.map(({ tokensBefore }) => tokensBefore);
    expect(tokens).toEqual([...tokens].sort((a, b) => a - b));
    const queued = text.split("\n").find((line) => line.includes('"queued_command"')) ?? "";
    expect(prompts.map(({ uuid }) => uuid)).toContain(JSON.parse(queued).uuid);
    const times = prompts.map(({ timestamp }) => timestamp);
    expect(times).toEqual([...times].sort());
  });

  it("inspect --prompts shows id prefixes that compact accepts, in 80 columns", async () => {
    const { stdout } = await run("inspect", session, "--prompts");
    for (const { uuid } of prompts) expect(stdout).toContain(uuid.slice(0, 8));
    expect(stdout).toMatch(/compact --up-to MESSAGE/);
    const [, first = ""] = /^([0-9a-f]{8}) {2}.*\n(?=\n)/m.exec(stdout) ?? [];
    expect((await run("compact", session, "--up-to", first)).code).toBe(0);
  });

  it("inspect --prompts says that the session has no prompts", async () => {
    const path = join(home, "silent.jsonl");
    writeFileSync(path, `${JSON.stringify({ type: "summary", summary: "t", leafUuid: "x" })}\n`);
    const { code, stdout } = await run("inspect", path, "--prompts");
    expect([code, stdout]).toEqual([0, expect.stringContaining("This session has no messages yet.")]);
    expect(await runJson("inspect", path, "--prompts")).toEqual([]);
  });
});

describe("longhaul compact with --from or --up-to", () => {
  it("compact --up-to summarizes the messages before the given one, and keeps that message and later ones", async () => {
    const picked = prompts.at(-3);
    const report = await runJson("compact", session, "--up-to", promptAt(-3), "--in-place");
    expect(Math.abs(report.summarized.tokens - (picked?.tokensBefore ?? 0))).toBeLessThanOrEqual(2);
    const left = await runJson("inspect", session, "--prompts");
    expect(left.map((prompt: Prompt) => prompt.text)).toEqual(prompts.slice(-3).map((prompt) => prompt.text));
    await expectReadBack(report.after.tokens);
  });

  it("compact --from summarizes the given message and later ones, and keeps the earlier ones", async () => {
    const report = await runJson("compact", session, "--from", promptAt(4), "--in-place");
    const left = await runJson("inspect", session, "--prompts");
    expect(left.map((prompt: Prompt) => prompt.text)).toEqual(
      prompts.slice(0, 4).map((prompt) => prompt.text),
    );
    expect(report.kept.messages).toBeGreaterThan(4);
    await expectReadBack(report.after.tokens);
  });

  it("compact accepts the beginning of a message's uuid, and --out leaves the session unchanged", async () => {
    const out = join(home, "part.jsonl");
    const report = await runJson("compact", session, "--up-to", promptAt(-2).slice(0, 6), "--out", out);
    expect(report.out).toBe(out);
    expect(isUntouched()).toBe(true);
    expect((await runJson("inspect", out)).compactions).toHaveLength(1);
  });

  async function expectReadBack(tokensAfter: number): Promise<void> {
    expect(readFileSync(session, "utf8").startsWith(text)).toBe(true);
    const { context, compactions } = await runJson("inspect", session);
    expect(compactions).toHaveLength(1);
    expect(Math.abs(context.tokens / tokensAfter - 1)).toBeLessThan(0.02);
    expect(apiRuleViolations(flatten((await loadSession(session)).conversation))).toEqual([]);
  }

  it.each([
    ["is unknown", () => "zzzz", "message-not-found", /No message found: .* starts with zzzz/],
    [
      "is ambiguous",
      () => sharedBeginning(),
      "id-ambiguous",
      /\d+ messages have an id that starts with .*: .*, .*more of the id/s,
    ],
    [
      "names a message without earlier ones",
      () => promptAt(0),
      "not-enough-messages",
      /Choose a later message/,
    ],
  ])("compact fails and says what to do when the uuid of the message %s", async (_, uuid, code, words) => {
    const {
      code: exit,
      stdout,
      stderr,
    } = await run("compact", session, "--in-place", "--json", "--up-to", uuid());
    expect([exit, stderr]).toEqual([1, expect.stringMatching(words)]);
    expect(JSON.parse(stdout).error.code).toBe(code);
    expect(isUntouched()).toBe(true);
  });

  /** Returns one hexadecimal digit. Among hundreds of uuids, many start with the same digit. */
  const sharedBeginning = (): string => promptAt(0).slice(0, 1);

  it("compact refuses --from and --up-to for messages that an earlier compaction summarized", async () => {
    await run("compact", session, "--in-place");
    const { code, stderr } = await run("compact", session, "--from", promptAt(2));
    expect([code, stderr]).toEqual([1, expect.stringMatching(/cannot choose messages that an earlier/)]);
  });

  it.each([
    [["--from", "a", "--up-to", "b"], /cannot be used with/],
    [["--from", "a", "--keep-recent", "3"], /cannot be used with/],
    [["--up-to", "a", "--keep-recent", "3"], /cannot be used with/],
    [["--from", ""], /uuid of a message/],
    [["--up-to", "  "], /uuid of a message/],
    [["--out", ""], /must name a file/],
    [["--keep-recent", ""], /whole number/],
  ])("compact exits with 2 for the wrong arguments %j", async (args, words) => {
    const { code, stderr } = await run("compact", session, ...args);
    expect([code, stderr]).toEqual([2, expect.stringMatching(words)]);
  });
});

describe("content that a compaction restores", () => {
  const kindsOf = (report: { restored: readonly { kind: string }[] }): readonly string[] => [
    ...new Set(report.restored.map(({ kind }) => kind)),
  ];

  it("compact restores files, to-dos and the plan that Claude Code keeps for the session", async () => {
    expect(kindsOf(await runJson("compact", session, "--project", project))).toEqual(["todos", "file"]);
    const slug = "merry-plan";
    const store = join(home, ".claude", "projects", realpathSync(project).replace(/[^A-Za-z0-9]/g, "-"));
    mkdirSync(store, { recursive: true });
    const stored = join(store, "session.jsonl");
    const lines = text.trimEnd().split("\n");
    writeFileSync(stored, lines.map((line) => `${JSON.stringify({ ...JSON.parse(line), slug })}\n`).join(""));
    const plans = join(home, ".claude", "plans");
    mkdirSync(plans, { recursive: true });
    writeFileSync(join(plans, `${slug}.md`), "1. Measure the tides.\n");
    const report = await runJson("compact", stored);
    expect(kindsOf(report)).toEqual(["todos", "plan", "file"]);
    expect((await run("compact", stored)).stdout).toMatch(/merry-plan\.md \(plan\)/);
  });

  it("the summary of compact names the transcript by an absolute path", async () => {
    const report = await runJson("compact", "session.jsonl", "--in-place");
    expect(report.out).toBe("session.jsonl");
    const added = readFileSync(session, "utf8").slice(text.length);
    expect(added).toContain(session);
  });

  it("compact --no-restore restores nothing", async () => {
    const report = await runJson("compact", session, "--no-restore");
    expect([report.restored, report.skipped]).toEqual([[], []]);
  });

  it("compact lists content that it could not restore, with type and reason", async () => {
    rmSync(project, { recursive: true });
    const report = await runJson("compact", session, "--project", home);
    demoProject(project);
    expect(kindsOf(report)).toEqual(["todos"]);
    expect(report.skipped[0]).toEqual({ kind: "file", path: expect.any(String), reason: "gone" });
  });
});
