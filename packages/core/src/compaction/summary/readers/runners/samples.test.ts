import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type CommandState, readCommand } from "../command-runs.ts";
import { failureText } from "../failure-text.ts";

interface Sample {
  readonly name: string;
  readonly command: string;
  readonly exitCode: number;
  readonly output: string;
}

/** Outputs that `scripts/runner-samples/record.ts` recorded, and cited formats of runners that do not install. */
const FOLDER = join(import.meta.dirname, "samples");
const SUFFIX = ".samples.json";

/**
 * Expected states of the samples, each compared with its output by a reader. `good` projects pass and `bad`
 * projects fail when all of their tests run and the whole output is visible.
 */
const EXPECTED: Readonly<Record<string, Partial<Readonly<Record<CommandState, string>>>>> = {
  biome: {
    failed: "bad: plain color tail grep chain or-true also-1",
    passed: "good: plain color tail chain or-true also-1",
    unknown: "good: head grep | bad: head",
  },
  "cargo-build": {
    failed: "bad: plain color tail head grep chain or-true also-1 also-2 also-3",
    nothing: "good: also-3",
    passed: "good: plain color tail head chain or-true also-1 also-2",
    unknown: "good: grep",
  },
  "cargo-test": {
    failed: "bad: plain color tail grep chain or-true also-1",
    nothing: "good: also-2 | bad: also-2",
    passed: "good: plain color grep chain or-true also-1",
    unknown: "good: tail head | bad: head",
  },
  ctest: {
    failed: "bad: plain tail grep chain or-true also-1",
    nothing: "good: also-2 | bad: also-2",
    passed: "good: plain tail grep chain or-true also-1",
    unknown: "good: head | bad: head",
  },
  "dotnet-test": {
    failed: "bad: plain grep also-1 also-2",
    passed: "good: plain or-true",
    unknown: "good: tail",
  },
  eslint: {
    failed: "bad: plain color tail grep chain or-true also-1",
    passed: "good: plain color chain or-true also-1",
    unknown: "good: tail head grep | bad: head",
  },
  "go-build": {
    failed: "bad: plain tail head chain or-true also-1 also-2",
    passed: "good: plain chain or-true also-1 also-2",
    unknown: "good: tail head grep | bad: grep",
  },
  "go-test": {
    failed: "bad: plain tail head grep chain or-true also-1",
    nothing: "good: also-2 | bad: also-2",
    passed: "good: plain tail chain or-true also-1 also-3 | bad: also-3",
    unknown: "good: head grep",
  },
  gradle: {
    failed: "bad: plain tail grep chain or-true also-1 also-2",
    passed: "good: plain tail chain or-true also-1 also-2",
    unknown: "good: head grep | bad: head",
  },
  jest: {
    failed: "bad: plain color tail head grep chain or-true also-1",
    nothing: "good: also-2 | bad: also-2",
    passed: "good: plain color grep chain or-true also-1",
    unknown: "good: tail head",
  },
  make: {
    failed: "bad: plain tail head grep chain or-true also-1",
    passed: "good: plain chain also-1 also-2 | bad: also-2",
    unknown: "good: tail head grep or-true",
  },
  maven: {
    failed: "bad: plain tail grep chain or-true also-1 also-2",
    passed: "good: plain chain or-true also-1 also-2",
    unknown: "good: tail head grep | bad: head",
  },
  mocha: {
    failed: "bad: plain color grep chain or-true also-1 also-2",
    passed: "good: plain color tail grep chain or-true also-1 also-2",
    unknown: "good: head | bad: tail head",
  },
  "node-test": {
    failed: "bad: plain color head grep chain or-true also-1",
    passed: "good: plain color grep chain or-true also-1",
    unknown: "good: tail head | bad: tail",
  },
  phpunit: {
    failed: "bad: plain color tail grep chain or-true also-1",
    nothing: "good: also-2 | bad: also-2",
    passed: "good: plain color tail chain or-true also-1",
    unknown: "good: head grep | bad: head",
  },
  playwright: {
    failed: "bad: plain color tail grep chain or-true also-1 also-2",
    passed: "good: plain color tail chain or-true also-1 also-2",
    unknown: "good: head grep | bad: head",
  },
  prove: {
    failed: "bad: plain tail head grep chain or-true also-1",
    passed: "good: plain tail grep chain or-true also-1",
    unknown: "good: head",
  },
  pytest: {
    failed: "bad: plain color tail grep chain or-true also-1 also-2",
    nothing: "good: also-3 | bad: also-3",
    passed: "good: plain color tail grep chain or-true also-1 also-2",
    unknown: "good: head | bad: head",
  },
  rspec: {
    failed: "bad: plain color tail head grep chain or-true also-1",
    nothing: "good: also-2 | bad: also-2",
    passed: "good: plain color tail grep chain or-true also-1",
    unknown: "good: head",
  },
  ruff: {
    failed: "bad: plain tail grep chain or-true also-1 also-2",
    passed: "good: plain tail head grep chain or-true also-1 also-2",
    unknown: "bad: head",
  },
  tsc: {
    failed: "bad: plain color tail head grep chain or-true also-1",
    passed: "good: plain color chain or-true also-1",
    unknown: "good: tail head grep",
  },
  unittest: {
    failed: "bad: plain tail head grep chain or-true also-1",
    passed: "good: plain tail chain or-true also-1",
    unknown: "good: head grep",
  },
  vitest: {
    failed: "bad: plain color tail grep chain or-true also-1 also-2",
    nothing: "good: also-3 | bad: also-3",
    passed: "good: plain color grep chain or-true also-1 also-2",
    unknown: "good: tail head | bad: head",
  },
};

/** Counts of the plain runs of both projects, and the names of the failed tests. */
const COUNTS: Readonly<Record<string, readonly [good: RegExp, bad: RegExp, names: readonly string[]]>> = {
  "cargo-test": [/ok\. 2 passed; 0 failed/, /FAILED\. 1 passed; 1 failed/, ["tests::adds"]],
  ctest: [/100% tests passed, 0 tests failed out of 2/, /50% tests passed, 1 tests failed/, ["adds"]],
  "dotnet-test": [/Failed: 0, Passed: 3/, /Failed: 1, Passed: 2/, ["Adds"]],
  "go-test": [/^2 packages ok$/, /^1 package failed, 1 package ok$/, ["TestAdds"]],
  gradle: [/^BUILD SUCCESSFUL in/, /BUILD FAILED in/, ["shop.SumTest > adds"]],
  jest: [/Tests: 2 passed, 2 total/, /Tests: 1 failed, 1 passed, 2 total/, ["sum › adds numbers"]],
  maven: [
    /Tests run: 2, Failures: 0.*BUILD SUCCESS/,
    /Tests run: 2, Failures: 1.*BUILD FAILURE/,
    ["SumTest.adds"],
  ],
  mocha: [/^2 passing/, /^1 passing .*, 1 failing$/, []],
  "node-test": [/^pass 2, fail 0$/, /^pass 1, fail 1$/, ["adds numbers", "sum"]],
  phpunit: [/^OK \(2 tests/, /Tests: 2, Assertions: 2, Failures: 1/, ["SumTest::testAdds"]],
  playwright: [/^2 passed/, /^1 failed, 1 passed/, ["test/sum.spec.js:3:1 › adds numbers"]],
  pytest: [/^2 passed in/, /^1 failed, 1 passed in/, ["test_shop.py::test_adds"]],
  rspec: [/^2 examples, 0 failures$/, /^2 examples, 1 failure$/, ["./spec/sum_spec.rb:4"]],
  unittest: [
    /^Ran 2 tests in .*, OK$/,
    /FAILED \(failures=1\)$/,
    ["test_adds (test_shop.TestShop.test_adds)"],
  ],
  vitest: [
    /Tests 2 passed \(2\)$/,
    /Tests 1 failed \| 1 passed \(2\)$/,
    ["test/sum.test.js > sum > adds numbers"],
  ],
};

const readSamples = (runner: string): readonly Sample[] =>
  JSON.parse(readFileSync(join(FOLDER, `${runner}${SUFFIX}`), "utf8")) as readonly Sample[];

function readSample({ command, exitCode, output }: Sample) {
  const result = exitCode === 0 ? output : `Exit code ${exitCode}\n${output}`;
  return readCommand(1, command, undefined, result, exitCode !== 0);
}

/** Returns the expected state of every sample by name. */
function expectedOf(runner: string): ReadonlyMap<string, string> {
  const states = new Map<string, string>();
  for (const [state, names] of Object.entries(EXPECTED[runner] ?? {})) {
    for (const group of names.split(" | ")) {
      const [kind = "", ...variants] = group.split(/:? /);
      for (const variant of variants) states.set(`${kind} ${variant}`, state);
    }
  }
  return states;
}

describe("outcomes of recorded runs", () => {
  it("expects a state for every recorded sample", () => {
    const recorded = readdirSync(FOLDER).map((file) => file.replace(SUFFIX, ""));
    expect(Object.keys(EXPECTED).toSorted()).toEqual(recorded.toSorted());
  });

  it.each(Object.keys(EXPECTED))("reads the state of each recorded run of %s", (runner) => {
    const read = new Map(readSamples(runner).map((sample) => [sample.name, readSample(sample).state]));
    expect(new Map([...read].toSorted())).toEqual(new Map([...expectedOf(runner)].toSorted()));
  });

  it.each(Object.entries(COUNTS))(
    "reads the counts and the failed tests of %s",
    (runner, [good, bad, names]) => {
      const plain = new Map(readSamples(runner).map((sample) => [sample.name, sample]));
      const [passed, failed] = ["good plain", "bad plain"].map((name) =>
        readSample(plain.get(name) as Sample),
      );
      expect(passed?.outcome).toMatch(good);
      expect(failed?.outcome).toMatch(bad);
      expect(failed?.runs.flatMap(({ failedNames }) => failedNames)).toEqual(names);
    },
  );

  it.each(Object.keys(EXPECTED))("never quotes a passed test of %s as an error", (runner) => {
    const failures = readSamples(runner).filter(({ name }) => name.startsWith("bad"));
    for (const { output } of failures) {
      const quoted = failureText(output)?.text ?? "";
      expect(quoted).not.toMatch(
        /throws? an error|rejects_?errors?|raises? an? error|error_message|TestErrorValue/i,
      );
    }
  });
});
