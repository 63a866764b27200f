// Runs the tests nearest to the changes, within two minutes: `npm run test:quick`. A file counts as changed
// if it differs from the last commit. With `-- --since REF`, it counts as changed if it differs from REF. A
// test is near if few imports are between it and a changed file. The command skips slow and distant test
// files, and prints how many it skipped. `npm test` runs them.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { SLOW_TESTS } from "../test/slow-tests.ts";
import { laterRequestsIn, requestsIn, targetOf } from "./house/graph.ts";

/** No batch starts after this time. The rest of the two minutes is for batches that are still running. */
const BUDGET_MS = 75_000;
/** A batch that is still running is stopped at this time. */
const LIMIT_MS = 110_000;
/** Number of test files per vitest run. It is small, so that one batch does not take the whole budget. */
const BATCH = 12;

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/**
 * Tests that start the command line import this file. The file refers to the program by its path, so no
 * import leads to the program.
 */
const STARTS_PROGRAM = "test/support/cli.ts";
const PROGRAM = "packages/longhaul/src/main.ts";

/**
 * Pairs of patterns. The first pattern matches files that no test imports, and the second matches the tests
 * that read them.
 */
const READERS: readonly (readonly [files: RegExp, tests: RegExp])[] = [
  [/\.md$|^docs\/|^examples\//, /^test\/(?:docs|examples|slow-tests)[\w-]*\.test\.ts$/],
  [/package\.json$|^scripts\/(?:build|api-report)/, /^test\/(?:boundaries|packages\/\w+)\.test\.ts$/],
];

const { values } = parseArgs({ options: { since: { type: "string" } } });
const changed = changedFiles(values.since ?? "HEAD");
if (changed === undefined) {
  console.error(`test:quick: git does not know "${values.since}". Pass a commit, a branch or a tag.`);
  process.exitCode = 2;
} else if (changed.length === 0) {
  console.log("Nothing has changed. Pass --since REF to test the commits since then.");
} else {
  process.exitCode = runNearest(testsNear(changed), changed);
}

/** Returns the changed files as paths under the root. Undefined if git does not know the commit. */
function changedFiles(since: string): readonly string[] | undefined {
  const git = (...args: readonly string[]) => spawnSync("git", args, { cwd: ROOT, encoding: "utf8" });
  const tracked = git("diff", "--name-only", "--diff-filter=d", since, "--");
  if (tracked.status !== 0) return undefined;
  const untracked = git("ls-files", "--others", "--exclude-standard");
  return [...new Set(`${tracked.stdout}\n${untracked.stdout}`.split("\n").filter(Boolean))];
}

/**
 * Returns the test files that import or read the changed files, directly or indirectly. The nearest ones come
 * first.
 */
function testsNear(from: readonly string[]): readonly string[] {
  const importers = readImporters();
  const reached = new Set(from);
  for (const file of reached) for (const importer of importers.get(file) ?? []) reached.add(importer);
  return [...reached].filter((file) => file.endsWith(".test.ts"));
}

/**
 * Returns the files that import or read each file. The key is a file, the value is the list. All paths are
 * under the root.
 */
function readImporters(): ReadonlyMap<string, readonly string[]> {
  const importers = new Map<string, string[]>([[PROGRAM, [STARTS_PROGRAM]]]);
  const add = (file: string, importer: string): void => {
    importers.set(file, [...(importers.get(file) ?? []), importer]);
  };
  const packages = join(ROOT, "packages");
  const folders = ["test", ...readdirSync(packages).map((name) => join("packages", name, "src"))];
  const sources = folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => join(ROOT, folder, name)),
  );
  for (const path of sources) {
    const text = readFileSync(path, "utf8");
    for (const request of [...requestsIn(path, text), ...laterRequestsIn(path, text)]) {
      const target = targetOf(packages, path, request);
      if (target !== undefined) add(underRoot(target), underRoot(path));
    }
  }
  for (const file of changed ?? []) {
    const [, tests] = READERS.find(([files]) => files.test(file)) ?? [];
    for (const path of sources.map(underRoot)) if (tests?.test(path)) add(file, path);
  }
  return importers;
}

function underRoot(path: string): string {
  return relative(ROOT, path).split(sep).join("/");
}

function runNearest(near: readonly string[], from: readonly string[]): number {
  const tests = near.filter((file) => SLOW_TESTS[file] === undefined || from.includes(file));
  const startedAt = Date.now();
  let [done, status] = [0, 0];
  while (done < tests.length && Date.now() - startedAt < BUDGET_MS) {
    const batch = tests.slice(done, done + BATCH);
    const run = spawnSync(process.execPath, [vitest(), "run", "--reporter=dot", ...batch], {
      cwd: ROOT,
      stdio: "inherit",
      timeout: LIMIT_MS - (Date.now() - startedAt),
    });
    if (run.status !== 0) status = 1;
    if (run.signal !== null) {
      console.log(`The tests did not end in time: ${batch.join(", ")}`);
      break;
    }
    done += batch.length;
  }
  const seconds = Math.round((Date.now() - startedAt) / 1000);
  const left = near.length - done;
  console.log(`${done} test files near the change ran in ${seconds} s. ${left} others are left to npm test.`);
  return status;
}

function vitest(): string {
  return join(dirname(fileURLToPath(import.meta.resolve("vitest/package.json"))), "vitest.mjs");
}
