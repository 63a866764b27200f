import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../transcript/temporary-folder.ts";
import { type LongRun, type LongRunOptions, longRun } from "./long-run.case.ts";

/** All of them at full length takes minutes; every test run has one of 2,000 turns, and the others shorter. */
const isFullLength = process.env.LONGHAUL_LONG_RUN === "1";
const folder = temporaryFolder();
let runs = 0;

interface Course extends Omit<LongRunOptions, "transcriptPath" | "turns"> {
  readonly turns: number;
  /** In every test run. */
  readonly usualTurns: number;
}

const COURSES: readonly (readonly [string, Course])[] = [
  ["a window of 32,000", { windowTokens: 32_000, resultTokens: 400, turns: 2_000, usualTurns: 2_000 }],
  ["a window of 200,000", { windowTokens: 200_000, resultTokens: 6_000, turns: 2_000, usualTurns: 200 }],
  [
    "a window of 1,000,000",
    { windowTokens: 1_000_000, resultTokens: 30_000, turns: 2_000, usualTurns: 120, lookEvery: 25 },
  ],
  [
    "entries of a session",
    { windowTokens: 32_000, resultTokens: 400, form: "entries", turns: 2_000, usualTurns: 300 },
  ],
  [
    "a model that binds its thinking",
    { windowTokens: 32_000, resultTokens: 400, modelName: "claude-opus-5-5", turns: 2_000, usualTurns: 300 },
  ],
  [
    "entries of a session, and a model that binds its thinking",
    {
      windowTokens: 32_000,
      resultTokens: 400,
      form: "entries",
      modelName: "claude-opus-5-5",
      turns: 2_000,
      usualTurns: 200,
    },
  ],
];

describe.each(COURSES)("a long run with faults on %s", (name, { turns, usualTurns, ...course }) => {
  let made: Promise<LongRun> | undefined;
  const run = (): Promise<LongRun> => {
    made ??= longRun({
      ...course,
      turns: isFullLength ? turns : usualTurns,
      transcriptPath: join(folder, `run-${++runs}.jsonl`),
    });
    return made;
  };
  const timeout = isFullLength ? 1_800_000 : 240_000;

  it("every request is valid by the rules of the API, and none is over the window for good", {
    timeout,
  }, async () => {
    const { simulator, overflows, loop, faults, figures } = await run();
    if (isFullLength) console.log(name, JSON.stringify(figures));
    const invalid = simulator.requests.invalid.filter((request) => !overflows.includes(request));
    expect(invalid.map(({ error, findings }) => ({ error, findings }))).toEqual([]);
    // Each was either the agent's own call and recovered, or one for a summary, and the chain went on.
    expect(overflows.length).toBeLessThanOrEqual(
      loop.recoveries + loop.eventsOf("prompt-too-long-retried").length,
    );
    expect(faults).toBeGreaterThan(simulator.requests.length / 40);
    expect(loop.turns).toBe(isFullLength ? turns : usualTurns);
  });
});
