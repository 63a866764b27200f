import { mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Entry } from "@longhaul/core";
import { beforeAll, describe, expect, it } from "vitest";
import { ConversationBuilder } from "../support/builders.ts";
import { type CliRun, runCli, unfolded } from "../support/cli.ts";
import { temporaryFolder } from "../transcript/temporary-folder.ts";

const isPosix = process.platform !== "win32";
/** A word in every file whose content must not get into a compacted session. */
const CANARY = "CANARY-7f3a";
const HARMLESS = "the harbour is open";

const root = realpathSync(temporaryFolder());
const home = join(root, "home", "mara");
const project = join(home, "code", "harbour");
const sibling = join(home, "code", "tides");

function write(path: string, text: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

beforeAll(() => {
  write(join(project, "a.txt"), HARMLESS);
  for (const path of [
    join(home, ".ssh", "id_rsa"),
    join(home, ".ssh", "config"),
    join(home, "diary.txt"),
    join(sibling, "plan.txt"),
    join(sibling, "CLAUDE.md"),
    join(project, ".env"),
    join(project, "keys", "id_rsa"),
    join(home, ".claude", "plans", "merry-plan.md"),
    join(home, ".claude", "outside.md"),
  ]) {
    write(path, `${CANARY} ${path}\n`);
  }
  symlinkSync(join(sibling, "plan.txt"), join(project, "link.txt"));
  symlinkSync(sibling, join(project, "linked"));
  symlinkSync(join(project, ".env"), join(project, "settings.txt"));
  write(
    join(project, "CLAUDE.md"),
    `Rules.\n@${join(sibling, "plan.txt")}\n@../tides/plan.txt\n@.env\n@linked/plan.txt\n@~/diary.txt\n`,
  );
});

interface Claims {
  readonly cwd: string;
  readonly reads: readonly string[];
  readonly memory?: readonly string[];
  readonly slug?: string;
}

/**
 * Creates a session that claims to have worked in this folder, and that has read these files in its older
 * part.
 */
function hostile({ cwd, reads, memory = [], slug }: Claims): string {
  const c = new ConversationBuilder();
  for (const [index, path] of reads.entries()) c.tool(`r${index}`, "Read", { file_path: path }, "as it was");
  for (const path of memory) {
    const content = { path, type: "Project", content: "as it was" };
    c.attachment({ type: "nested_memory", path, content, displayPath: path });
  }
  for (let turn = 0; turn < 60; turn++) {
    c.user(`Question ${turn}: ${"when is high tide at the pier? ".repeat(40)}`);
    c.assistant(`Answer ${turn}: ${"about noon, they say. ".repeat(60)}`);
  }
  const claimed = c.entries.map(
    (entry): Entry => ({ ...entry, cwd, ...(slug === undefined ? {} : { slug }) }),
  );
  return claimed.map((entry) => `${JSON.stringify(entry)}\n`).join("");
}

const compact = (session: string, args: readonly string[], cwd = project): Promise<CliRun> =>
  runCli(["compact", session, ...args], { home, cwd });

/** Returns the complete new session after a compaction with these claims. */
async function compacted(
  claims: Claims,
  args: readonly string[] = [],
  { cwd = project, session = join(root, "downloads", "session.jsonl") } = {},
): Promise<{ readonly out: string; readonly stdout: string }> {
  write(session, hostile(claims));
  const target = join(root, `out-${counter++}.jsonl`);
  const { code, stdout, stderr } = await compact(session, ["--out", target, ...args], cwd);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return { out: readFileSync(target, "utf8"), stdout };
}
let counter = 0;

describe("longhaul compact of a hostile session file", () => {
  it("compact restores a file of the current folder, which shows that the tests below can fail", async () => {
    const { out } = await compacted({ cwd: "/etc", reads: [join(project, "a.txt")] });
    expect(out).toContain(HARMLESS);
  });

  it.each([
    ["a key below a claimed ~/.ssh", join(home, ".ssh"), ["id_rsa", join(home, ".ssh", "id_rsa"), "config"]],
    ["a file below a claimed home folder", home, ["diary.txt", join(home, "diary.txt"), "~/diary.txt"]],
    ["a file below a claimed root folder", "/", [join(home, "diary.txt").slice(1)]],
    ["a file of a claimed sibling folder", sibling, ["plan.txt", join(sibling, "plan.txt")]],
    ["a relative path that leads out", project, ["../tides/plan.txt", "a/../../tides/plan.txt"]],
    ["a link that leads out", project, ["link.txt", "linked/plan.txt", join(project, "linked", "plan.txt")]],
    [
      "a claimed folder that is a link",
      join(project, "linked"),
      ["plan.txt", join(project, "linked", "plan.txt")],
    ],
    ["secrets of the project", project, [".env", "keys/id_rsa", "settings.txt", join(project, ".env")]],
    ["names with other separators", project, ["..\\tides\\plan.txt", `${sibling}/./plan.txt`, "x\0/../a"]],
  ])("compact of a hostile session does not restore %s", async (_, cwd, reads) => {
    const { out, stdout } = await compacted({ cwd, reads });
    expect(out).not.toContain(CANARY);
    expect(stdout).not.toContain(CANARY);
  });

  it.skipIf(!isPosix)(
    "compact does not restore system files when the session claims to have run in /etc",
    async () => {
      const { out, stdout } = await compacted({
        cwd: "/etc",
        reads: ["passwd", "/etc/passwd", "/etc/shadow"],
      });
      expect(out).not.toContain("root:");
      expect(stdout).toMatch(/outside {2}\/etc\/passwd/);
      expect(stdout).toMatch(/secret {2}\/etc\/shadow/);
    },
  );

  it("compact does not attach memory files of other folders, or files that memory files import", async () => {
    const memory = [
      join(sibling, "CLAUDE.md"),
      join(project, "linked", "CLAUDE.md"),
      join(project, ".env"),
      "../tides/CLAUDE.md",
      join(project, "CLAUDE.md"),
    ];
    const { out } = await compacted({ cwd: sibling, reads: [join(sibling, "x.ts")], memory });
    expect(out).toContain("Rules.");
    expect(out).not.toContain(CANARY);
  });

  it("compact restores no plan whose slug leaves the plans folder, and no plan of another session", async () => {
    for (const slug of ["../outside", "merry-plan", "..", "a/../merry-plan"]) {
      const { out } = await compacted({ cwd: project, reads: ["a.txt"], slug });
      expect(out).not.toContain(CANARY);
    }
    const session = join(home, ".claude", "projects", project.replace(/[^A-Za-z0-9]/g, "-"), "id.jsonl");
    for (const slug of ["../outside", "a/../../outside"]) {
      const { out } = await compacted({ cwd: project, reads: ["a.txt"], slug }, [], { session });
      expect(out).toContain(HARMLESS);
      expect(out).not.toContain(CANARY);
    }
  });

  it("compact restores nothing when the current folder is the home folder, unless --project names it", async () => {
    const reads = [join(home, "diary.txt"), join(project, "a.txt")];
    const { out, stdout } = await compacted({ cwd: home, reads }, [], { cwd: home });
    expect(out).not.toContain(CANARY);
    expect(out).not.toContain(HARMLESS);
    expect(unfolded(stdout)).toContain(
      "longhaul restores files of your home folder only if you pass that folder.",
    );
    expect(unfolded(stdout)).toContain("pass --project DIR");
    expect((await compacted({ cwd: home, reads }, ["--project", home], { cwd: home })).out).toContain(CANARY);
  });

  it("compact restores files for the project in whose store the session is, not for the claimed project", async () => {
    const name = project.replace(/[^A-Za-z0-9]/g, "-");
    const session = join(home, ".claude", "projects", name, "id.jsonl");
    const reads = [join(sibling, "plan.txt"), "plan.txt", join(project, "a.txt")];
    const { out } = await compacted({ cwd: sibling, reads }, [], { cwd: sibling, session });
    expect(out).toContain(HARMLESS);
    expect(out).not.toContain(CANARY);
  });

  it("compact lists skipped files in text and JSON, even in a dry run, and names --project", async () => {
    const reads = [1, 2, 3, 4, 5, 6].map((n) => write(join(sibling, `${n}.txt`), CANARY));
    const session = write(join(root, "s.jsonl"), hostile({ cwd: sibling, reads: [...reads, ".env"] }));
    const { stdout } = await compact(session, ["--dry-run"]);
    expect(stdout).toMatch(/secret {2}\.env\n/);
    expect(stdout).toMatch(/outside {2}~\/code\/tides\/6\.txt\n/);
    expect(stdout).toContain("and 2 more");
    expect(unfolded(stdout)).toContain(`longhaul restores only files in ${project}.`);
    expect(unfolded(stdout)).toContain(
      "pass --project DIR. longhaul never restores files with well-known secrets.",
    );
    const report = JSON.parse((await compact(session, ["--dry-run", "--json"])).stdout);
    expect(report.skipped).toContainEqual({ kind: "file", path: reads[0], reason: "outside-project" });
    expect(report.skipped).toContainEqual({ kind: "file", path: ".env", reason: "secret" });
    const advice = expect.stringContaining("--project DIR");
    expect(report.project).toEqual({ folder: project, source: "current-folder", problem: null, advice });
  });

  it("inspect reads memory files only of the folder that the user chose", async () => {
    const reads = [join(sibling, "x.ts"), join(project, "x.ts")];
    const session = write(join(root, "s.jsonl"), hostile({ cwd: sibling, reads }));
    const { stdout } = await runCli(["inspect", session, "--json"], { home, cwd: project });
    const { memory } = JSON.parse(stdout);
    expect(memory.folder).toBe(project);
    expect(memory.governing).toMatchObject([{ path: join(project, "CLAUDE.md") }]);
    expect(stdout).not.toContain(CANARY);
  });

  it.skipIf(!isPosix)(
    "compact runs hooks in the folder that the user chose, never in the folder that the session claims",
    async () => {
      const command = 'pwd; echo "$CLAUDE_PROJECT_DIR $LONGHAUL_PROJECT_DIR"; cat';
      const hooks = { PreCompact: [{ hooks: [{ type: "command", command: `${command} 2>/dev/null` }] }] };
      const settings = write(join(home, ".longhaul", "settings.json"), JSON.stringify({ hooks }));
      const session = write(join(root, "s.jsonl"), hostile({ cwd: sibling, reads: [] }));
      const { stdout } = await compact(session, ["--json"]);
      write(settings, "{}");
      const [{ text }] = JSON.parse(stdout).hooks;
      expect(text).toContain(`${project}\n${project} ${project}\n`);
      expect(text).toContain(`"cwd":"${project}"`);
      expect(text).not.toContain(sibling);
    },
  );

  it("compact and inspect reject a --project that is missing, a file or the root folder as wrong use", async () => {
    const session = write(join(root, "s.jsonl"), hostile({ cwd: project, reads: [] }));
    for (const given of [join(root, "gone"), session, "/", ""]) {
      for (const command of ["compact", "inspect"]) {
        const { code, stderr } = await runCli([command, session, "--project", given], { home, cwd: project });
        expect(code).toBe(2);
        expect(stderr).toContain("--project");
      }
    }
  });
});
