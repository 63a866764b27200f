import { type Evidence, readEvidence } from "./evidence.ts";
import { type CommandOutput, ownLines, viewOf } from "./output-view.ts";
import {
  coversScope,
  coversTargets,
  isSameDirectory,
  isSameOrWhole,
  RUNNERS,
  type RunScope,
  scopeOf,
} from "./run-scope.ts";
import type { Runner, RunnerKind } from "./runner.ts";
import { isSetUp, type ShellCommand } from "./shell-commands.ts";
import { OTHER_TESTS } from "./test-runners.ts";

/** Decides how each test, check or build of a command line ended. */

/** `mixed`: the line started the runner several times, and some of these runs failed. */
export type RunState = "passed" | "failed" | "mixed" | "nothing" | "unknown";

export interface RunnerRun {
  readonly scope: RunScope;
  readonly state: RunState;
  /** Counts as the runner printed them. */
  readonly counts: string | undefined;
  readonly failedNames: readonly string[];
  readonly passedNames: readonly string[];
  /** True if {@link failedNames} has every failed test. */
  readonly namesAll: boolean;
  /** True if the last result in the output is a pass. */
  readonly endsWithPass: boolean;
}

/** Lines of package managers and task runners that report a failed script. */
const SCRIPT_FAILED =
  /^npm (?:ERR!|error) (?:Test failed|Lifecycle script|code ELIFECYCLE|command failed|Missing script)|ELIFECYCLE\b|^error: script "[^"]+" exited with code [1-9]|^error Command failed with exit code|^g?make(?:\[\d+\])?: \*\*\* |ERROR task failed|^error: Recipe `|^task: Failed to run|^Script \S+ returned with error code/;

/** Complaints of small checkers that have no summary. The exit code decides whether they count. */
const COMPLAINT = /\b(?:needs?|have) to be (?:re)?formatted\b|\bnot (?:properly )?formatted\b|\bTo fix: /i;

/** A test, check or build that a command of the line starts. */
interface StartedRun {
  readonly command: ShellCommand;
  readonly scope: RunScope;
}

/** Returns the tests, checks and builds that the commands start. */
export function startedRuns(commands: readonly ShellCommand[]): readonly StartedRun[] {
  return commands.flatMap((command): StartedRun[] => {
    const scope = scopeOf(command);
    return scope === undefined ? [] : [{ command, scope }];
  });
}

/** Returns the runs that the commands of a line started. `isFailure`: the whole line failed. */
export function readRuns(
  commands: readonly ShellCommand[],
  started: readonly StartedRun[],
  output: CommandOutput,
  isFailure: boolean,
): readonly RunnerRun[] {
  const read = started.map(({ command, scope }) => ({
    command,
    scope,
    ...evidenceOf(command, scope, output, started),
  }));
  const others = commands.filter(
    (command) => command.canFailLine && !isSetUp(command) && command.words[0] !== "echo",
  );
  const couldFail = read.filter(({ command }) => command.canFailLine);
  const isOnly = others.length === 1 && couldFail.length === 1;
  const culprit = isFailure ? culpritAmong(read) : -1;
  return read.map(({ command, scope, runner, evidence, isShared }, index): RunnerRun => {
    let state: RunState = evidence.verdict === "none" ? "unknown" : evidence.verdict;
    const isChained = command.isProvenByZero;
    if (state === "failed" && isShared && evidence.passesToo) state = "mixed";
    else if (culprit !== -1 && index > culprit && state === "failed") state = "unknown";
    else if (isFailure && command.canFailLine) {
      if (isOnly && state !== "nothing") state = "failed";
      else if (isChained && culprit !== -1 && index < culprit) state = "passed";
    } else if (isEchoed(command, output) && state === "unknown") state = "passed";
    else if (!isFailure && isChained) {
      if (!(state === "failed" && evidence.isFirm) && state !== "nothing") state = "passed";
    } else if (state === "unknown" && isSilentPass(command, runner, output, isFailure)) state = "passed";
    return { scope: { ...scope, runner: scope.runner ?? runner }, state, ...evidence };
  });
}

/** Returns true if the output has the text of a later `echo` that runs only after this command succeeded. */
const isEchoed = ({ echoedAfter }: ShellCommand, { lines }: CommandOutput): boolean =>
  echoedAfter !== undefined && lines.includes(echoedAfter);

/**
 * Returns the run that made a chain fail. A run with counts of its own was reached, so the runs before it
 * passed.
 */
function culpritAmong(read: readonly { readonly command: ShellCommand; readonly evidence: Seen }[]): number {
  const isCulprit = ({ command, evidence }: (typeof read)[number]): boolean =>
    command.canFailLine && evidence.verdict === "failed";
  const counted = read.findLastIndex((run) => isCulprit(run) && run.evidence.counts !== undefined);
  return counted === -1 ? read.findIndex(isCulprit) : counted;
}

interface Seen extends Evidence {
  readonly endsWithPass: boolean;
  /** True if the output shows a passed part besides the failed part. */
  readonly passesToo: boolean;
}

function evidenceOf(
  command: ShellCommand,
  scope: RunScope,
  output: CommandOutput,
  started: readonly StartedRun[],
): { readonly runner: Runner | undefined; readonly evidence: Seen; readonly isShared: boolean } {
  const view = viewOf(output, command.filters, command.dropsErrors);
  const known = scope.runner === undefined ? runnersBehind(scope, view.lines) : [scope.runner];
  const isShared = started.filter((other) => isSameRunner(other.scope, scope, known)).length > 1;
  const runners = scope.isMany ? known.map((runner) => ({ ...runner, prints: "parts" as const })) : known;
  const found = runners.map((runner) => readEvidence(runner, view));
  const [main] = found;
  const failed = found.find(({ verdict }) => verdict === "failed");
  const scriptFailed = scope.runner === undefined && view.lines.some((line) => SCRIPT_FAILED.test(line));
  const isDoubtful = scope.runner === undefined && view.lines.some((line) => COMPLAINT.test(line));
  const verdict = failed || scriptFailed ? "failed" : isDoubtful ? "none" : joinedVerdict(found);
  const isPass = (runner: Runner, line: string): boolean =>
    runner.passed.test(line) && !runner.failed.test(line);
  const passesToo = known.some((runner) => view.lines.some((line) => isPass(runner, line)));
  const endsWithPass = known.some((runner) => {
    const last = view.lines.findLast((line) => runner.passed.test(line) || runner.failed.test(line));
    return last !== undefined && isPass(runner, last);
  });
  return {
    runner: known[0],
    isShared,
    evidence: {
      ...NO_EVIDENCE,
      ...(failed ?? main),
      verdict,
      isFirm: scriptFailed || (failed?.isFirm ?? true),
      passesToo,
      endsWithPass,
    },
  };
}

const NO_EVIDENCE: Evidence = {
  verdict: "none",
  isFirm: false,
  counts: undefined,
  failedNames: [],
  passedNames: [],
  namesAll: false,
};

function joinedVerdict(found: readonly Evidence[]): Evidence["verdict"] {
  const verdicts = found.map(({ verdict }) => verdict);
  if (verdicts.includes("none") || verdicts.length === 0) return "none";
  return verdicts.includes("passed") ? "passed" : "nothing";
}

/** Returns the runners whose marks are in the output of a script. */
function runnersBehind({ kind }: RunScope, lines: readonly string[]): readonly Runner[] {
  const possible = RUNNERS.filter((runner) => (kind === "test" ? runner.kind === "test" : true));
  const found = possible.filter(({ mark }) => mark !== undefined && lines.some((line) => mark.test(line)));
  return found.length > 1 ? found.filter(({ name }) => name !== OTHER_TESTS) : found;
}

function isSameRunner(other: RunScope, scope: RunScope, known: readonly Runner[]): boolean {
  if (other === scope) return true;
  const [runner] = known;
  return other.runner === undefined ? other.kind === scope.kind : other.runner === runner;
}

/** Returns true if the runner prints nothing when it passes, and nothing was printed or filtered out. */
function isSilentPass(
  command: ShellCommand,
  runner: Runner | undefined,
  output: CommandOutput,
  isFailure: boolean,
): boolean {
  if (runner?.isSilent !== true || isFailure || command.dropsErrors || output.isEndCut) return false;
  // An empty output that `head` or `tail` cut short can be a blank line before or after failures.
  const { isUncut, isFiltered } = viewOf(output, command.filters);
  return isUncut && !isFiltered && ownLines(output.lines).length === 0;
}

/** Returns true if the later run was seen to pass everything that failed in the earlier run. */
export function isFixedBy(later: RunnerRun, earlier: RunnerRun): boolean {
  const isSameRun =
    isSameDirectory(later.scope.directory, earlier.scope.directory) &&
    isSameOrWhole(later.scope, earlier.scope);
  if (!isSameRun) return false;
  if (later.state === "passed" && coversScope(later.scope, earlier.scope)) return true;
  if (!earlier.namesAll) return false;
  if (
    later.state === "passed" &&
    later.scope.filters.length === 0 &&
    isSameOptions(later.scope, earlier.scope)
  ) {
    const files = earlier.failedNames.map(fileIn);
    if (files.every((file) => file !== undefined && coversTargets(later.scope, [file]))) return true;
  }
  const isComparable =
    coversTargets(later.scope, earlier.scope.targets) && isSameOptions(later.scope, earlier.scope);
  return isComparable && earlier.failedNames.every((name) => isSeenToPass(later, name));
}

const isSameOptions = (one: RunScope, other: RunScope): boolean =>
  one.options.length === other.options.length &&
  one.options.every((option) => other.options.includes(option));

const isSeenToPass = (run: RunnerRun, name: string): boolean =>
  (run.state === "passed" || run.state === "failed") &&
  run.passedNames.includes(name) &&
  !run.failedNames.includes(name);

/** Returns the file in the name of a test, as in `src/sum.test.ts > sum` and `test_sum.py::test_adds`. */
function fileIn(name: string): string | undefined {
  return /^([\w./@-]+\.\w{1,5})(?=::| > |:\d| \[|$)/.exec(name)?.[1];
}

/** Returns how well a line's kind is known: the most important kind of its runs. */
export function kindOf(runs: readonly RunnerRun[]): RunnerKind | undefined {
  const kinds = runs.map(({ scope }) => scope.kind);
  return (["test", "check", "build"] as const).find((kind) => kinds.includes(kind));
}
