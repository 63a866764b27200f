import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { withoutControls } from "../../../../messages/text.ts";
import { readCommand } from "../command-runs.ts";
import { ErrorLedger } from "../error-ledger.ts";
import { RUNNERS } from "./run-scope.ts";
import { shellCommands } from "./shell-commands.ts";

const FOLDER = join(import.meta.dirname, "samples");
const OUTPUTS: readonly string[] = readdirSync(FOLDER).flatMap((file) =>
  (JSON.parse(readFileSync(join(FOLDER, file), "utf8")) as { readonly output: string }[]).map(
    ({ output }) => output,
  ),
);

const COMMANDS = [
  ...["npx vitest run", "npx jest", "npx mocha", "node --test", "npx playwright test", "python3 -m pytest"],
  ...[
    "go test ./...",
    "cargo test",
    "dotnet test",
    "./gradlew test",
    "mvn test",
    "rspec",
    "phpunit",
    "ctest",
  ],
  ...[
    "npx tsc --noEmit",
    "npx eslint .",
    "make test",
    "npm test",
    "npm run check",
    "ruff check .",
    "prove t",
  ],
] as const;

const command = fc.constantFrom(...COMMANDS);
/** Lines of real outputs in any order, mixed with arbitrary text. */
const line = fc.oneof(fc.constantFrom(...OUTPUTS.flatMap((output) => output.split("\n"))), fc.string());
const output = fc.array(line, { maxLength: 30 }).map((lines) => lines.join("\n"));

const isPassLine = (text: string): boolean =>
  RUNNERS.some(({ passed }) => passed.test(text)) || RUNNERS.some(({ nothing }) => nothing?.test(text));

describe("outcomes of any output", () => {
  it("never reports a run as passed when its exit code is hidden and no line says that something passed", () => {
    fc.assert(
      fc.property(command, output, (run, text) => {
        const lines = withoutControls(text)
          .split("\n")
          .filter((each) => !isPassLine(each));
        const visible = ["some output", ...lines].join("\n");
        expect(readCommand(1, `${run} 2>&1 | tail -50`, undefined, visible).state).not.toBe("passed");
      }),
    );
  });

  it("never reports a failure as fixed by a run whose output is cut to its first line", () => {
    fc.assert(
      fc.property(command, fc.constantFrom(...OUTPUTS), (run, text) => {
        const ledger = new ErrorLedger();
        const failure = "Exit code 1\nError: wrong sum";
        ledger.command(readCommand(1, run, undefined, failure, true), failure);
        const [first = ""] = text.trimStart().split("\n");
        fc.pre(first !== "" && !isPassLine(withoutControls(first)));
        ledger.command(readCommand(2, `${run} 2>&1 | head -1`, undefined, first), first);
        expect(ledger.records().filter(({ resolution }) => resolution?.how === "passed")).toEqual([]);
      }),
    );
  });

  it("reads the same output in the same way each time", () => {
    fc.assert(
      fc.property(command, output, fc.boolean(), (run, text, isError) => {
        const read = () => readCommand(1, run, undefined, text, isError);
        expect(read()).toEqual(read());
      }),
    );
  });

  it("reports every run without a result as having no result", () => {
    fc.assert(
      fc.property(fc.oneof(command, fc.string()), (run) => {
        expect(readCommand(1, run).state).toBe("no-result");
      }),
    );
  });

  it("resolves failures in the same way whatever unrelated commands run in between", () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(["ls", "git status", "cat a.txt", "npx tsc --noEmit"]), (others) => {
        const ledger = new ErrorLedger();
        const failure = "Exit code 1\nFAILED test_a.py::test_b - Error: boom\n1 failed in 0.10s";
        ledger.command(readCommand(1, "pytest", undefined, failure, true), failure);
        for (const [at, other] of others.entries())
          ledger.command(readCommand(at + 2, other, undefined, "done"), "done");
        expect(ledger.records()[0]?.resolution).toBeUndefined();
        ledger.command(readCommand(9, "pytest", undefined, "4 passed in 0.10s"), "4 passed in 0.10s");
        expect(ledger.records()[0]?.resolution?.how).toBe("passed");
      }),
    );
  });

  it("splits any command line without an error", () => {
    const piece = fc.constantFrom(
      "a",
      "'",
      '"',
      "$(",
      ")",
      "|",
      "&&",
      ";",
      "<<E",
      "\n",
      "(",
      "{ ",
      "\\",
      ">",
      " ",
      "#",
      "`",
      "cd x",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        expect(Array.isArray(shellCommands(pieces.join("")))).toBe(true);
      }),
    );
  });

  it("reads a megabyte of hostile output without reporting a pass", () => {
    for (const text of [
      "✓ ".repeat(500_000),
      "1 passed, ".repeat(100_000),
      "(".repeat(1_000_000),
      `${"a ".repeat(500)}\n`.repeat(1_000),
    ]) {
      for (const run of COMMANDS)
        expect(readCommand(1, `${run} | tail`, undefined, text).state).not.toBe("passed");
    }
  });
});
