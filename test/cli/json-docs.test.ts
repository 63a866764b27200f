import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Simulator, startSimulator } from "@longhaul/simulator";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCli } from "../support/cli.ts";
import { demoProject } from "../support/demo-project.ts";
import { undocumented } from "../support/json-docs.ts";

let home: string;
let session: string;
let simulator: Simulator;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "longhaul-json-"));
  const project = join(home, "harbour");
  const folder = join(home, ".claude", "projects", "-harbour");
  mkdirSync(folder, { recursive: true });
  session = join(folder, "session.jsonl");
  writeFileSync(session, demoProject(project));
  rmSync(join(project, "openapi.json"));
  writeFileSync(join(project, "AGENTS.md"), "Be kind to the harbour.\n");
  mkdirSync(join(home, ".longhaul"));
  const hooks = { PreCompact: [{ hooks: [{ type: "command", command: "echo a" }] }] };
  writeFileSync(join(home, ".longhaul", "settings.json"), JSON.stringify({ hooks }), { mode: 0o600 });
  simulator = await startSimulator();
  simulator.fail(529, { times: 20 });
});
afterAll(async () => {
  await simulator.close();
  rmSync(home, { recursive: true, force: true });
});

describe("docs/json.md", () => {
  it.each([
    ["notes SESSION --json", () => ["notes", session]],
    ["inspect SESSION --json", () => ["inspect", session]],
    ["inspect SESSION --prompts --json", () => ["inspect", session, "--prompts"]],
    ["clear SESSION --json", () => ["clear", session, "--out", join(home, "cleared.jsonl")]],
    ["eval SESSION… --json", () => ["eval", session, "--compactions", "1"]],
    [
      "replay SESSION… --json",
      () => ["replay", session, "--window", "100000", "--policies", "longhaul,drop-oldest,everything"],
    ],
    ["recall SESSION QUERY --json", () => ["recall", session, "rate", "limit", "--all"]],
    ["sessions --json", () => ["sessions"]],
    [
      "compact SESSION --json",
      () => ["compact", session, "--model", "claude-sonnet-5-5", "--base-url", simulator.url, "--in-place"],
    ],
    ["ledger SESSION --json", () => ["ledger", session, "--all"]],
    ["undo SESSION --json", () => ["undo", session]],
    ["undo SESSION --list --json", () => ["undo", session, "--list"]],
    ["recall SESSION QUERY --json", () => ["recall", "--all-projects", "rate", "limit"]],
  ])("docs/json.md names every field that `%s` prints", async (heading, args) => {
    const { stdout, code } = await runCli([...args(), "--json"], {
      home,
      env: { ANTHROPIC_API_KEY: "sk-simulated" },
    });
    expect(code).toBe(0);
    expect(undocumented(heading, JSON.parse(stdout))).toEqual([]);
  });
});
