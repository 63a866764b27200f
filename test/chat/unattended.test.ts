import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { CLI_MAIN } from "../support/cli.ts";

const TURNS = 300;

describe("longhaul chat --demo without a user", () => {
  it(`chat --demo runs ${TURNS} turns unattended in a window of 32,000 tokens, without questions`, async () => {
    // The promise rejects unless the program exits with 0.
    const running = promisify(execFile)(
      process.execPath,
      [CLI_MAIN, "chat", "--demo", "--turns", String(TURNS)],
      {
        env: { PATH: process.env.PATH ?? "" },
        maxBuffer: 64 * 1024 * 1024,
      },
    );
    running.child.stdin?.end();
    const { stdout } = await running;

    expect(stdout).toContain("A window of 32,000 tokens");
    expect(stdout).toMatch(/requests +\d+, 0 refused/);
    expect(stdout).toMatch(/compactions +\d+ from notes, \d+ by summary/);
    expect(stdout).toContain("No request was refused, and no message is lost.");
    const lines = stdout.split("\n");
    expect(lines.filter((line) => line.startsWith("> "))).toEqual([]);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what steers a terminal begins with one.
    expect(stdout).not.toMatch(/\u001b/);
  });
});
