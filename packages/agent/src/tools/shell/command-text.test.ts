import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../../../../test/transcript/temporary-folder.ts";
import { ruleAllows } from "../../permissions/permissions.ts";
import { commandKey } from "./command-text.ts";

const folder = temporaryFolder();

describe("commandKey", () => {
  it.each([
    ["npm test", "shell:npm test"],
    ["npm test -- --run src/a.test.ts", "shell:npm test"],
    ["  npm   test  ", "shell:npm test"],
    ["npm run build", "shell:npm run build"],
    ["npm run build:prod -- --fast", "shell:npm run build:prod"],
    ["git status", "shell:git status"],
    ["git status -s", "shell:git status"],
    ['git commit -m "fix: a thing"', "shell:git commit"],
    ["git diff HEAD src/a.ts", "shell:git diff"],
    ["ls -la src", "shell:ls"],
    ["cat 'a file.txt'", "shell:cat"],
    ["cargo test --release", "shell:cargo test"],
    ["make test -j4", "shell:make test"],
    ["grep -o x -C 3 a.txt", "shell:grep"],
    ["python -m pytest -q tests", "shell:python -m pytest"],
    ["tsc --noEmit -p .", "shell:tsc"],
  ])(
    "for the command %s, the permission key %s contains only the first words, because they decide the effect",
    (command, key) => {
      expect(commandKey(command)).toMatchObject({ key, scope: `commands that begin with ${key.slice(6)}` });
    },
  );

  it.each([
    "rm -rf build",
    "curl localhost:3000",
    "npm install left-pad",
    "git push --force",
    "git checkout main",
    "node scripts/setup.mjs",
    "./gradlew build",
    "mytool do it",
    "constructor x",
    "npm run --silent build",
    "make test deploy",
    "make test -k deploy",
    "just test deploy",
    "deno test -A",
  ])("the command %s gets a permission key with all its words", (command) => {
    expect(commandKey(command)).toEqual({ key: `shell:${command}`, scope: "exactly this command" });
  });

  it.each([
    "npm test; rm -rf x",
    "npm test && rm x",
    "npm test || rm x",
    "npm test | sh",
    "npm test & rm x",
    "npm test\nrm x",
    "npm test\r\nrm x",
    "npm test $(rm x)",
    "npm test `rm x`",
    'npm test "$(rm x)"',
    'npm test "a;b"',
    "npm test 'a;b'",
    "npm test > file",
    "npm test 2>&1",
    "npm test < file",
    "npm test <(rm x)",
    "npm test $HOME",
    "npm test \\; rm",
    "npm test {a,b}",
    "npm test *",
    "npm test ~",
    "npm test # comment",
    "npm test !x",
    "npm test %PATH%",
    "npm test ^& del x",
    "npm test 'open",
    'npm test "open',
    "npm test \u0000",
    "npm test \u001b[31m",
    "npm\ttest",
    "PATH=/tmp npm test",
    "PATH=/tmp",
    "(npm test)",
    "! npm test",
    '"npm" test',
    "n'p'm test",
    "ηpm test",
    "",
    "   ",
  ])("the command %j gets an exact permission key, because a shell could run several commands", (command) => {
    expect(commandKey(command)).toEqual({
      key: `shell-exact:${command}`,
      scope: "exactly this command",
    });
  });

  it.each([
    "sudo npm test",
    "env npm test",
    "/usr/bin/env npm test",
    "xargs rm",
    "sh -c ls",
    "bash script.sh",
    "./bin/bash x",
    "cmd.exe /c dir",
    "timeout 5 npm test",
    "nohup npm test",
    "time ls",
    "eval ls",
    "exec ls",
    "command ls",
    "source x.sh",
    ". x.sh",
    "find . -exec rm x +",
    "find . -name x",
    "node -e 1",
    "node --eval 1",
    "node '-e' 1",
    "python -c pass",
    "python3 -m http.server",
    "perl -e 1",
    "ruby -e 1",
    "awk 1 file",
    "sed -n 1p file",
    "npx tsc",
    "npm exec tsc",
    "yarn dlx x",
    "docker run x",
    "ssh host ls",
    "git -c core.pager=x log",
    "git rebase --exec x",
    "git bisect run x",
    "git log --ext-diff",
    "git diff '--ext-diff'",
    "git log --output=/tmp/x",
    "git fetch --upload-pack=x",
    "npm test --script-shell=./x",
    "npm --prefix x test",
    "go test -exec x",
    "go vet -vettool=x",
    "cargo test --config x",
    "make test SHELL=/tmp/x",
    "make -f other test",
    "make test -f other",
    "make test --eva=x",
    "make test -C other",
    'make test "SHELL"=/tmp/x',
    "make test SHELL:=/tmp/x",
    "just test -f other",
    "npm 'exec' tsc",
    "npm test --prefix /tmp/x",
    "npm test -C /tmp/x",
    "npm view x --registry=http://example.org",
    "yarn test --cwd /tmp/x",
    "cargo test --manifest-path=/tmp/x/Cargo.toml",
    "go build -ldflags=-extld=/tmp/x",
    "go build -o /home/x/.profile",
    "eslint -o /home/x/.profile",
    "mypy --install-types --non-interactive x.py",
    "pytest -p plugin --config-file=x",
  ])("the command %s gets an exact permission key, because it can run other commands", (command) => {
    expect(commandKey(command).key).toBe(`shell-exact:${command}`);
  });
});

const plain = fc.constantFrom(
  ...["npm test", "git status", "ls", "cat a", "npm run x", "make all", "echo", "rm a"],
);
/** Text that joins, hides or replaces commands in some shell. */
const joint = fc.constantFrom(
  ...[";", "&", "&&", "|", "||", "\n", "\r", "$(", "`", "<", ">", "<(", ">>", "\\", "$", "(", ")", "{", "}"],
  ...["#", "!", "~", "*", "?", "[", "]", "%", "^", "\u0000", "\t", "\u0085", "\u2028"],
);
const text = fc.string({ unit: fc.constantFrom(..."ab -=/.\"'"), maxLength: 12 });

describe("keys of generated commands", () => {
  it("no permission rule for the beginning of a command allows several joined commands", () => {
    fc.assert(
      fc.property(plain, text, joint, text, (begin, before, sign, after) => {
        const command = `${begin} ${before}${sign}${after}`;
        const { key } = commandKey(command);
        expect(key).toBe(`shell-exact:${command}`);
        for (const rule of ["shell:*", `shell:${begin}*`, `shell:${begin}`])
          expect(ruleAllows(rule, key)).toBe(false);
      }),
    );
  });

  it("a command whose permission key is not exact begins with exactly the words of the key", () => {
    fc.assert(
      fc.property(plain, text, (begin, rest) => {
        const command = `${begin} ${rest}`;
        const { key } = commandKey(command);
        if (!key.startsWith("shell:")) return;
        const words = key.slice("shell:".length).split(" ");
        expect(command.trim().split(/ +/).slice(0, words.length)).toEqual(words);
      }),
    );
  });

  it.skipIf(process.platform === "win32")(
    "bash runs a command as one simple command whenever its permission key is not exact",
    () => {
      const odd = fc.string({
        unit: fc.constantFrom(..."ab -=/.\"'@:,+;&|$(){}`<>\\#!~*\n\t"),
        maxLength: 10,
      });
      const candidates = fc.sample(
        fc.tuple(plain, odd, odd).map((parts) => parts.join(" ")),
        3_000,
      );
      const shared = candidates.filter((command) => commandKey(command).key.startsWith("shell:"));
      expect(shared.length).toBeGreaterThan(50);
      // The trap runs before each simple command. Without a PATH, no program is found.
      const script = `PATH=; for c in "$@"; do ( n=0; trap 'n=$((n+1))' DEBUG; eval "$c"; trap - DEBUG; echo "count:$n" ) 2>/dev/null; done`;
      const output = execFileSync("bash", ["-c", script, "bash", ...shared], {
        cwd: folder,
        encoding: "utf8",
      });
      // Counts the eval itself, the command that it evaluates, and the end of the trap.
      expect(new Set(output.match(/^count:.*$/gm))).toEqual(new Set(["count:3"]));
    },
  );
});
