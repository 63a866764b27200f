import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { CLI_MAIN } from "../support/cli.ts";

const TURNS = 300;

describe("longhaul chat --demo where nobody watches", () => {
  it(`runs for ${TURNS} turns in its window of 32,000 tokens by itself, as lines that nobody is asked in`, async () => {
    // Ends with an error unless it exits with 0.
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
    expect(stdout).toContain("No request was refused, and nothing that was said is lost.");
    const lines = stdout.split("\n");
    expect(lines.filter((line) => line.startsWith("> "))).toEqual([]);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what steers a terminal begins with one.
    expect(stdout).not.toMatch(/\u001b/);
  });
});
