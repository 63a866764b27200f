import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type CommandRun, readCommand } from "./command-runs.ts";
import { isNamedTestSeenToPass } from "./named-tests.ts";

const ran = (at: number, command: string, output: string): CommandRun =>
  readCommand(at, command, undefined, output, output.startsWith("Exit code"));

const passes = (at: number, name: string): CommandRun =>
  ran(at, "go test -v ./menu", `--- PASS: ${name} (0.01s)\nPASS\nok  \tmenu\t0.2s`);
const fails = (at: number, name: string): CommandRun =>
  ran(at, "go test -v ./menu", `Exit code 1\n--- FAIL: ${name} (0.01s)\nFAIL\nFAIL\tmenu\t0.2s`);

const TASK = "Fix the failing test `TestMenu_OpensTwice`";

describe("isNamedTestSeenToPass", () => {
  it.each<[string, readonly CommandRun[], boolean]>([
    ["passed", [passes(1, "TestMenu_OpensTwice")], true],
    [
      "failed after it had passed",
      [passes(1, "TestMenu_OpensTwice"), fails(2, "TestMenu_OpensTwice")],
      false,
    ],
    ["passed after it had failed", [fails(1, "TestMenu_OpensTwice"), passes(2, "TestMenu_OpensTwice")], true],
    ["did not run", [passes(1, "TestMenu_ClosesTwice")], false],
    [
      "was selected in a run that passed",
      [ran(1, "go test -run TestMenu_OpensTwice ./menu", "ok  \tmenu\t0.2s")],
      true,
    ],
  ])("reads the last result of a test that %s", (_, runs, expected) => {
    expect(isNamedTestSeenToPass(TASK, runs)).toBe(expected);
  });

  it.each(["Add `TestMenu_OpensTwice`", "Fix the header of the page", ""])(
    "reads no result for a text that names no failing test: %j",
    (text) => expect(isNamedTestSeenToPass(text, [passes(1, "TestMenu_OpensTwice")])).toBe(false),
  );

  it("counts no run at or before the given position", () => {
    const runs = [passes(4, "TestMenu_OpensTwice")];
    expect(isNamedTestSeenToPass(TASK, runs, 4)).toBe(false);
    expect(isNamedTestSeenToPass(TASK, runs, 3)).toBe(true);
  });

  it("never reads a pass if the last run of every test failed, for any text", () => {
    fc.assert(
      fc.property(fc.string(), fc.array(fc.boolean()), (text, results) => {
        const runs = results.map((isPass, at) => (isPass ? passes : fails)(at, "TestMenu_OpensTwice"));
        const last = fails(results.length, "TestMenu_OpensTwice");
        expect(isNamedTestSeenToPass(`${TASK} ${text}`, [...runs, last])).toBe(false);
      }),
    );
  });
});
