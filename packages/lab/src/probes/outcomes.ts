import { type CallTurn, commandOf, type ToolRun } from "./read-session.ts";
import { type SessionView, SHOWN_CHARS } from "./session-view.ts";
import type { Probe, Stance, Trap } from "./types.ts";
import { excerptOf, normalForm } from "./words.ts";

type Draft = Omit<Probe, "id">;
type TrapDraft = Omit<Trap, "id">;

type CheckClass = "tests" | "build" | "lint" | "types";
type Verdict = "passed" | "failed";

/** The last known state of a command that checks the work. */
export interface Check {
  readonly class: CheckClass;
  /** The command without directories, pipes and redirections. */
  readonly command: string;
  readonly verdict: Verdict;
  readonly entryId: string;
  /** Line of the output that shows the verdict. */
  readonly evidence: string;
  /** True if an earlier run of the command failed. */
  readonly hasFailed: boolean;
  readonly at: number;
}

/** Programs and scripts of each class. Lint and types come first, because "npm run test:lint" is a lint. */
const CLASSES: readonly (readonly [CheckClass, RegExp])[] = [
  ["lint", /\b(?:lint|eslint|golangci-lint|ruff|clippy|biome|credo|rubocop|flake8|shellcheck)\b/],
  ["types", /\b(?:tsc|typecheck|type-check|mypy|pyright|dialyzer|go vet)\b/],
  ["tests", /\b(?:test|tests|vitest|jest|mocha|pytest|rspec|phpunit|ctest|playwright)\b/],
  ["build", /\b(?:build|compile)\b/],
];
/** Programs that run checks. Another program only mentions them, as in "grep test" or "git commit". */
const RUNNERS =
  /^(?:npm|npx|pnpm|yarn|bun|bunx|deno|node|go|cargo|mise|make|mix|pytest|python3?|uv|poetry|tox|dotnet|gradle|\.\/gradlew|mvn|\.\/mvnw|rspec|bundle|rake|phpunit|composer|ctest|cmake|tsc|eslint|biome|vitest|jest|mocha|ruff|mypy|golangci-lint|just|task|swift|sbt|playwright)\b/;
const INSTALLS = /\b(?:install|add|ci|init|create|fetch)\b/;

/** Longer commands contain scripts, and no person names them. */
const MAX_COMMAND_CHARS = 200;
/** A bar without spaces may be a pattern in quotes. */
const PIPE = /\s\|&?\s/;
const REDIRECTION = /\d?>+&?\s?\S*/g;

interface CheckedCommand {
  readonly class: CheckClass;
  readonly command: string;
  /** True if the exit code of the shell line is the exit code of this command. */
  readonly ownsExitCode: boolean;
}

/** Returns the parts of a shell line that check something. */
function checkedCommands(line: string): CheckedCommand[] {
  const parts = line.split(/&&|\|\||;|\n/).filter((part) => !SETUP.test(part));
  return parts.flatMap((part): CheckedCommand[] => {
    const piped = part.slice(0, MAX_COMMAND_CHARS).split(PIPE);
    const command = (piped[0] ?? "").replace(REDIRECTION, "").trim();
    if (!RUNNERS.test(command) || INSTALLS.test(command)) return [];
    const found = CLASSES.find(([, names]) => names.test(command));
    if (found === undefined) return [];
    const ownsExitCode = parts.length === 1 && piped.length === 1;
    return [{ class: found[0], command: command.split(/\s+/).join(" "), ownsExitCode }];
  });
}

/** Parts of a shell line that prepare the next part. */
const SETUP = /^\s*(?:cd\s|export\s|source\s|$)/;

/**
 * Lines with which the common runners report failures and successes. Each class has its own lines, because one
 * shell line may run several checks.
 */
const REPORTS: Readonly<Record<CheckClass, { readonly failed: RegExp; readonly passed: RegExp }>> = {
  tests: {
    failed:
      /^\s*(?:FAIL\b|--- FAIL|FAILED\b|[✗✘×❌] )|^\W{0,40}(?:Tests?|Test Files|Test Suites)?:?\s{0,20}[1-9]\d* (?:failed|failing|fail)\b|(?:tests?|examples?|doctests?), [1-9]\d* (?:failures?|errors?)\b|# fail [1-9]|^panic:|BUILD FAILED|test result: FAILED/,
    passed:
      /^\s*(?:PASS\b|ok\s+\S)|\b[1-9]\d* (?:passed|passing|pass)\b|\b0 (?:failures|failed|fail)\b|# fail 0|test result: ok|BUILD SUCCESS/,
  },
  build: {
    failed:
      /\berror(?:\[\w+\]| TS\d+|:)|^\s*(?:> )?(?:Build failed|BUILD FAILED|Failed to compile|Build error)|\b[1-9]\d* errors?\b/i,
    passed: /Compiled successfully|Build succeeded|BUILD SUCCESS|Generated static files|\bbuilt in \d/i,
  },
  lint: {
    failed: /\b[1-9]\d* (?:errors?|problems|issues|warnings)\b|^\s*error\b/i,
    passed:
      /\b0 (?:errors|problems|issues|warnings)\b|No fixes applied|All checks passed|found no issues|no offenses/i,
  },
  types: {
    failed: /\berror TS\d+|\b[1-9]\d* errors?\b|: error:/,
    passed: /\b0 errors\b|no issues found|passed successfully/i,
  },
};
const EXIT_CODE = /^Exit code [1-9]|exited with code [1-9]/;

/** Only the end of a long output is read. The summary of a runner is there. */
const READ_CHARS = 20_000;

interface SeenVerdict {
  readonly verdict: Verdict;
  readonly evidence: string;
}

function verdictOf({ result }: ToolRun, check: CheckedCommand): SeenVerdict | undefined {
  if (result === undefined) return undefined;
  const lines = result.text.slice(-READ_CHARS).split("\n").reverse();
  const { failed, passed } = REPORTS[check.class];
  const failure = lines.find((line) => failed.test(line) || (check.ownsExitCode && EXIT_CODE.test(line)));
  if (failure !== undefined) return { verdict: "failed", evidence: failure.trim() };
  if (result.isError) return undefined;
  const success = lines.find((line) => passed.test(line));
  if (success !== undefined) return { verdict: "passed", evidence: success.trim() };
  // Compilers and linters report nothing if they find nothing. A test runner may have run no test.
  const isSilentSuccess = check.ownsExitCode && check.class !== "tests";
  return isSilentSuccess ? { verdict: "passed", evidence: "no error" } : undefined;
}

/** Returns the last state of each command. A command whose last run shows no verdict is left out. */
export function lastChecks(view: SessionView): Check[] {
  const checks = new Map<string, Check>();
  for (const run of view.runs) {
    for (const checked of checksOf(run.call)) {
      const seen = verdictOf(run, checked);
      const hasFailed = checks.get(checked.command)?.hasFailed === true || seen?.verdict === "failed";
      checks.delete(checked.command);
      if (seen === undefined) continue;
      const { entryId, at } = run.result ?? run.call;
      checks.set(checked.command, { ...checked, ...seen, hasFailed, entryId, at });
    }
  }
  return [...checks.values()];
}

/** Returns the checks of a call whose result shows a verdict. */
export function seenChecks(run: ToolRun): (SeenVerdict & { readonly class: CheckClass })[] {
  return checksOf(run.call).flatMap((checked) => {
    const seen = verdictOf(run, checked);
    return seen === undefined ? [] : [{ ...seen, class: checked.class }];
  });
}

function checksOf(call: CallTurn): CheckedCommand[] {
  const command = commandOf(call);
  return command === undefined || EXPERIMENT.test(command) ? [] : checkedCommands(command);
}

/**
 * Commands that change files before they check them. They break the code on purpose, to see a test fail, and
 * restore it in the same line.
 */
const EXPERIMENT =
  /\bsed -i|\bgit (?:stash|checkout|restore|revert|apply)\b|(?:^|[;&\n(]\s?)(?:cp|mv|patch)\s|\bwrite_text\(|, ?['"]w['"]/;

const MAX_OUTCOMES = 8;
/** A passage may name the kind of check and not the command. */
const CLASS_WORDS: Readonly<Record<CheckClass, readonly string[]>> = {
  tests: ["test", "tests", "suite", "specs"],
  build: ["build", "builds", "compile", "compiles", "compilation"],
  lint: ["lint", "linter", "linting", "clippy", "formatting"],
  types: ["typecheck", "types", "type check", "tsc", "dialyzer", "mypy", "vet", "type errors", "typescript"],
};
/** The word of the command that names the kind of check, as "vitest". */
const toolOf = ({ class: kind, command }: Check): string =>
  CLASSES.find(([name]) => name === kind)?.[1].exec(command)?.[0] ?? command;

/** Words that name another kind of check. */
const rivalsOf = (kind: CheckClass): string[] =>
  Object.entries(CLASS_WORDS).flatMap(([other, words]) =>
    other === kind ? [] : words.filter((word) => !word.includes(" ")),
  );

/** A failed check may have been fixed later without another run, but it must not be stated as passed. */
const PASSED: readonly Stance[] = ["passed"];
const FAILED: readonly Stance[] = ["failed", "pending"];

/** Names of single tests and test files in a command, such as the argument of `-run`. */
const TARGET = /(?:-run|-t|-k|--grep|--filter)[ =]["']?([\w/-]{4,})|(\S*(?:test|spec)\S*\.\w{1,4})(?::\d+)?/;

function targetOf(command: string): string | undefined {
  const match = TARGET.exec(command);
  const target = match?.[1] ?? match?.[2];
  return target?.split("/").at(-1);
}

export function outcomeProbes(checks: readonly Check[]): Draft[] {
  return memorableChecks(checks).map((check) => {
    const target = targetOf(check.command);
    const names = [...CLASS_WORDS[check.class], toolOf(check)].map(normalForm);
    return {
      kind: "outcome",
      question: `What was the outcome of the last run of "${check.command}"?`,
      text: excerptOf(`${check.command}: ${check.evidence}`, SHOWN_CHARS),
      answer: {
        needles: [
          [normalForm(check.command), ...(target === undefined ? [] : [normalForm(target)]), ...names],
        ],
        groups: [],
        stances: check.verdict === "passed" ? PASSED : FAILED,
        outcome: { verdict: check.verdict, rivals: rivalsOf(check.class) },
        rawEvidence: [normalForm(check.evidence)],
      },
      entryIds: [check.entryId],
    };
  });
}

/**
 * The newest whole run of each class, and single tests that failed at least once. A failed run is left out if a
 * later check of its class passed, because the later one may include it.
 */
function memorableChecks(checks: readonly Check[]): Check[] {
  const settled = checks.filter((check) => check.verdict === "passed" || !isPassedLater(checks, check));
  const whole = settled.filter(({ command }) => targetOf(command) === undefined);
  const newest = new Map(whole.map((check) => [check.class, check]));
  const others = settled.filter((check) => check.hasFailed && newest.get(check.class) !== check);
  return [...newest.values(), ...others.slice(-MAX_OUTCOMES)]
    .sort((a, b) => a.at - b.at)
    .slice(-MAX_OUTCOMES);
}

const isPassedLater = (checks: readonly Check[], { class: kind, at }: Check): boolean =>
  checks.some((other) => other.class === kind && other.verdict === "passed" && other.at > at);

const TEST_RESULT =
  /^\s*(?:--- (FAIL|PASS): ([\w/]+)|(FAILED|PASSED) (\S{1,200}::\S{1,200})|(\S{1,200}::\S{1,200}) (FAILED|PASSED))/;
/** Plans and quotes claim no verdict. */
const NO_CLAIM: readonly Stance[] = ["pending", "next", "quote", "history"];

interface TestState {
  readonly passed: boolean;
  readonly evidence: string;
  readonly entryId: string;
}

/**
 * Returns the last state of each test that failed at least once. A later run of tests that passes without naming
 * a failed test settles it, but proves nothing about it, so the test is left out.
 */
function lastTestStates(view: SessionView): Map<string, TestState> {
  const states = new Map<string, TestState>();
  const runs = new Map(view.runs.map((run) => [run.call.id, run]));
  for (const turn of view.turns) {
    if (turn.type !== "result" && turn.type !== "user") continue;
    const run = turn.type === "result" ? runs.get(turn.id) : undefined;
    if (run !== undefined && isExperiment(run)) continue;
    if (run !== undefined && hasPassedTests(run)) settle(states, run, turn.entryId);
    for (const line of turn.text.split("\n")) {
      const match = TEST_RESULT.exec(line);
      if (match === null) continue;
      const [, goState, goName, headState, headName, tailName, tailState] = match;
      const name = goName ?? headName ?? tailName ?? "";
      const passed = (goState ?? headState ?? tailState ?? "").startsWith("PASS");
      if (!passed || states.has(name))
        states.set(name, { passed, evidence: line.trim(), entryId: turn.entryId });
    }
  }
  return states;
}

/** A passing run settles the failed tests. It proves those that its command names. */
function settle(states: Map<string, TestState>, { call }: ToolRun, entryId: string): void {
  const command = commandOf(call) ?? "";
  for (const [name, { passed }] of states) {
    if (passed) continue;
    if (command.includes(name)) states.set(name, { passed: true, evidence: `passed: ${command}`, entryId });
    else states.delete(name);
  }
}

const CLAIMED_OPEN: readonly Stance[] = ["pending", "next"];
const NOT_CLAIMED_OPEN: readonly Stance[] = ["done", "passed", "fixed", "cancelled", "quote", "history"];

/** Traps for tests that were last seen to fail, and for failed tests that were later seen to pass. */
export function outcomeTraps(view: SessionView): TrapDraft[] {
  return [...lastTestStates(view)].map(([name, { passed, evidence, entryId }]) => ({
    kind: passed ? "done-as-pending" : "failed-as-passed",
    evidence: excerptOf(evidence, SHOWN_CHARS),
    needles: [[normalForm(name.split("::").at(-1) ?? name)]],
    groups: [],
    stances: passed ? CLAIMED_OPEN : ["passed", "fixed"],
    notStances: passed ? NOT_CLAIMED_OPEN : NO_CLAIM,
    unless: [],
    ...(!passed && { verdict: "failed" as const }),
    entryIds: [entryId],
  }));
}

const isExperiment = ({ call }: ToolRun): boolean => EXPERIMENT.test(commandOf(call) ?? "");

const hasPassedTests = (run: ToolRun): boolean =>
  checksOf(run.call).some((check) => check.class === "tests" && verdictOf(run, check)?.verdict === "passed");

/** Phrases for a whole class. "Tests" alone may mean some of them. */
const WHOLE_CLASS_WORDS: Readonly<Record<CheckClass, readonly string[]>> = {
  tests: [
    "all tests",
    "whole suite",
    "full suite",
    "test suite",
    "entire suite",
    "the suite",
    "everything is",
  ],
  build: ["the build", "build passes", "build succeeds"],
  lint: ["lint passes", "lint is clean", "lint clean"],
  types: ["type check passes", "typecheck passes", "typecheck clean"],
};

/**
 * Traps for commands that failed last. A check of the same class that passes later may include a single test,
 * and any check that passes contradicts a phrase such as "all tests pass".
 */
export function commandTraps(checks: readonly Check[]): TrapDraft[] {
  return checks
    .filter((check) => check.verdict === "failed")
    .filter((check) => !checks.some((other) => contradicts(other, check)))
    .map((check) => {
      const target = targetOf(check.command);
      const names = target === undefined ? WHOLE_CLASS_WORDS[check.class] : [target];
      return {
        kind: "failed-as-passed",
        evidence: excerptOf(`${check.command}: ${check.evidence}`, SHOWN_CHARS),
        needles: [[check.command, ...names].map(normalForm)],
        groups: [],
        stances: ["passed"],
        notStances: NO_CLAIM,
        unless: [],
        verdict: "failed",
        entryIds: [check.entryId],
      };
    });
}

/** Traps for kinds of checks that passed last, in every run of the kind. */
export function passedTraps(checks: readonly Check[]): TrapDraft[] {
  const newest = new Map(checks.map((check) => [check.class, check]));
  return [...newest.values()]
    .filter(({ class: kind }) => checks.every((check) => check.class !== kind || check.verdict === "passed"))
    .map((check) => ({
      kind: "passed-as-failed",
      evidence: excerptOf(`${check.command}: ${check.evidence}`, SHOWN_CHARS),
      needles: [[check.command, ...CLASS_WORDS[check.class]].map(normalForm)],
      groups: [],
      stances: [],
      notStances: ["quote", "history"],
      unless: [],
      verdict: "passed",
      entryIds: [check.entryId],
    }));
}

const contradicts = (other: Check, check: Check): boolean =>
  other.class === check.class &&
  other.verdict === "passed" &&
  (other.at > check.at || targetOf(check.command) === undefined);
