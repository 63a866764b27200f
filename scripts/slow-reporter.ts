// A vitest reporter. It names each test file that takes over ten seconds and has no reason in
// test/slow-tests.ts. It only reports, because a busy machine must not fail a run.
import { relative, sep } from "node:path";
import type { Reporter, TestModule } from "vitest/node";
import { SLOW_TEST_MS, SLOW_TESTS } from "../test/slow-tests.ts";

const SECOND_MS = 1_000;

export default class SlowReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const slow = modules
      .map((module) => ({
        file: relative(".", module.moduleId).split(sep).join("/"),
        ms: module.diagnostic().duration,
      }))
      .filter(({ file, ms }) => ms > SLOW_TEST_MS && SLOW_TESTS[file] === undefined)
      .sort((one, other) => other.ms - one.ms);
    if (slow.length === 0) return;
    console.log("Test files over ten seconds without a reason in test/slow-tests.ts:");
    for (const { file, ms } of slow) console.log(`  ${(ms / SECOND_MS).toFixed(1)} s  ${file}`);
  }
}
