import type { Random } from "./random.ts";
import type { Workspace } from "./workspace.ts";

export interface TestFailure {
  readonly path: string;
  readonly title: string;
  /** The name of what was thrown, when it was not an assertion. */
  readonly thrown?: string;
  readonly error: string;
  readonly difference?: readonly string[];
  /** Part of the line in the test that threw; its number and surroundings are taken from the file. */
  readonly at: string;
  /** Deeper frames, each a path and part of its line. */
  readonly frames?: readonly (readonly [path: string, needle: string])[];
}

/** What the test runner prints. Counts come from the test files themselves. */
export function testReport(
  workspace: Workspace,
  random: Random,
  paths: readonly string[],
  failures: readonly TestFailure[] = [],
): string {
  const counts = paths.map((path) => ({ path, tests: countTests(workspace.text(path)) }));
  const total = counts.reduce((sum, { tests }) => sum + tests, 0);
  const failedFiles = new Set(failures.map(({ path }) => path)).size;
  const tally = (failed: number, all: number): string =>
    failed === 0 ? `${all} passed (${all})` : `${failed} failed | ${all - failed} passed (${all})`;
  const duration = random.between(380, 940) + paths.length * 40;
  return [
    " RUN  v3.2.4",
    "",
    ...counts.flatMap(({ path, tests }) => fileLines(path, tests, failures, random)),
    ...failures.flatMap((failure, index) => failureLines(workspace, failure, index + 1, failures.length)),
    "",
    ` Test Files  ${tally(failedFiles, paths.length)}`,
    `      Tests  ${tally(failures.length, total)}`,
    `   Duration  ${duration}ms (transform ${random.between(60, 190)}ms, tests ${Math.floor(duration / 3)}ms)`,
  ].join("\n");
}

const countTests = (text: string): number => text.match(/^\s*it(\.each|\.skip)?\(/gm)?.length ?? 0;

function fileLines(path: string, tests: number, failures: readonly TestFailure[], random: Random): string[] {
  const own = failures.filter((failure) => failure.path === path);
  const ms = `${random.between(14, 160)}ms`;
  if (own.length === 0) return [` ✓ ${path} (${tests} tests) ${ms}`];
  return [
    ` ❯ ${path} (${tests} tests | ${own.length} failed) ${ms}`,
    ...own.flatMap(({ title, error }) => [`   × ${title} ${random.between(3, 30)}ms`, `     → ${error}`]),
  ];
}

function failureLines(workspace: Workspace, failure: TestFailure, index: number, total: number): string[] {
  const lines = workspace.text(failure.path).split("\n");
  const line = workspace.lineOf(failure.path, failure.at);
  const column = (lines[line - 1] ?? "").search(/\S/) + 1;
  const excerpt = lines.slice(Math.max(0, line - 3), line + 2);
  const frames = (failure.frames ?? []).map(
    ([path, needle]) => ` ❯ ${path}:${workspace.lineOf(path, needle)}:5`,
  );
  return [
    "",
    index === 1 ? `⎯⎯⎯⎯⎯⎯⎯ Failed Tests ${total} ⎯⎯⎯⎯⎯⎯⎯` : "",
    "",
    ` FAIL  ${failure.path} > ${failure.title}`,
    `${failure.thrown ?? "AssertionError"}: ${failure.error}`,
    ...(failure.difference === undefined ? [] : ["", "- Expected", "+ Received", "", ...failure.difference]),
    "",
    ...frames,
    ` ❯ ${failure.path}:${line}:${column}`,
    ...excerpt.map((text, offset) => `    ${`${Math.max(0, line - 3) + offset + 1}`.padStart(4)}| ${text}`),
    `⎯⎯⎯⎯⎯⎯⎯[${index}/${total}]⎯`,
  ];
}

export function commitReport(random: Random, subject: string, changed: readonly string[]): string {
  const inserted = random.between(9, 70);
  return [
    `[feature/spring-tides ${random.hex(7)}] ${subject}`,
    ` ${changed.length} ${changed.length === 1 ? "file" : "files"} changed, ${inserted} insertions(+), ${random.between(1, inserted)} deletions(-)`,
  ].join("\n");
}

export interface JournalWindow {
  readonly startMs: number;
  readonly lines: number;
}

type LogEvent = readonly [message: string, path: string | undefined];

const EVENTS: readonly [LogEvent, ...LogEvent[]] = [
  ["request completed", "/v1/bookings?status=requested&limit=25"],
  ["request completed", "/v1/vessels?flag=NO"],
  ["request completed", "/v1/berths/all"],
  ["request completed", "/healthz"],
  ["availability computed", "/v1/availability?from=2026-03-30T04:00Z&until=2026-03-30T16:00Z&draught=6.1"],
  ["booking created", "/v1/bookings"],
  ["metrics scraped", "/metrics"],
  ["booking expired", undefined],
];

/** Lines of the service's log as the journal stores them: one JSON object each. */
export function journal(random: Random, window: JournalWindow): string {
  let at = window.startMs;
  return Array.from({ length: window.lines }, () => {
    at += random.between(40, 4_000);
    const [msg, path] = random.pick(EVENTS);
    const detail =
      path === undefined
        ? { bookingId: `bkg_${random.hex(8)}`, heldMinutes: random.between(45, 61) }
        : { reqId: random.hex(8), path, status: 200, responseTime: random.between(2, 190) };
    return JSON.stringify({ level: 30, time: new Date(at).toISOString(), pid: 4117, ...detail, msg });
  }).join("\n");
}
