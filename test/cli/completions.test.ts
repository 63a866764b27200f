import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { hasNoPty, type Pty, startPty } from "../chat/pty.case.ts";
import { ConversationBuilder } from "../support/builders.ts";
import { CLI_MAIN, runCli } from "../support/cli.ts";
import { temporaryFolder } from "../transcript/temporary-folder.ts";

const home = temporaryFolder();
const bin = join(home, "bin");
const store = join(home, ".claude", "projects", "-p");
mkdirSync(bin);
mkdirSync(store, { recursive: true });
writeFileSync(join(bin, "longhaul"), `#!/bin/sh\nexec '${process.execPath}' '${CLI_MAIN}' "$@"\n`, {
  mode: 0o755,
});
const talk = new ConversationBuilder();
talk.user("Which berth is free?");
talk.assistant("N3");
writeFileSync(
  join(store, "5e551044-berth.jsonl"),
  talk.entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""),
);
mkdirSync(join(home, "harbor-folder"));
writeFileSync(join(home, "harbor-file.jsonl"), "");

const env = { PATH: `${bin}:${process.env.PATH ?? ""}`, HOME: home, TERM: "xterm" };

/** Returns true if a shell is missing. Also prints that its tests are skipped. */
function isMissing(shell: string): boolean {
  const isFound = spawnSync(shell, ["-c", "exit 0"], { env }).status === 0;
  if (!isFound) process.stderr.write(`Completion in ${shell} is not tested: ${shell} is not installed.\n`);
  return !isFound;
}

function outputOf(shell: string, ...args: readonly string[]): readonly string[] {
  const { stdout, stderr } = spawnSync(shell, args, { env, cwd: home, encoding: "utf8" });
  expect(stderr).toBe("");
  return stdout.split("\n").filter((line) => line !== "");
}

/** Pairs of words before the cursor and the candidates that complete the last word. */
const CASES: readonly (readonly [words: readonly string[], candidates: readonly string[]])[] = [
  [["led"], ["ledger"]],
  [["co"], ["compact", "completions"]],
  [
    ["inspect", "--pr"],
    ["--project", "--prompts"],
  ],
  [
    ["completions", ""],
    ["bash", "fish", "zsh"],
  ],
  [
    ["ledger", "--kind", "d"],
    ["decision", "directive"],
  ],
  [["chat", "--output-format", "j"], ["json"]],
  [["replay", "--policies", "keep"], ["keep-last"]],
  [["inspect", "5"], ["5e551044"]],
  [["inspect", "--json", "lat"], ["latest"]],
  [["recall", "latest", "wor"], []],
  [["recall", "--all-s"], ["--all-sessions"]],
  [["recall", "--all-projects", "lat"], []],
  [["compact", "latest", "--project", "harbor"], ["harbor-folder"]],
  [["compact", "latest", "--out", "harbor-fi"], ["harbor-file.jsonl"]],
  [["chat", "--resume", "5e"], ["5e551044"]],
];

describe.skipIf(process.platform === "win32" || isMissing("bash"))(
  "completion of longhaul commands in bash",
  () => {
    const complete = (...words: readonly string[]): readonly string[] =>
      outputOf(
        "bash",
        "--norc",
        "-c",
        // biome-ignore lint/suspicious/noTemplateCurlyInString: bash expands it.
        'eval "$(longhaul completions bash)"; COMP_WORDS=(longhaul "$@"); COMP_CWORD=$#; _longhaul longhaul; printf "%s\\n" "${COMPREPLY[@]}"',
        "bash",
        ...words,
      );

    it.each(CASES)("bash completes longhaul %j to %j", (words, candidates) => {
      expect([...complete(...words)].sort()).toEqual(candidates);
    });

    it("bash completes the value of an option after an equals sign", () => {
      expect(complete("ledger", "--kind", "=", "t")).toEqual(["todo"]);
      expect(complete("ledger", "--kind", "=")).toContain("directive");
    });

    it("the bash script registers its completion for longhaul", () => {
      const registered = outputOf(
        "bash",
        "--norc",
        "-c",
        'eval "$(longhaul completions bash)"; complete -p longhaul',
      );
      expect(registered).toEqual(["complete -F _longhaul longhaul"]);
    });
  },
);

describe.skipIf(process.platform === "win32" || isMissing("fish"))(
  "completion of longhaul commands in fish",
  () => {
    const complete = (...words: readonly string[]): readonly string[] =>
      outputOf(
        "fish",
        "--no-config",
        "-c",
        `longhaul completions fish | source; complete -C "longhaul ${words.join(" ")}"`,
      );

    it.each(CASES)("fish completes longhaul %j to %j", (words, candidates) => {
      const values = complete(...words).map((line) => line.split("\t")[0]?.replace(/\/$/, ""));
      expect([...values].sort()).toEqual(candidates);
    });

    it("fish describes commands by their help text, and sessions by their title or first prompt", () => {
      expect(complete("led")).toEqual(["ledger\tshow which facts the compactions kept"]);
      expect(complete("inspect", "5")).toEqual(["5e551044\tWhich berth is free?"]);
    });
  },
);

describe.skipIf(hasNoPty || isMissing("zsh"))("completion of longhaul commands in zsh", () => {
  const ptys: Pty[] = [];
  afterEach(async () => {
    await Promise.all(ptys.splice(0).map((pty) => pty.close()));
  });

  async function shell(): Promise<Pty> {
    const pty = startPty("zsh", ["-f", "-i"], { cwd: home, env, cols: 100, rows: 40 });
    ptys.push(pty);
    pty.type("PS1='ready> '; autoload -U compinit; compinit -u -d $HOME/.zdump; clear");
    pty.press("enter");
    await pty.waitFor(/^ready>\s*$/m);
    pty.type('eval "$(longhaul completions zsh)"; clear; echo lo""aded');
    pty.press("enter");
    await pty.waitFor(/^loaded/m);
    return pty;
  }

  const typed = async (words: string, wanted: string | RegExp): Promise<string> => {
    const pty = await shell();
    pty.type(`longhaul ${words}`);
    pty.press("tab");
    return await pty.waitFor(wanted);
  };

  /** The first Tab completes the common beginning of the candidates. The second Tab lists the candidates. */
  const listed = async (words: string, common: RegExp, wanted: RegExp): Promise<string> => {
    const pty = await shell();
    pty.type(`longhaul ${words}`);
    pty.press("tab");
    await pty.waitFor(common);
    pty.press("tab");
    return await pty.waitFor(wanted);
  };

  it("zsh completes a command, an option and a value in the line", async () => {
    await typed("led", /longhaul ledger$/m);
    await typed("ledger --ki", /longhaul ledger --kind$/m);
    await typed("ledger --kind=to", "longhaul ledger --kind=todo");
  });

  it("zsh lists commands with their help text, and sessions with their first prompt", async () => {
    expect(await listed("co", /longhaul comp$/m, /completions +-- /)).toMatch(
      /compact +-- summarize the older part/,
    );
    await typed("inspect 5", "longhaul inspect 5e551044");
    expect(await typed("inspect ", /latest +-- /)).toMatch(/5e551044 +-- Which berth is free\?/);
  });

  it("zsh completes a folder when an option needs one", async () => {
    await typed("compact latest --project har", "--project harbor-folder/");
  });
});

it("longhaul completions rejects an unsupported shell, and names the supported ones", async () => {
  const { code, stderr } = await runCli(["completions", "tcsh"], { home });
  expect(code).toBe(2);
  expect(stderr).toContain("bash, zsh, fish");
});
