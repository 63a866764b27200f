// The tests of what changed, nearest first, within a time budget: `npm run test:quick`. Changed are files that git does not
// know as committed, or those since a commit: `npm run test:quick -- --since REF`. A test is near when few imports lie between
// it and a changed file. Slow tests and tests that the time does not suffice for are left to `npm test`, and counted.
import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { SLOW_TESTS } from "../test/slow-tests.ts";
import { requestsIn, targetOf } from "./house/graph.ts";

/** Nothing is started after this; the rest of two minutes is for what runs. */
const BUDGET_MS = 75_000;
/** A started batch is ended at this time, so that the command never takes longer than two minutes. */
const LIMIT_MS = 110_000;
/** Test files of one run of vitest: small enough that one does not take the whole budget. */
const BATCH = 24;

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const { values } = parseArgs({ options: { since: { type: "string" } } });

const changed = changedFiles(values.since);
const { near, left } = testsNear(changed);
if (changed.length === 0)
  console.log("Nothing has changed. Pass --since REF to test the commits since then.");
else process.exitCode = runNearest(near, left);

function changedFiles(since: string | undefined): readonly string[] {
  const git = (...args: readonly string[]): readonly string[] =>
    execFileSync("git", args, { cwd: ROOT, encoding: "utf8" }).split("\n").filter(Boolean);
  const tracked = git("diff", "--name-only", "--diff-filter=d", since ?? "HEAD");
  return [...new Set([...tracked, ...git("ls-files", "--others", "--exclude-standard")])];
}

/** Test files in the order of their distance to what changed. */
function testsNear(from: readonly string[]): { readonly near: readonly string[]; readonly left: number } {
  const importers = readImporters();
  const reached = new Set(from);
  for (const file of reached) for (const importer of importers.get(file) ?? []) reached.add(importer);
  const tests = [...reached].filter((file) => file.endsWith(".test.ts"));
  const near = tests.filter((file) => SLOW_TESTS[file] === undefined || from.includes(file));
  return { near, left: tests.length - near.length };
}

/** Importers of each file, by paths under the root. */
function readImporters(): ReadonlyMap<string, readonly string[]> {
  const packages = join(ROOT, "packages");
  const folders = ["test", ...readdirSync(packages).map((name) => join("packages", name, "src"))];
  const importers = new Map<string, string[]>();
  for (const folder of folders) {
    for (const name of readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })) {
      if (!name.endsWith(".ts")) continue;
      const path = join(ROOT, folder, name);
      for (const request of requestsIn(path, readFileSync(path, "utf8"))) {
        const target = targetOf(packages, path, request);
        if (target === undefined) continue;
        const key = toSlashes(relative(ROOT, target));
        importers.set(key, [...(importers.get(key) ?? []), toSlashes(relative(ROOT, path))]);
      }
    }
  }
  return importers;
}

function toSlashes(path: string): string {
  return path.split(sep).join("/");
}

function runNearest(tests: readonly string[], slow: number): number {
  const startedAt = Date.now();
  let [done, status] = [0, 0];
  while (done < tests.length && Date.now() - startedAt < BUDGET_MS) {
    const batch = tests.slice(done, done + BATCH);
    const timeout = LIMIT_MS - (Date.now() - startedAt);
    const run = spawnSync(process.execPath, [vitest(), "run", "--reporter=dot", ...batch], {
      cwd: ROOT,
      stdio: "inherit",
      timeout,
    });
    if (run.signal !== null) break;
    done += batch.length;
    if (run.status !== 0) status = 1;
  }
  const rest = tests.length - done + slow;
  console.log(
    `${done} test files of what changed ran in ${Math.round((Date.now() - startedAt) / 1000)} s. ` +
      (rest === 0 ? "Nothing is left out." : `${rest} more distant or slow ones are left to npm test.`),
  );
  return status;
}

function vitest(): string {
  return join(dirname(fileURLToPath(import.meta.resolve("vitest/package.json"))), "vitest.mjs");
}
