import { describe, expect, it } from "vitest";
import { failedElsewhere, outcomeText, programKey, programOf, readCommand } from "./command-runs.ts";

const read = (command: string, output = "", isError = false) =>
  readCommand(1, command, undefined, output, isError);

describe("readCommand", () => {
  it.each([
    ["cd src && npm test", "test"],
    ["go test ./... 2>&1 | tail -5", "test"],
    ['git commit -m "fix the test"', "commit"],
    ["git push origin main", "push"],
    ["npx tsc --noEmit", "check"],
    ["cargo build --release", "build"],
    ['echo "run the test"', "other"],
    ["ls src/test-data", "other"],
  ] as const)("classifies the command %s as %s", (command, kind) => expect(read(command).kind).toBe(kind));

  it("shows a shell command on one line, without cd, variables, redirections and comments", () => {
    const command = 'cd "/a b/c" && X=1; # note\n# comment\nnpm run build 2>&1';
    expect(read("cd /a && npm test").command).toBe("npm test");
    expect(read('cd "/a b/c" && X=1; npm run build 2>&1').command).toBe("npm run build");
    expect(read(command).command).not.toContain("# comment");
  });

  it("recognizes a failed command by exit code, error flag or the output of a piped test", () => {
    expect(read("make x", "Exit code 2\nboom").failed).toBe(true);
    expect(read("make x", "boom", true).failed).toBe(true);
    expect(read("go test ./... | tail", "--- FAIL: TestA (0.00s)\nFAIL").failed).toBe(true);
    expect(read("npm test", "Tests  1 failed | 3 passed (4)").failed).toBe(true);
    expect(read("npm test", "Error: 2 tests failed").failed).toBe(true);
    expect(read("npm test", "Tests  4 passed (4), 0 failed").failed).toBe(false);
    expect(read("cat error.log", "error: not ours").failed).toBe(false);
  });

  it.each([
    ["npm test", "Tests  12 passed (12)", "Tests 12 passed (12)"],
    ["pytest", "===== 3 failed, 9 passed in 1.2s =====", "3 failed, 9 passed in 1.2s"],
    ["mix test", "59 tests, 0 failures", "59 tests, 0 failures"],
    [
      "cargo test",
      "test result: ok. 5 passed; 0 failed; 0 ignored",
      "test result: ok. 5 passed; 0 failed; 0 ignored",
    ],
    ["go test ./...", "ok  \ta/b\t0.1s\nok  \ta/c\t0.1s", "2 packages ok"],
    ["go test ./a/b && go test ./...", "ok  \ta/b\t0.1s\nok  \ta/b\t0.1s\nok  \ta/c\t0.1s", "2 packages ok"],
    ["git commit -m x", "[main 1a2b3c4] fix: the thing\n 1 file changed", 'commit 1a2b3c4 "fix: the thing"'],
    ["gh pr create", "https://example.com/o/r/pull/17", "https://example.com/o/r/pull/17"],
  ])("extracts the outcome of the command %s", (command, output, outcome) =>
    expect(read(command, output).outcome).toBe(outcome),
  );

  it("finds a commit that only the output of git log shows", () => {
    expect(read("git commit -q -m x && git log -1", "055ca502 test: pin the output").commits).toEqual([
      { id: "055ca502", subject: "test: pin the output" },
    ]);
    expect(read("git commit -m x", "nothing to commit").commits).toEqual([]);
  });

  it("pairs the commits of a line with their own ids, or shows no id", () => {
    const line =
      "git add a.ts && git commit -q -m 'feat: the cart'; git add b.ts && git commit -q -m 'docs: the list'";
    const log = "2b3c4d5 docs: the list\n1a2b3c4 feat: the cart\n0a1b2c3 chore: something older";
    expect(read(`${line}; git log --oneline -3`, log)).toMatchObject({
      outcome: '2 commits, the last one 2b3c4d5 "docs: the list"',
      commits: [
        { id: "1a2b3c4", subject: "feat: the cart" },
        { id: "2b3c4d5", subject: "docs: the list" },
      ],
    });
    expect(read(`${line}; git log --oneline -1`, "0a1b2c3 chore: something older").outcome).toBeUndefined();
    expect(read(line, "[main 1a2b3c4] feat: the cart\n[main 2b3c4d5] docs: the list").outcome).toBe(
      '2 commits, the last one 2b3c4d5 "docs: the list"',
    );
  });

  it.each([
    ["git status", "On branch shop\nnothing to commit", "shop"],
    ["git commit -m x", "lint: ok\n[shop/cart 1a2b3c4] feat: x", "shop/cart"],
    [
      "git checkout -b shop && git checkout main",
      "Switched to a new branch 'shop'\nSwitched to branch 'main'",
      "main",
    ],
    ["git commit -m x", "[detached HEAD 1a2b3c4] feat: x", undefined],
    ["git -C ../other status", "On branch other", undefined],
    ["cat notes.txt", "On branch shop", undefined],
  ])("reads the branch from the output of %s: %j", (command, output, branch) => {
    expect(read(command, output).branch).toBe(branch);
  });

  it("counts all commits that one command made, oldest first", () => {
    const twice = 'git add a && git commit -m "feat: a" && git add b && git commit -m "feat: b"';
    const said = "[main 1a2b3c4] feat: a\n 1 file changed\n[main 2b3c4d5] feat: b\n 1 file changed";
    expect(read(twice, said).commits.map(({ id }) => id)).toEqual(["1a2b3c4", "2b3c4d5"]);
    expect(read(twice, said).outcome).toBe('2 commits, the last one 2b3c4d5 "feat: b"');
    const quiet = "git commit -q -F a.txt\ngit commit -q -F b.txt\ngit log --oneline -4";
    const log = ["b", "a", "old", "older"].map((name, index) => `1a2b3c${index} feat: the ${name} part`);
    expect(read(quiet, log.join("\n")).commits.map(({ id }) => id)).toEqual(["1a2b3c1", "1a2b3c0"]);
  });

  it.each([
    ["git commit --amend --no-edit", 1],
    ["git reset --soft HEAD~1 && git commit --amend --no-edit", 2],
    ["git commit -m a && git commit --amend --no-edit", 0],
    ["git reset HEAD~2", 2],
    ["git reset --hard HEAD^^", 2],
    ["git reset --hard origin/main", Number.POSITIVE_INFINITY],
    ["git branch next && git reset --hard HEAD~2 && git checkout next", 0],
    ["git rebase main", Number.POSITIVE_INFINITY],
    ["git rebase --abort", 0],
    ["git reset src/cart.ts", 0],
    ["git reset --hard HEAD", 0],
    ["git commit -m 'git reset HEAD~1'", 0],
  ])("tells how many older commits the command %s removes", (command, dropped) =>
    expect(read(command, "[main 1a2b3c4] feat: a").dropped).toBe(dropped),
  );

  it("identifies a shell command by its program and subcommand", () => {
    expect(programOf("go test -v ./x")).toBe("go test");
    expect(programOf("NODE_ENV=x npx vitest run")).toBe("vitest");
    expect(programKey(read("gofmt -l . && go test ./... | tail"))).toBe("test go test");
  });

  it.each([
    ["npm test", "Exit code 143\nCommand timed out after 2m 0.0s", "timed-out", " → timed out"],
    ["timeout 5 npm test", "Exit code 124\n", "timed-out", " → timed out"],
    ["npm test", "[Request interrupted by user for tool use]", "interrupted", " → interrupted"],
    [
      "npm test",
      "Command running in background with ID: bash_1",
      "background",
      " → started in the background",
    ],
    [
      "npm test",
      "[No result: this tool call was interrupted before it was answered]",
      "no-result",
      " → no result",
    ],
    ["npm test | tail -2", "Done in 2s", "unknown", " → exit code not seen, 1 line of output: Done in 2s"],
    [
      "npx vitest run | tail -4",
      "      Tests  4 passed (4)",
      "unknown",
      " → whole result not seen (Tests 4 passed (4))",
    ],
    ["go test ./x", "ok  \tx\t0.1s [no tests to run]", "nothing", " → ran no tests"],
    ["npx playwright test | tail -9", "  ✘  1 a.spec.ts:3:1 › adds (7ms)", "failed", " → FAILED"],
    [
      "npm test; echo done",
      "Tests:       1 failed, 3 passed, 4 total\ndone",
      "failed",
      " → FAILED (Tests: 1 failed, 3 passed, 4 total)",
    ],
    [
      "go test ./a; go test ./a",
      "FAIL\ta\t0.1s\nFAIL\nok  \ta\t0.1s",
      "mixed",
      " → some runs FAILED, the last passed (1 package failed, 1 package ok)",
    ],
    // A pipe hides the exit code.
    ["npx tsc --noEmit 2>&1 | head -5", "", "passed", " → no output, exit code not seen"],
    ["mix format && mix compile | tail -5", "", "passed", " → no output, exit code not seen"],
    ["npx tsc --noEmit", "", "passed", " → ok"],
    [
      "go test ./a; go test ./a",
      "ok  \ta\t0.1s\nFAIL\ta\t0.1s\nFAIL",
      "mixed",
      " → some runs FAILED, others passed (1 package failed, 1 package ok)",
    ],
    ["npx eslint . 2>&1 | head -1", "", "unknown", " → no output, exit code not seen"],
    ["npx tsc --noEmit 2>&1 | grep src", "", "unknown", " → no matching lines"],
    [
      "npx eslint . 2>&1 | grep src",
      "src/a.ts\nsrc/a.ts:3:1 error: missing name\nsrc/b.ts",
      "unknown",
      " → exit code not seen, 3 lines of output: src/a.ts:3:1 error: missing name",
    ],
    [
      "cd web && go build -o /tmp/a . && echo 'built ok'\n/tmp/a --version",
      "built ok\n1.0",
      "passed",
      " → ok",
    ],
    [
      "go build -o /tmp/a . && echo 'built ok'\nfor i in 1 2; do /tmp/a; done",
      "built ok\n1.0",
      "passed",
      " → ok",
    ],
    [
      "go build -o /tmp/a . | tail -3 && echo 'built ok'; ls",
      "built ok",
      "unknown",
      " → exit code not seen, 1 line of output: built ok",
    ],
    [
      "npx tsc --noEmit > log.txt 2>&1; ls",
      "log.txt",
      "unknown",
      " → exit code not seen, 1 line of output: log.txt",
    ],
    ["git push", "Everything up-to-date", "passed", " → nothing to push"],
    ["ls", "a b", "passed", ""],
  ])("reads the command %j with the output %j as %s", (command, output, state, text) => {
    const run = readCommand(1, command, undefined, output, output.startsWith("Exit code"));
    expect([run.state, outcomeText(run)]).toEqual([state, text]);
  });

  it("reports a command without a result as such, never as ok", () => {
    expect(outcomeText(readCommand(1, "npm test"))).toBe(" → no result");
    expect(outcomeText(readCommand(1, "ls"))).toBe(" → no result");
  });

  it("blames the step that failed, and not a test that did not run", () => {
    const broken = readCommand(
      1,
      "go build ./... && go test ./...",
      undefined,
      "Exit code 1\n# x\n./a.go:3:1: undefined: b",
      true,
    );
    expect(broken.runs.map(({ state }) => state)).toEqual(["failed", "unknown"]);
    const missing = readCommand(
      1,
      "sed -i s/a/b/ x.go && go test ./...",
      undefined,
      "Exit code 2\nsed: can't read x.go",
      true,
    );
    expect([missing.failed, failedElsewhere(missing)]).toEqual([true, true]);
  });

  it("trusts a known exit code more than a log line that looks like a failure", () => {
    expect(read("npm test", "Task 2 failed: retry\n 9 pass\n 0 fail\nRan 9 tests across 1 file.").state).toBe(
      "passed",
    );
  });

  it("shows the directory of a run outside the working directory", () => {
    const shown = (command: string) => readCommand(1, command, undefined, "", false, "/p").command;
    expect(shown("cd /p && npm test")).toBe("npm test");
    expect(shown("cd /p/web && npm test")).toBe("cd web && npm test");
  });
});
