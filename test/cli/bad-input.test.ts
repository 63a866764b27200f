import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createDemoSession } from "../../packages/simulator/src/demo-session.ts";
import { CLI_MAIN, type CliRun, runCli } from "../support/cli.ts";

let home: string;
const run = (...args: readonly string[]): Promise<CliRun> => runCli(args, { home });
const write = (name: string, content: string | Buffer): string => {
  const path = join(home, name);
  writeFileSync(path, content);
  return path;
};
const line = (fields: object): string =>
  `${JSON.stringify({ uuid: "u1", parentUuid: null, timestamp: "2026-01-01T00:00:00Z", sessionId: "s", ...fields })}\n`;
const hello = line({ type: "user", message: { role: "user", content: "hello" } });
let long: string;

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "longhaul-bad-"));
  long = createDemoSession({ approximateTokens: 60_000 })
    .map((entry) => `${JSON.stringify(entry)}\n`)
    .join("");
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

function expectClearFailure({ code, stderr }: CliRun, word: RegExp): void {
  expect(code).toBe(1);
  expect(stderr).toMatch(word);
  expect(stderr).not.toMatch(/\bat .*\.js:\d+/);
}

describe("impossible usage figures of a provider", () => {
  it("inspect recommends no compaction when the reported context is smaller than any worthwhile saving", async () => {
    const lines = Array.from({ length: 60 }, (_, at) => {
      const link = { uuid: `u${at}`, parentUuid: at === 0 ? null : `u${at - 1}` };
      const text = `Message ${at}. ${"The parser reads a line and keeps its offset. ".repeat(40)}`;
      if (at % 2 === 0) return line({ ...link, type: "user", message: { role: "user", content: text } });
      const usage = { input_tokens: 10, output_tokens: 5 };
      const content = [{ type: "text", text }];
      const message = { role: "assistant", id: `m${at}`, model: "claude-sonnet-4-5", content, usage };
      return line({ ...link, type: "assistant", message });
    });
    const { code, stdout } = await run("inspect", write("reported-small.jsonl", lines.join("")), "--json");
    expect(code).toBe(0);
    const { context, cost } = JSON.parse(stdout);
    expect(context.tokens).toBeLessThan(1_000);
    expect(cost.options.map(({ name }: { name: string }) => name)).toEqual(["nothing"]);
  });
});

describe("bad input gives a clear message and exit code 1", () => {
  it("inspect exits with 1 if the session is missing, whether named by path, by id or as `latest`", async () => {
    expectClearFailure(await run("inspect", "./missing.jsonl"), /missing\.jsonl/);
    expectClearFailure(await run("inspect", "abcdef"), /longhaul sessions/);
    expectClearFailure(await run("inspect", "latest"), /session/i);
  });

  it("inspect does not accept an id that is a path out of the sessions folder", async () => {
    expect((await run("inspect", "../../etc/passwd")).code).toBe(1);
  });

  it("inspect exits with 1 when the session path is a folder", async () => {
    mkdirSync(join(home, "folder"));
    expectClearFailure(await run("inspect", join(home, "folder")), /folder|directory/);
  });

  it("commands refuse a named pipe without a writer as a session or configuration, and ignore it as settings", async () => {
    const pipe = join(home, "pipe.jsonl");
    spawnSync("mkfifo", [pipe, join(home, "pipe-settings.json")]);
    expectClearFailure(await run("inspect", pipe), /not a regular file/);
    expectClearFailure(await run("compact", pipe, "--in-place"), /not a regular file/);
    expectClearFailure(await run("recall", pipe, "word"), /not a regular file/);
    expectClearFailure(await run("sim", "--config", pipe), /cannot read the file/);
    expectClearFailure(await run("compact", write("for-pipe.jsonl", long), "--out", pipe), /exists already/);
    mkdirSync(join(home, ".longhaul"), { recursive: true });
    spawnSync("mkfifo", [join(home, ".longhaul", "settings.json")]);
    expect((await run("inspect", write("beside-pipe.jsonl", hello))).code).toBe(0);
    rmSync(join(home, ".longhaul"), { recursive: true });
  });

  it("a compaction that exceeds a limit on file sizes leaves the session unchanged", () => {
    const path = write("limited.jsonl", long);
    const blocks = Math.ceil(long.length / 1024) + 1;
    const command = `ulimit -f ${blocks}; exec "$0" "$1" compact "$2" --force --in-place`;
    const env = { PATH: process.env.PATH ?? "", HOME: home };
    const ran = spawnSync("bash", ["-c", command, process.execPath, CLI_MAIN, path], {
      env,
      encoding: "utf8",
    });
    expectClearFailure({ code: ran.status, stdout: ran.stdout, stderr: ran.stderr }, /larger than allowed/);
    expect(readFileSync(path, "utf8")).toBe(long);
  });

  it("inspect exits with 1 for an empty file", async () => {
    expectClearFailure(await run("inspect", write("empty.jsonl", "")), /empty/);
  });

  it("inspect exits with 1 for a binary file", async () => {
    const bytes = Buffer.from(Array.from({ length: 50_000 }, (_, index) => (index * 7919) % 256));
    expectClearFailure(await run("inspect", write("binary", bytes)), /as a session: no line/);
  });

  it("compact exits with 1 for a session without messages, and inspect says that the session has none", async () => {
    const path = write(
      "titles.jsonl",
      `${JSON.stringify({ type: "summary", summary: "t", leafUuid: "x" })}\n`,
    );
    expectClearFailure(await run("compact", path, "--in-place"), /the session has no messages yet/);
    const inspected = await run("inspect", path);
    expect(inspected.code).toBe(0);
    expect(inspected.stdout).toContain("no messages");
  });

  it("the error for a session of another agent names the session's format, and the file stays unchanged", async () => {
    const codex = `${JSON.stringify({ timestamp: "2026-01-01", type: "session_meta", payload: { id: "x", cli_version: "1" } })}\n`;
    expectClearFailure(await run("inspect", write("codex.jsonl", codex)), /Codex/);
  });

  it("commands read a session with a tool input of 100,000 nested levels as far as possible", async () => {
    const deep = `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`;
    const call = line({
      type: "assistant",
      uuid: "u2",
      parentUuid: "u1",
      message: { role: "assistant", content: [{ type: "tool_use", id: "t", name: "Bash", input: "DEEP" }] },
    });
    const path = write("deep.jsonl", hello + call.replace('"DEEP"', deep));
    const before = readFileSync(path);
    const { code, stdout } = await run("inspect", path, "--json");
    expect(code).toBe(0);
    expect(JSON.parse(stdout).session).toMatchObject({ entries: 2, damage: [{ kind: "nested-too-deep" }] });
    for (const command of ["compact", "ledger", "notes"]) {
      const { stderr } = await run(command, path);
      expect(stderr).not.toMatch(/\bat .*\.js:\d+|unexpectedly/);
    }
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it("inspect escapes text-direction marks of a session in the terminal and in JSON", async () => {
    const content = "\u{1f468}\u200d\u{1f469} pay \u202e001\u202c \u2066x\u2069 \u061c\u200e\u200f";
    const path = write("bidi.jsonl", line({ type: "user", message: { role: "user", content } }));
    const marks = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
    const shown = await run("inspect", path, "--prompts");
    expect(shown.stdout).not.toMatch(marks);
    expect(shown.stdout).toContain("\\u202e001\\u202c");
    expect(shown.stdout).toContain("\u{1f468}\u200d\u{1f469}");
    const { stdout } = await run("inspect", path, "--prompts", "--json");
    expect(stdout).not.toMatch(marks);
    expect(JSON.stringify(JSON.parse(stdout))).toContain("\u202e001\u202c");
    expect((await run("inspect", "no\u202esuch")).stderr).not.toMatch(marks);
  });

  it("a command with --json prints its failure as JSON", async () => {
    const { stdout } = await run("inspect", write("empty2.jsonl", ""), "--json");
    expect(JSON.parse(stdout).error).toMatchObject({ code: "session-empty" });
  });
});

describe("session files with damaged lines", () => {
  const damageOf = async (path: string): Promise<string[]> =>
    JSON.parse((await run("inspect", path, "--json")).stdout).session.damage.map(
      (item: { kind: string }) => item.kind,
    );

  it("inspect skips and counts an incomplete last line of a session", async () => {
    expect(await damageOf(write("torn.jsonl", `${hello}{"type":"assistant","mess`))).toEqual([
      "torn-last-line",
    ]);
  });

  it("inspect reads a session with invalid UTF-8 and counts the damage", async () => {
    const bad = Buffer.concat([
      Buffer.from(hello.replace('hello"', "hel")).subarray(0, -4),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('"}}\n'),
    ]);
    const path = write("utf8.jsonl", Buffer.concat([Buffer.from(hello), bad]));
    expect((await damageOf(path)).length).toBeGreaterThan(0);
  });

  it("inspect reads a session line of 50 MB", async () => {
    const text = "a word and another ".repeat(2_760_000);
    const path = write(
      "huge.jsonl",
      hello + line({ uuid: "u2", parentUuid: "u1", type: "user", message: { role: "user", content: text } }),
    );
    const { code, stdout } = await run("inspect", path, "--json");
    expect(code).toBe(0);
    expect(JSON.parse(stdout).context.tokens).toBeGreaterThan(5_000_000);
    rmSync(path);
  });
});

describe("compact --in-place writes the whole compaction or nothing", () => {
  it("compact --in-place refuses a read-only session, even for root", async () => {
    const path = write("readonly.jsonl", long);
    chmodSync(path, 0o400);
    expectClearFailure(await run("compact", path, "--in-place"), /read-only/);
    expect(readFileSync(path, "utf8")).toBe(long);
  });

  it.skipIf(process.platform !== "linux")(
    "compact --in-place reports a full disk and leaves the file unchanged",
    async () => {
      const path = write("full.jsonl", long);
      const blocks = Math.floor(Buffer.byteLength(long) / 1024) + 2;
      // A limit on file size makes a write fail in the middle, like a full disk. Setting the limit needs no
      // privileges.
      const command = `ulimit -f ${blocks}; exec "$0" --import "$1" "$2" compact "$3" --in-place`;
      const survive = "data:text/javascript,process.on('SIGXFSZ', () => {})";
      const result = spawnSync("bash", ["-c", command, process.execPath, survive, CLI_MAIN, path], {
        encoding: "utf8",
        env: { PATH: process.env.PATH ?? "", HOME: home },
      });
      expect(result.status).toBe(1);
      expect(result.stderr).toMatch(/not written/);
      expect(readFileSync(path, "utf8")).toBe(long);
    },
  );
});
