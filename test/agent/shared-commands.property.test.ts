import { execFile } from "node:child_process";
import { existsSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import fc from "fast-check";
import { expect, it } from "vitest";
import { commandNeed } from "../../packages/agent/src/tools/shell/command-need.ts";
import { safeGit } from "../../packages/agent/src/tools/shell/safe-git.ts";
import { pathRules } from "../../packages/agent/src/workplace/path-rules.ts";
import { type HostileWorld, hostileWorld, SECRET } from "./hostile-world.case.ts";

const programs = fc.constantFrom(
  ...[
    "cat",
    "head",
    "tail",
    "grep CANARY",
    "grep -e CANARY",
    "diff",
    "wc",
    "ls",
    "du",
    "stat",
    "cmp",
    "echo",
  ],
  ...[
    "git diff",
    "git status",
    "git log",
    "git show",
    "git blame",
    "git ls-files",
    "git add",
    "git rev-parse",
  ],
);
const names = fc.constantFrom(
  ...[
    "a.txt",
    "src",
    ".",
    "..",
    "src/app.ts",
    ".env",
    "certs",
    "certs/server.key",
    "link-out",
    "link-out/file.txt",
  ],
  ...[
    "readme-link",
    "house",
    "house/.ssh/id_rsa",
    "../outside/file.txt",
    "src/..",
    "up/../../outside/file.txt",
  ],
  ...[":", ":.", ":certs", "-e", "-key", "twin.txt", "/etc/passwd", "HEAD", "HEAD:.env", "@", "--", "-"],
);
const options = fc.constantFrom(
  ...[
    "-r",
    "-R",
    "-rn",
    "--rec",
    "--recursive",
    "-N",
    "-f",
    "-L",
    "-n",
    "-n5",
    "-c9",
    "-v",
    "-l",
    "-a",
    "--all",
    "-p",
  ],
  ...[
    "--no-index",
    "--no-ind",
    "--textconv",
    "-wS.env",
    "-F.env",
    "--contents",
    "--files0-from=.env",
    "--fil=.env",
  ],
  ...[
    "--exclude-from=.env",
    "-X.env",
    "-O.env",
    "--help",
    "--output=x",
    "--out=x",
    "--stat",
    "--cached",
    "-u",
    "-s",
  ],
);
const command = fc
  .tuple(programs, fc.array(fc.oneof(names, names, options), { maxLength: 4 }))
  .map(([program, words]) => [program, ...words].join(" "));

/**
 * Runs the command and returns its output. The test does not rely on the permission rules, so it searches
 * this output for secrets.
 */
async function outputOf(text: string, world: HostileWorld): Promise<string> {
  const { command: run, environment } = safeGit(text) ?? { command: text, environment: {} };
  const options = { cwd: world.project, env: { ...process.env, ...environment }, timeout: 5_000 };
  return await promisify(execFile)("bash", ["-c", `${run} < /dev/null`], options).then(
    ({ stdout, stderr }) => stdout + stderr,
    (error: { stdout?: string; stderr?: string }) => `${error.stdout ?? ""}${error.stderr ?? ""}`,
  );
}

it.skipIf(process.platform === "win32")(
  "a command that one permission allows with any arguments prints no secrets and writes no file",
  async () => {
    await using world = await hostileWorld();
    symlinkSync(".", join(world.project, "up"));
    symlinkSync("../home/.ssh/id_rsa", join(world.project, "-key"));
    const place = { cwd: world.project, paths: pathRules({ cwd: world.project, home: world.home }) };
    let shared = 0;
    for (const text of new Set(fc.sample(command, 600))) {
      const { key } = await commandNeed(place, { command: text, line: text, isBackground: false });
      if (key.startsWith("shell-exact:") || key === `shell:${text}`) continue;
      shared += 1;
      const output = await outputOf(text, world);
      expect(output.includes(SECRET) ? text : "").toBe("");
      expect(existsSync(join(world.project, "x")) ? text : "").toBe("");
    }
    expect(shared).toBeGreaterThan(40);
  },
);
