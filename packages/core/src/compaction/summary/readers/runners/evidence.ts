import { clip, oneLine } from "../../clip.ts";
import type { OutputView } from "./output-view.ts";
import type { Runner } from "./runner.ts";

/** Result that the visible output of a run proves. */
export interface Evidence {
  /** `nothing`: the runner ran no test. `none`: the output does not show the result. */
  readonly verdict: "passed" | "failed" | "nothing" | "none";
  /** True if a summary states the verdict, and not only a line that looks like a failure. */
  readonly isFirm: boolean;
  /** Counts as the runner printed them. */
  readonly counts: string | undefined;
  readonly failedNames: readonly string[];
  readonly passedNames: readonly string[];
  /** True if the output shows the name of every failed test. */
  readonly namesAll: boolean;
}

const MAX_NAMES = 200;
const MAX_NAME_CHARS = 300;
const MAX_COUNTS_CHARS = 100;
/** Number of lines with counts to quote. The last lines are about the whole run. */
const MAX_COUNT_LINES = 2;
/** Number of lines above a summary in which the runner's own count lines stand. */
const SUMMARY_LINES = 12;

export function readEvidence(runner: Runner, view: OutputView): Evidence {
  const { lines } = view;
  const summaries = lines.flatMap((line, at) => (runner.summary.test(line) ? [at] : []));
  const failed = summaries.filter((at) => runner.failed.test(lines[at] ?? ""));
  const passed = summaries.filter((at) => isPass(runner, lines[at] ?? ""));
  const ranNothing = lines.some((line) => runner.nothing?.test(line));
  const failedNames = namesIn(lines, runner.failedName);
  const base = {
    counts: countsIn(runner, lines, summaries),
    failedNames,
    passedNames: namesIn(lines, runner.passedName),
    namesAll: view.isWhole && failedNames.length > 0 && !HIDES_NAMES.test(lines.join("\n")),
  };
  const lastStates = runner.prints === "once" ? summaries.slice(-1) : summaries;
  if (lastStates.some((at) => failed.includes(at)))
    return { ...base, verdict: "failed", isFirm: runner.prints !== "each" };
  const hasFailure = lines.some((line) => runner.failure.test(line));
  const isOneResult = runner.prints === "once";
  if (hasFailure && (!isOneResult || passed.length === 0) && !isQuietPass(runner, passed))
    return { ...base, verdict: "failed", isFirm: false };
  const isNothing = isOneResult || (passed.length === 0 && view.isUncut && !view.isFiltered);
  if (ranNothing && isNothing) return { ...base, verdict: "nothing", isFirm: true };
  const [first] = passed;
  if (first !== undefined && isDecisive(runner, view, first))
    return { ...base, verdict: "passed", isFirm: true };
  return { ...base, verdict: "none", isFirm: false };
}

const isPass = (runner: Runner, line: string): boolean =>
  runner.passed.test(line) && !runner.failed.test(line);

/** A run that did not compile, or that stopped early, has failures without names. */
const HIDES_NAMES = /\[build failed\]|^panic: |could not compile|Interrupted: |^INTERNALERROR/m;

/** Runners of this kind print lines that look like failures before a summary without failures. */
const isQuietPass = (runner: Runner, passed: readonly number[]): boolean =>
  runner.kind !== "test" && runner.prints === "once" && passed.length > 0;

/** Returns true if this summary of passed tests rules out failures elsewhere in the output. */
function isDecisive(runner: Runner, view: OutputView, at: number): boolean {
  switch (runner.prints) {
    case "once":
      return true;
    case "last":
    case "each":
      return view.isEndSeen && view.keeps(runner.failureWords);
    case "parts":
      return view.isWhole || (view.isUncut && view.keeps(runner.failureWords));
    case "spaced":
      return view.isWhole || view.lines[at - 1] === "";
  }
}

/** Duration at the end of a line, as in `12ms`, `(0.4 s)` or `[< 1 ms]`. */
const DURATION = /\s[([]?(?:< )?[\d.]{1,12} ?m?s[)\]]?$/;

function namesIn(lines: readonly string[], pattern: RegExp | undefined): readonly string[] {
  if (pattern === undefined) return [];
  const names = new Set<string>();
  for (const line of lines) {
    const name = pattern.exec(line)?.[1]?.replace(DURATION, "");
    if (name && name.length <= MAX_NAME_CHARS) names.add(name);
    if (names.size >= MAX_NAMES) break;
  }
  return [...names];
}

function countsIn(
  runner: Runner,
  lines: readonly string[],
  summaries: readonly number[],
): string | undefined {
  if (runner.name === "go test") return goCounts(lines);
  const until = summaries.at(-1) ?? lines.length;
  const near = lines.slice(Math.max(0, until - SUMMARY_LINES), until + SUMMARY_LINES);
  const found = near.filter((line) => (runner.counts ?? runner.summary).test(line)).slice(-MAX_COUNT_LINES);
  if (found.length === 0) return undefined;
  const shown = found.map((line) => oneLine(line.replace(/^[=\sℹ#✖]+|[=\s]+$/g, "")));
  return clip(shown.join(", "), MAX_COUNTS_CHARS);
}

/** Counts packages, because `go test` prints no total. */
function goCounts(lines: readonly string[]): string | undefined {
  // A command line can test a package several times.
  const countNames = (pattern: RegExp): number =>
    new Set(
      lines.flatMap((line) => (line.includes("[no tests to run]") ? [] : (pattern.exec(line)?.[1] ?? []))),
    ).size;
  const passed = countNames(/^ok\s+(\S+)\s/);
  const failed = countNames(/^FAIL\s+(\S+)/);
  const words = [
    ...(failed > 0 ? [`${failed} ${failed === 1 ? "package" : "packages"} failed`] : []),
    ...(passed > 0 ? [`${passed} ${passed === 1 ? "package" : "packages"} ok`] : []),
  ];
  return words.length === 0 ? undefined : words.join(", ");
}
