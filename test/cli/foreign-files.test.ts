import { mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runCli } from "../support/cli.ts";
import { FOREIGN_FILES } from "../support/foreign-files.ts";
import { temporaryFolder } from "../transcript/temporary-folder.ts";

const home = temporaryFolder();
mkdirSync(join(home, ".longhaul"));

/** Every command form that takes a session. */
const COMMANDS: readonly (readonly string[])[] = [
  ["inspect", "FILE"],
  ["inspect", "FILE", "--prompts"],
  ["compact", "FILE"],
  ["compact", "FILE", "--in-place"],
  ["compact", "FILE", "--in-place", "--from-notes"],
  ["compact", "FILE", "--out", "FOLDER/new.jsonl"],
  ["clear", "FILE", "--in-place"],
  ["undo", "FILE", "--in-place"],
  ["undo", "FILE", "--list"],
  ["notes", "FILE"],
  ["notes", "FILE", "--rebuild"],
  ["notes", "FILE", "--path"],
  ["ledger", "FILE"],
  ["recall", "FILE", "hello"],
  ["recall", "FILE", "--id", "u1"],
  ["eval", "FILE"],
  ["replay", "FILE", "--svg", "FOLDER/chart.svg"],
  ["chat", "-p", "hello", "--resume", "FILE"],
];

/**
 * Returns every file and folder inside a folder. Each has its modification time, and each file also has its
 * content.
 */
function stateOf(folder: string): readonly unknown[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .sort()
    .map((name) => {
      const path = join(folder, name);
      const facts = statSync(path);
      return [name, facts.mtimeMs, facts.isFile() ? readFileSync(path).toString("base64") : null];
    });
}

// No server listens at this address. If a command called a model, it would fail with another error.
const env = { ANTHROPIC_API_KEY: "any", ANTHROPIC_BASE_URL: "http://127.0.0.1:9" };
const samples = FOREIGN_FILES.filter(({ file }) =>
  /^(?:gemini|qwen)\.jsonl$|^opencode\.db$|^cline/.test(file),
);

it.each(samples)(
  "every command refuses $file, names the format of the file, and leaves the folder unchanged",
  async (sample) => {
    const folder = mkdtempSync(join(home, "f-"));
    const path = join(folder, sample.file);
    writeFileSync(path, sample.bytes);
    mkdirSync(join(folder, "beside"));
    const before = [stateOf(folder), stateOf(join(home, ".longhaul"))];
    const run = async (command: readonly string[]): Promise<void> => {
      const args = command.map((word) => word.replace("FILE", path).replace("FOLDER", folder));
      const { code, stderr, stdout } = await runCli(args, { home, env });
      expect({ command, code, stdout }).toEqual({ command, code: 1, stdout: "" });
      expect(stderr).toMatch(sample.name);
      expect(stderr).toMatch(/longhaul cannot read \S+ yet/);
    };
    for (let nth = 0; nth < COMMANDS.length; nth += 3)
      await Promise.all(COMMANDS.slice(nth, nth + 3).map(run));
    expect([stateOf(folder), stateOf(join(home, ".longhaul"))]).toEqual(before);
  },
);
